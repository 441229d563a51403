// One thread prepares batches of tasks, while it and others work on the batch before.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "util/look_for.hpp"
#include "util/thread_pool.hpp"

namespace hedgerow {

// Task i of a batch is work(i). The tasks of a batch run in any order, and those of the next after them.
template <class Work>
class Pipeline {
  public:
    explicit Pipeline(Work work) : work_(std::move(work)) {}

    // Calls prepare() on this thread, and then finish(); up to n_threads - 1 others help with the tasks.
    template <class Prepare>
    void run(int64_t n_threads, Prepare prepare) {
        alone_ = n_threads < 2;
        auto on_thread = [&](bool is_caller) {
            if (!is_caller) return serve();
            try {
                prepare();
                finish();
            } catch (...) {
                fail();
            }
            close();
        };
        using OnThread = decltype(on_thread);
        run_on_threads(
            n_threads - 1,
            [](void* context, bool is_caller) { (*static_cast<OnThread*>(context))(is_caller); }, &on_thread);
        if (failure_) std::rethrow_exception(failure_);
    }

    // Waits until all tasks of the batch are done; this thread works too. Throws what a task has thrown.
    void finish() {
        std::unique_lock lock(mutex_);
        while (work_once(lock)) {
        }
        if (running_ > 0) {
            lock.unlock();
            look_for([&] { return running_ == 0; });
            lock.lock();
            changed_.wait(lock, [&] { return running_ == 0; });
        }
        if (failure_) std::rethrow_exception(failure_);
    }

    // Gives n tasks to the other threads. The batch before must be finished.
    void start(int64_t n_tasks) {
        {
            const std::lock_guard lock(mutex_);
            next_ = 0;
            n_tasks_ = n_tasks;
        }
        if (alone_) return finish();
        changed_.notify_all();
    }

  private:
    void serve() {
        const auto is_called = [&] { return closed_ || next_ < n_tasks_; };
        for (;;) {
            look_for(is_called);
            std::unique_lock lock(mutex_);
            changed_.wait(lock, is_called);
            if (closed_) return;
            while (work_once(lock)) {
            }
        }
    }

    bool work_once(std::unique_lock<std::mutex>& lock) {
        if (next_ >= n_tasks_) return false;
        const int64_t task = next_++;
        ++running_;
        lock.unlock();
        try {
            work_(task);
        } catch (...) {
            fail();
        }
        lock.lock();
        if (--running_ == 0) changed_.notify_all();
        return true;
    }

    void fail() {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        next_ = n_tasks_.load();
    }

    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        next_ = n_tasks_.load();
        changed_.notify_all();
    }

    Work work_;
    bool alone_ = true;
    std::mutex mutex_;
    std::condition_variable changed_;
    // Written under the mutex; read without it only to look for a change.
    std::atomic<int64_t> next_ = 0, n_tasks_ = 0, running_ = 0;
    std::atomic<bool> closed_ = false;
    std::exception_ptr failure_;
};

}  // namespace hedgerow
