// Work on threads. What a piece of work computes depends on its index alone, so neither the number of
// threads nor their pace can change a result.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hedgerow {

// The calling thread looks up from its work now and then, and an exception from here ends all of it: where
// the bindings let Ctrl-C through.
inline void (*look_up)() = [] {};
constexpr std::chrono::milliseconds kLookUpInterval{50};

// Calls make_worker() once on each thread, then worker(i) for every i in [0, n). The first exception is
// thrown again here when all threads have stopped.
template <class MakeWorker>
void parallel_for(std::int64_t n, std::int64_t n_threads, MakeWorker make_worker) {
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_guard;
    const auto run = [&](bool looks_up) {
        try {
            auto worker = make_worker();
            auto looked_up = std::chrono::steady_clock::now();
            for (std::int64_t i; (i = next.fetch_add(1)) < n;) {
                worker(i);
                if (!looks_up || std::chrono::steady_clock::now() - looked_up < kLookUpInterval) continue;
                look_up();
                looked_up = std::chrono::steady_clock::now();
            }
        } catch (...) {
            const std::lock_guard<std::mutex> lock(failure_guard);
            if (!failure) failure = std::current_exception();
            next.store(n);
        }
    };
    std::vector<std::thread> others;
    try {
        for (std::int64_t i = 1; i < n_threads && i < n; ++i) others.emplace_back(run, false);
    } catch (...) {  // no more threads to be had: those that started, and this one, do the work
    }
    run(true);
    for (std::thread& t : others) t.join();
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
