// Tasks that exchange messages with the same tasks of other members. Each task has a thread of its own. The
// tasks are two teams. When all tasks of a team that still run have posted their messages, one exchange
// carries all of them: the number of exchanges is that of two tasks, however many there are. The teams take
// turns, so that one computes while the messages of the other travel.
#pragma once

#include <array>
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
        std::size_t team;
        std::condition_variable woken;
        bool runs = false, posted = false;
        const std::vector<Message>* outgoing = nullptr;
        std::vector<Received> incoming;
    };

    std::vector<Received> post(std::int64_t task, const std::vector<Message>& outgoing);
    void work_on(std::int64_t task, const Work& work);
    void begin(std::int64_t task);
    void end(std::int64_t task);
    void lead();
    bool await(std::size_t team);
    void exchange(std::size_t team);
    std::vector<Message> combine(std::size_t team);
    void distribute(std::size_t team, const std::vector<Received>& incoming);
    void start_next();
    void fail(std::exception_ptr failure);

    Exchange& exchange_;
    std::int64_t n_threads_;
    std::mutex mutex_;  // of all that follows
    std::condition_variable team_posted_;
    std::deque<Task> tasks_;
    std::deque<std::int64_t> ready_;  // tasks that may compute when a thread is free
    struct Team {
        std::int64_t n_posted = 0, n_left = 0;
        bool has_posted() const { return n_posted == n_left; }
    };
    std::array<Team, 2> teams_;
    std::int64_t n_running_ = 0;
    std::exception_ptr failure_;
};

}  // namespace hedgerow
