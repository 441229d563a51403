// Loops whose iterations run on several threads. What an iteration computes depends on its index alone, so
// neither the number of threads nor their speed can change a result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "util/interrupt.hpp"
#include "util/thread_pool.hpp"

namespace hedgerow {

// Calls make_worker() once on each thread, then worker(i) for every i in [0, n). The calling thread works
// too, and polls for interrupts. The first exception is thrown again here when all threads have stopped.
template <class MakeWorker>
void parallel_for(std::int64_t n, std::int64_t n_threads, MakeWorker make_worker) {
    // On a cache line of its own: all threads write it, while they read what lies around it.
    alignas(64) std::atomic<std::int64_t> next{0};
    alignas(64) std::exception_ptr failure;
    std::mutex failure_guard;
    auto run = [&](bool is_caller) {
        try {
            auto worker = make_worker();
            InterruptPoll poll;
            for (std::int64_t i; (i = next.fetch_add(1)) < n;) {
                worker(i);
                if (is_caller) poll();
            }
        } catch (...) {
            const std::lock_guard lock(failure_guard);
            if (!failure) failure = std::current_exception();
            next.store(n);
        }
    };
    using Run = decltype(run);
    run_on_threads(
        std::min(n_threads, n) - 1,
        [](void* context, bool is_caller) { (*static_cast<Run*>(context))(is_caller); }, &run);
    if (failure) std::rethrow_exception(failure);
}

// Cuts sequences into pieces of about `size` positions, so that short sequences do not cost a hand-over each.
inline std::vector<std::int64_t> chunks(const std::int64_t* starts, std::int64_t n_sequences,
                                        std::int64_t size) {
    std::vector<std::int64_t> cuts{0};
    for (std::int64_t i = 1; i <= n_sequences; ++i) {
        if (i == n_sequences || starts[i] - starts[cuts.back()] >= size) cuts.push_back(i);
    }
    return cuts;
}

}  // namespace hedgerow
