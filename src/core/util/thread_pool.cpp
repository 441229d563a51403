#include "util/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <unistd.h>

#include <csignal>
#endif

#include "util/look_for.hpp"

namespace hedgerow {

void block_signals() {
#ifndef _WIN32
    sigset_t signals;
    sigfillset(&signals);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&signals, fault);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
#endif
}

namespace {

struct Job {
    void (*work)(void*, bool);
    void* context;
    std::int64_t wanted;                    // helpers that may still start
    std::atomic<std::int64_t> running = 0;  // helpers that have started and not returned
};

class ThreadPool {
  public:
    explicit ThreadPool(std::int64_t process) : process_(process) {}
    std::int64_t process() const { return process_; }

    void run(Job& job) {
        offer(job);
        job.work(job.context, true);
        withdraw(job);
        look_for([&] { return job.running == 0; });
        std::unique_lock lock(mutex_);
        returned_.wait(lock, [&] { return job.running == 0; });
    }

  private:
    // Queues the job and starts threads until there is an idle one for every helper that is wanted.
    void offer(Job& job) {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(&job);
        wanted_ += job.wanted;
        try {
            for (; idle_ < wanted_; ++idle_) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {  // no more threads to be had: those that there are do the work
        }
        for (std::int64_t i = 0; i < job.wanted; ++i) offered_.notify_one();
    }
    void withdraw(Job& job) {
        const std::lock_guard lock(mutex_);
        if (job.wanted == 0) return;
        wanted_ -= job.wanted;
        job.wanted = 0;
        jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    }

    // A thread of the pool. idle_ counts it from before it starts.
    void serve() {
        block_signals();
        for (;;) {
            look_for([&] { return wanted_ > 0; });
            std::unique_lock lock(mutex_);
            offered_.wait(lock, [&] { return !jobs_.empty(); });
            Job& job = *jobs_.front();
            ++job.running;
            --idle_;
            --wanted_;
            if (--job.wanted == 0) jobs_.erase(jobs_.begin());
            lock.unlock();
            job.work(job.context, false);
            lock.lock();
            ++idle_;
            if (--job.running == 0) returned_.notify_all();
        }
    }

    const std::int64_t process_;
    std::mutex mutex_;
    std::condition_variable offered_, returned_;
    std::vector<Job*> jobs_;  // those that want helpers, oldest first
    std::int64_t idle_ = 0;
    std::atomic<std::int64_t> wanted_ = 0;
};

std::int64_t process_id() {
#ifdef _WIN32
    return 0;  // nothing forks
#else
    return static_cast<std::int64_t>(getpid());
#endif
}

// The pool of this process. A child process inherits the memory of a pool without its threads, and perhaps
// with its mutex locked: it leaves that pool alone and makes another. A pool is never destroyed, because its
// threads wait in it until the process ends.
ThreadPool& pool() {
    static std::atomic<ThreadPool*> current{nullptr};
    const std::int64_t process = process_id();
    ThreadPool* found = current.load(std::memory_order_acquire);
    while (!found || found->process() != process) {
        auto* made = new ThreadPool(process);
        if (current.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return *made;
        delete made;
    }
    return *found;
}

}  // namespace

void run_on_threads(std::int64_t n_helpers, void (*work)(void*, bool), void* context) {
    if (n_helpers < 1) return work(context, true);
    Job job{work, context, n_helpers, 0};
    pool().run(job);
}

}  // namespace hedgerow
