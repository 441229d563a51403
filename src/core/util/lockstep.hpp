// Tasks that exchange messages with the same tasks of other members. Each task has a thread of its own. When
// all tasks that still run have posted their messages, one exchange carries all of them: the number of
// exchanges is that of one task, however many there are.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "util/exchange.hpp"

namespace hedgerow {

class Lockstep {
  public:
    using Work = std::function<void(std::int64_t task, Exchange& exchange)>;

    // All members have the same tasks, and each task makes as many exchanges on every member. At most
    // n_threads tasks compute at the same time.
    Lockstep(Exchange& exchange, std::int64_t n_tasks, std::int64_t n_threads);

    // Calls work(task, exchange) for every task; returns when all threads have ended. Exchanges are made on
    // the calling thread, which also polls for interrupts. The first exception is thrown again here.
    void run(const Work& work);

  private:
    class Channel;
    struct Task {
        std::condition_variable woken;
        bool runs = false, posted = false;
        std::vector<Message> messages;  // outgoing before the exchange, and incoming after it
    };

    std::vector<Message> post(std::int64_t task, std::vector<Message> outgoing);
    void work_on(std::int64_t task, const Work& work);
    void begin(std::int64_t task);
    void end();
    void lead();
    void exchange_all();
    std::vector<Message> combine();
    void distribute(const std::vector<Message>& incoming);
    void start_next();
    void fail(std::exception_ptr failure);

    Exchange& exchange_;
    std::int64_t n_threads_;
    std::mutex mutex_;  // of all that follows
    std::condition_variable all_posted_;
    std::deque<Task> tasks_;
    std::deque<std::int64_t> ready_;  // tasks that may compute when a thread is free
    std::int64_t n_running_ = 0, n_posted_ = 0, n_left_;
    std::exception_ptr failure_;
};

}  // namespace hedgerow
