// Loops in rounds: the iterations of a round run on several threads, then one thread finishes the round.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

#include "util/interrupt.hpp"
#include "util/thread_pool.hpp"

namespace hedgerow {

// Calls worker(i) for every i in [0, n), in rounds of `size` consecutive i, and finish(first, last) on the
// calling thread after each round. Threads call make_worker() once each. They stay between the rounds, which
// may be much shorter than it takes to wake a thread. The first exception is thrown again here.
template <class MakeWorker, class Finish>
void parallel_rounds(std::int64_t n, std::int64_t size, std::int64_t n_threads, MakeWorker make_worker,
                     Finish finish) {
    // All numbers only rise: items that may start, that have started, and that are done. Each on a cache line
    // of its own: waiting threads read the first while others count in the last.
    alignas(64) std::atomic<std::int64_t> open{0};
    alignas(64) std::atomic<std::int64_t> started{0};
    alignas(64) std::atomic<std::int64_t> done{0};
    alignas(64) std::atomic<bool> stopped{false};
    std::exception_ptr failure;
    std::mutex failure_guard;
    const auto guarded = [&](auto work) {
        try {
            work();
        } catch (...) {
            const std::lock_guard lock(failure_guard);
            if (!failure) failure = std::current_exception();
            stopped = true;
        }
    };
    // Runs one item if there is one to start.
    const auto run_one = [&](auto& worker) {
        std::int64_t i = started.load();
        if (i >= open.load() || !started.compare_exchange_weak(i, i + 1)) return false;
        worker(i);
        ++done;
        return true;
    };
    const auto pause = [spins = 0]() mutable {
        if (++spins % 64 == 0) std::this_thread::yield();
    };
    auto run = [&](bool is_caller) {
        guarded([&] {
            auto worker = make_worker();
            auto wait = pause;
            if (!is_caller) {
                while (!stopped)
                    if (!run_one(worker)) wait();
                return;
            }
            InterruptPoll poll;
            for (std::int64_t first = 0; first < n && !stopped; first += size) {
                const std::int64_t last = std::min(n, first + size);
                open = last;
                while (done < last && !stopped)
                    if (!run_one(worker)) wait();
                if (!stopped) finish(first, last);
                poll();
            }
        });
        if (is_caller) stopped = true;
    };
    using Run = decltype(run);
    run_on_threads(
        std::min(n_threads, std::min(n, size)) - 1,
        [](void* context, bool is_caller) { (*static_cast<Run*>(context))(is_caller); }, &run);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace hedgerow
