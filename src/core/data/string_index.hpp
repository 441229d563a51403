// Finds strings in a sorted set by hashing. The table is built when it pays: after about as many searches as
// the set has strings. Results do not depend on it.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "data/alphabet.hpp"

namespace hedgerow {

class StringIndex {
  public:
    // The index of `text` in `strings`, which are the same in every call; -1 if it is not among them.
    int32_t find(Strings strings, Bytes text) {
        if (slots_.empty()) {
            if (++searches_ * kSearchesPerString < strings.size) return hedgerow::find(strings, text);
            build(strings);
        }
        const uint64_t hash = hash_of(text);
        const size_t mask = slots_.size() - 1;
        for (size_t i = hash & mask;; i = (i + 1) & mask) {
            const Slot slot = slots_[i];
            if (slot.id < 0) return -1;
            if (slot.tag == tag_of(hash) && compare(strings[slot.id], text) == 0) return slot.id;
        }
    }

  private:
    struct Slot {
        uint32_t tag;
        int32_t id;  // -1: free
    };

    static constexpr int64_t kSearchesPerString = 4;

    static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

    // Eight bytes at a time: multiplies, and folds the high bits down.
    static uint64_t hash_of(Bytes text) {
        constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
        uint64_t hash = static_cast<uint64_t>(text.size) * kOdd;
        for (int64_t at = 0; at < text.size; at += 8) {
            uint64_t word = 0;
            std::memcpy(&word, text.data + at, static_cast<size_t>(std::min<int64_t>(8, text.size - at)));
            hash = (hash ^ word) * kOdd;
            hash ^= hash >> 29;
        }
        return hash;
    }

    void build(Strings strings) {
        size_t size = 16;
        while (size < 2 * static_cast<size_t>(strings.size)) size *= 2;
        slots_.assign(size, Slot{0, -1});
        for (int64_t id = 0; id < strings.size; ++id) {
            const uint64_t hash = hash_of(strings[id]);
            size_t i = hash & (size - 1);
            while (slots_[i].id >= 0) i = (i + 1) & (size - 1);
            slots_[i] = Slot{tag_of(hash), static_cast<int32_t>(id)};
        }
    }

    int64_t searches_ = 0;
    std::vector<Slot> slots_;
};

}  // namespace hedgerow
