// Byte messages between the members of a group: processes that work on parts of the same data. Every member
// makes the same exchanges in the same order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace hedgerow {

using Message = std::vector<std::uint8_t>;

// The bytes of a message from a member, and what owns them: null if somebody else keeps them.
struct Received {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;
    std::shared_ptr<const void> owner;

    static Received in_place(const Message& message) { return {message.data(), message.size(), nullptr}; }
};

class Exchange {
  public:
    Exchange(std::int64_t rank, std::int64_t size) : rank_(rank), size_(size) {}
    virtual ~Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    std::int64_t rank() const { return rank_; }
    std::int64_t size() const { return size_; }

    // Sends outgoing[j] to member j; returns what came from each member. May throw. The own message is
    // returned in place: keep it while you read. The others may be moved away.
    virtual std::vector<Received> all_to_all(std::vector<Message>& outgoing) = 0;

    // The messages of all members; the own one in place.
    std::vector<Received> gather(const Message& own) {
        std::vector<Message> outgoing(static_cast<std::size_t>(size_), own);
        std::vector<Received> incoming = all_to_all(outgoing);
        incoming[static_cast<std::size_t>(rank_)] = Received::in_place(own);
        return incoming;
    }

  private:
    std::int64_t rank_, size_;
};

// Appends numbers to a message.
class MessageWriter {
  public:
    explicit MessageWriter(Message& to) : to_(to) {}

    template <class T>
    void put(const T& value) {
        put(&value, 1);
    }
    template <class T>
    void put(const T* values, std::size_t n) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (n == 0) return;
        const std::size_t size = to_.size();
        to_.resize(size + n * sizeof(T));
        std::memcpy(to_.data() + size, values, n * sizeof(T));
    }
    template <class T>
    void put_list(const std::vector<T>& values) {
        put(static_cast<std::int64_t>(values.size()));
        put(values.data(), values.size());
    }

  private:
    Message& to_;
};

// Reads what a MessageWriter wrote. A message that another member wrote may be damaged: throws
// std::runtime_error where it does not fit.
class MessageReader {
  public:
    explicit MessageReader(const Received& from) : at_(from.data), end_(from.data + from.size) {}

    template <class T>
    T get() {
        T value;
        get(&value, 1);
        return value;
    }
    template <class T>
    void get(T* values, std::size_t n) {
        static_assert(std::is_trivially_copyable_v<T>);
        check(n <= static_cast<std::size_t>(end_ - at_) / sizeof(T));
        if (n == 0) return;
        std::memcpy(values, at_, n * sizeof(T));
        at_ += n * sizeof(T);
    }
    template <class T>
    std::vector<T> get_list() {
        const auto n = get<std::int64_t>();
        check(n >= 0 && static_cast<std::size_t>(n) <= static_cast<std::size_t>(end_ - at_) / sizeof(T));
        std::vector<T> values(static_cast<std::size_t>(n));
        get(values.data(), values.size());
        return values;
    }
    // The next n bytes, in place.
    const std::uint8_t* skip(std::size_t n) {
        check(n <= static_cast<std::size_t>(end_ - at_));
        at_ += n;
        return at_ - n;
    }

    // Throws if a message breaks a rule.
    static void check(bool holds) {
        if (!holds) throw std::runtime_error("a message of another member of the group is damaged");
    }

  private:
    const std::uint8_t *at_, *end_;
};

inline std::vector<MessageReader> readers_of(const std::vector<Received>& messages) {
    std::vector<MessageReader> readers;
    readers.reserve(messages.size());
    for (const Received& message : messages) readers.emplace_back(message);
    return readers;
}

// Replaces numbers by their sums over all members. All members have equally many.
template <class T>
void sum_over_members(Exchange& exchange, std::vector<T>& numbers) {
    Message own;
    MessageWriter(own).put(numbers.data(), numbers.size());
    const std::vector<Received> all = exchange.gather(own);
    std::vector<T> part(numbers.size());
    std::fill(numbers.begin(), numbers.end(), T{});
    for (MessageReader from : readers_of(all)) {
        from.get(part.data(), part.size());
        for (std::size_t i = 0; i < part.size(); ++i) numbers[i] += part[i];
    }
}

}  // namespace hedgerow
