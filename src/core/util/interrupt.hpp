// Ctrl-C during long work: the thread that called the core polls for it.
#pragma once

#include <chrono>

namespace hedgerow {

// Throws if the user interrupted the program. The bindings define it. Only the thread that entered the core
// may call it.
void poll_interrupt();

// Calls poll_interrupt() if 50 ms have passed since the last time.
class InterruptPoll {
  public:
    void operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < kInterval) return;
        poll_interrupt();
        last_ = std::chrono::steady_clock::now();
    }

  private:
    static constexpr std::chrono::milliseconds kInterval{50};
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace hedgerow
