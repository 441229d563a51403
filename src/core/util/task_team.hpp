// Many short loops on the same threads: between two loops the threads wait without sleeping, because waking a
// thread takes longer than such a loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>

#include "util/thread_pool.hpp"

namespace hedgerow {

class TaskTeam {
  public:
    // Calls body(team) on this thread. Up to n_threads - 1 threads of the pool help in team.run() until it
    // returns; none may be free, so no task waits for a helper.
    template <class Body>
    static void work(std::int64_t n_threads, Body body) {
        TaskTeam team;
        auto run = [&](bool is_caller) {
            if (!is_caller) return team.help();
            try {
                body(team);
            } catch (...) {
                team.failure_ = std::current_exception();
            }
            team.ticket_.store(kClosed, std::memory_order_release);
        };
        using Run = decltype(run);
        run_on_threads(
            n_threads - 1, [](void* context, bool is_caller) { (*static_cast<Run*>(context))(is_caller); },
            &run);
        if (team.failure_) std::rethrow_exception(team.failure_);
    }

    // Calls task(i, thread) for every i in [0, n), and returns when all calls have returned; n < 2^20.
    // `thread` is below n_threads and differs between threads. The first exception is thrown again here.
    template <class Task>
    void run(std::int64_t n, Task task) {
        if (n == 0) return;
        call_ = [](void* context, std::int64_t i, std::int64_t thread) {
            (*static_cast<Task*>(context))(i, thread);
        };
        context_ = &task;
        done_.store(0, std::memory_order_relaxed);
        loop_ += 1;
        ticket_.store((loop_ << (2 * kBits)) | (static_cast<std::uint64_t>(n) << kBits),
                      std::memory_order_release);
        while (claim_one(0)) {
        }
        for (Pause pause; done_.load(std::memory_order_acquire) < n;) pause();
        if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    // A ticket is (number of the loop, n, next i). One number, so that no thread can claim a task of a loop
    // that has ended.
    static constexpr int kBits = 20;
    static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1, kClosed = ~std::uint64_t{0};

    // Waits a moment; longer when there has been nothing to do for a while, and others may need the core.
    struct Pause {
        int n = 0;
        void operator()() {
            if (++n > 2000) std::this_thread::yield();
        }
    };

    // Runs a task of the current loop; returns false if none is left.
    bool claim_one(std::int64_t thread) {
        std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
        do {
            if (ticket == kClosed || (ticket & kMask) >= ((ticket >> kBits) & kMask)) return false;
        } while (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel,
                                                std::memory_order_acquire));
        try {
            call_(context_, static_cast<std::int64_t>(ticket & kMask), thread);
        } catch (...) {
            if (!failed_.exchange(true, std::memory_order_acq_rel)) failure_ = std::current_exception();
        }
        done_.fetch_add(1, std::memory_order_acq_rel);
        return true;
    }

    void help() {
        const std::int64_t thread = n_helpers_.fetch_add(1) + 1;
        for (Pause pause; ticket_.load(std::memory_order_acquire) != kClosed;) {
            if (claim_one(thread))
                pause = {};
            else
                pause();
        }
    }

    void (*call_)(void*, std::int64_t, std::int64_t) = nullptr;
    void* context_ = nullptr;
    std::uint64_t loop_ = 0;
    // Each on a cache line of its own: waiting threads read the ticket while others count their tasks.
    alignas(64) std::atomic<std::uint64_t> ticket_{0};
    alignas(64) std::atomic<std::int64_t> done_{0};
    alignas(64) std::atomic<std::int64_t> n_helpers_{0};
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;
};

}  // namespace hedgerow
