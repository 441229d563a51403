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

    std::vector<Message> all_to_all(std::vector<Message> outgoing) override {
        return lockstep_.post(task_, std::move(outgoing));
    }

  private:
    Lockstep& lockstep_;
    std::int64_t task_;
};

Lockstep::Lockstep(Exchange& exchange, std::int64_t n_tasks, std::int64_t n_threads)
    : exchange_(exchange),
      n_threads_(n_threads),
      tasks_(static_cast<std::size_t>(n_tasks)),
      n_left_(n_tasks) {
    for (std::int64_t i = 0; i < n_tasks; ++i) ready_.push_back(i);
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
        end();
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

void Lockstep::end() {
    const std::lock_guard lock(mutex_);
    --n_running_;
    --n_left_;
    start_next();
    if (n_posted_ == n_left_) all_posted_.notify_one();
}

std::vector<Message> Lockstep::post(std::int64_t task, std::vector<Message> outgoing) {
    std::unique_lock lock(mutex_);
    Task& own = tasks_[task];
    own.messages = std::move(outgoing);
    own.posted = true;
    own.runs = false;
    --n_running_;
    ++n_posted_;
    start_next();
    if (n_posted_ == n_left_) all_posted_.notify_one();
    own.woken.wait(lock, [&] { return own.runs || failure_; });
    if (failure_) throw Abandoned{};
    return std::move(own.messages);
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
    all_posted_.notify_one();
}

void Lockstep::lead() {
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            const auto settled = [&] { return n_posted_ == n_left_ || failure_; };
            const bool waits = !all_posted_.wait_for(lock, kPollInterval, settled);
            if (failure_ || (!waits && n_left_ == 0)) return;
            if (waits) {
                lock.unlock();
                poll_interrupt();
                continue;
            }
        }
        exchange_all();
    }
}

// All tasks wait, so their messages can be read without the mutex.
void Lockstep::exchange_all() {
    const std::vector<Message> incoming = exchange_.all_to_all(combine());
    const std::lock_guard lock(mutex_);
    distribute(incoming);
    n_posted_ = 0;
    start_next();
}

// For each member, the messages of all posted tasks: number of the task, size, bytes.
std::vector<Message> Lockstep::combine() {
    const std::lock_guard lock(mutex_);
    std::vector<Message> outgoing(static_cast<std::size_t>(exchange_.size()));
    for (std::size_t member = 0; member < outgoing.size(); ++member) {
        std::size_t size = 0;
        for (const Task& task : tasks_) size += task.posted ? 16 + task.messages[member].size() : 0;
        outgoing[member].reserve(size);
        MessageWriter to(outgoing[member]);
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            if (!tasks_[i].posted) continue;
            to.put(static_cast<std::int64_t>(i));
            to.put_list(tasks_[i].messages[member]);
        }
    }
    return outgoing;
}

void Lockstep::distribute(const std::vector<Message>& incoming) {
    MessageReader::check(static_cast<std::int64_t>(incoming.size()) == exchange_.size());
    std::vector<MessageReader> from = readers_of(incoming);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        Task& task = tasks_[i];
        if (!task.posted) continue;
        for (std::size_t member = 0; member < from.size(); ++member) {
            MessageReader::check(from[member].get<std::int64_t>() == static_cast<std::int64_t>(i));
            task.messages[member] = from[member].get_list<std::uint8_t>();
        }
        task.posted = false;
        ready_.push_back(static_cast<std::int64_t>(i));
    }
}

}  // namespace hedgerow
