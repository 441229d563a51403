#include "util/lockstep.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "util/interrupt.hpp"
#include "util/thread_pool.hpp"

namespace hedgerow {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};

// Ends a task whose exchange will never be made.
struct Abandoned {};

}  // namespace

class Lockstep::Channel : public Exchange {
  public:
    Channel(Lockstep& lockstep, std::int64_t task)
        : Exchange(lockstep.exchange_.rank(), lockstep.exchange_.size()), lockstep_(lockstep), task_(task) {}

    std::vector<Received> all_to_all(std::vector<Message>& outgoing) override {
        return lockstep_.post(task_, outgoing);
    }

  private:
    Lockstep& lockstep_;
    std::int64_t task_;
};

Lockstep::Lockstep(Exchange& exchange, std::int64_t n_tasks, std::int64_t n_threads)
    : exchange_(exchange), n_threads_(n_threads), tasks_(static_cast<std::size_t>(n_tasks)) {
    for (std::int64_t i = 0; i < n_tasks; ++i) {
        tasks_[i].team = static_cast<std::size_t>(i % 2);
        ++teams_[tasks_[i].team].n_left;
        ready_.push_back(i);
    }
}

void Lockstep::run(const Work& work) {
    std::vector<std::thread> threads;
    try {
        for (std::size_t i = 0; i < tasks_.size(); ++i)
            threads.emplace_back([&, i] { work_on(static_cast<std::int64_t>(i), work); });
        lead();
    } catch (...) {
        const std::lock_guard lock(mutex_);
        fail(std::current_exception());
    }
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
}

void Lockstep::work_on(std::int64_t task, const Work& work) {
    block_signals();
    try {
        begin(task);
        Channel channel(*this, task);
        work(task, channel);
        end(task);
    } catch (const Abandoned&) {
    } catch (...) {
        const std::lock_guard lock(mutex_);
        fail(std::current_exception());
    }
}

void Lockstep::begin(std::int64_t task) {
    std::unique_lock lock(mutex_);
    start_next();
    tasks_[task].woken.wait(lock, [&] { return tasks_[task].runs || failure_; });
    if (failure_) throw Abandoned{};
}

void Lockstep::end(std::int64_t task) {
    const std::lock_guard lock(mutex_);
    Team& team = teams_[tasks_[task].team];
    --n_running_;
    --team.n_left;
    start_next();
    if (team.has_posted()) team_posted_.notify_one();
}

std::vector<Received> Lockstep::post(std::int64_t task, const std::vector<Message>& outgoing) {
    std::unique_lock lock(mutex_);
    Task& own = tasks_[task];
    own.outgoing = &outgoing;
    own.posted = true;
    own.runs = false;
    Team& team = teams_[own.team];
    --n_running_;
    ++team.n_posted;
    start_next();
    if (team.has_posted()) team_posted_.notify_one();
    own.woken.wait(lock, [&] { return own.runs || failure_; });
    if (failure_) throw Abandoned{};
    return std::move(own.incoming);
}

// Lets ready tasks compute while there are threads for them. The mutex is locked, here and below.
void Lockstep::start_next() {
    while (n_running_ < n_threads_ && !ready_.empty()) {
        Task& next = tasks_[ready_.front()];
        ready_.pop_front();
        ++n_running_;
        next.runs = true;
        next.woken.notify_one();
    }
}

void Lockstep::fail(std::exception_ptr failure) {
    if (!failure_) failure_ = std::move(failure);
    for (Task& task : tasks_) task.woken.notify_one();
    team_posted_.notify_one();
}

void Lockstep::lead() {
    for (;;) {
        bool any = false;
        for (std::size_t team = 0; team < teams_.size(); ++team) {
            if (!await(team)) continue;
            exchange(team);
            any = true;
        }
        const std::lock_guard lock(mutex_);
        if (failure_ || !any) return;
    }
}

// Waits until all tasks of a team have posted or ended; whether some have posted.
bool Lockstep::await(std::size_t team) {
    std::unique_lock lock(mutex_);
    const auto settled = [&] { return teams_[team].has_posted() || failure_; };
    while (!team_posted_.wait_for(lock, kPollInterval, settled)) {
        lock.unlock();
        poll_interrupt();
        lock.lock();
    }
    return !failure_ && teams_[team].n_left > 0;
}

// All tasks of the team wait, so their messages can be read without the mutex.
void Lockstep::exchange(std::size_t team) {
    std::vector<Message> outgoing = combine(team);
    const std::vector<Received> incoming = exchange_.all_to_all(outgoing);
    const std::lock_guard lock(mutex_);
    distribute(team, incoming);
    teams_[team].n_posted = 0;
    start_next();
}

// For each other member, the messages of the team's posted tasks: number of the task, size, bytes.
std::vector<Message> Lockstep::combine(std::size_t team) {
    const std::lock_guard lock(mutex_);
    const auto posts = [&](const Task& task) { return task.team == team && task.posted; };
    std::vector<Message> outgoing(static_cast<std::size_t>(exchange_.size()));
    for (std::size_t member = 0; member < outgoing.size(); ++member) {
        if (static_cast<std::int64_t>(member) == exchange_.rank()) continue;
        std::size_t size = 0;
        for (const Task& task : tasks_) size += posts(task) ? 16 + (*task.outgoing)[member].size() : 0;
        outgoing[member].reserve(size);
        MessageWriter to(outgoing[member]);
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            if (!posts(tasks_[i])) continue;
            to.put(static_cast<std::int64_t>(i));
            to.put_list((*tasks_[i].outgoing)[member]);
        }
    }
    return outgoing;
}

void Lockstep::distribute(std::size_t team, const std::vector<Received>& incoming) {
    MessageReader::check(static_cast<std::int64_t>(incoming.size()) == exchange_.size());
    std::vector<MessageReader> from = readers_of(incoming);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        Task& task = tasks_[i];
        if (task.team != team || !task.posted) continue;
        task.incoming.assign(from.size(), {});
        for (std::size_t member = 0; member < from.size(); ++member) {
            if (static_cast<std::int64_t>(member) == exchange_.rank()) {
                task.incoming[member] = Received::in_place((*task.outgoing)[member]);
                continue;
            }
            MessageReader::check(from[member].get<std::int64_t>() == static_cast<std::int64_t>(i));
            const auto size = from[member].get<std::int64_t>();
            MessageReader::check(size >= 0);
            const std::uint8_t* bytes = from[member].skip(static_cast<std::size_t>(size));
            task.incoming[member] = {bytes, static_cast<std::size_t>(size), incoming[member].owner};
        }
        task.posted = false;
        ready_.push_back(static_cast<std::int64_t>(i));
    }
}

}  // namespace hedgerow
