// Hashes and compares texts of a few bytes, and finds them by open addressing.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "data/alphabet.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

inline uint64_t load_eight(const uint8_t* from) {
    uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

// The bytes of a text of at most seven, in 56 bits; equal texts of one size, and only they, give the same
// number.
inline uint64_t load_few(Bytes text) {
    if (text.size >= 4) {
        uint32_t first, last;  // they overlap in the bytes that `last` is shifted out
        std::memcpy(&first, text.data, sizeof first);
        std::memcpy(&last, text.data + text.size - 4, sizeof last);
        return first | uint64_t{last} >> (64 - 8 * text.size) << 32;
    }
    if (text.size == 0) return 0;
    return text.data[0] | uint64_t{text.data[text.size / 2]} << 8 | uint64_t{text.data[text.size - 1]} << 16;
}

// What a table needs of a text: a hash, and a key. Texts of at most seven bytes are equal if their keys are;
// longer ones must be compared.
struct TextKey {
    uint64_t hash, key;
    bool decides() const { return key >> 56 < 8; }
};

// Eight bytes at a time, the last eight of a long text overlapping: multiplies, and folds the high bits down.
inline TextKey key_of(Bytes text) {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;
    const auto folded = [](uint64_t hash) { return hash ^ hash >> 29; };
    const auto size = static_cast<uint64_t>(text.size);
    if (text.size < 8) {
        const uint64_t key = load_few(text) | size << 56;
        return {folded(folded(key * kOdd) * kOdd), key};
    }
    uint64_t hash = size * kOdd;
    for (int64_t at = 0; at < text.size - 8; at += 8)
        hash = folded((hash ^ load_eight(text.data + at)) * kOdd);
    hash = folded((hash ^ load_eight(text.data + text.size - 8)) * kOdd);
    return {hash, hash | uint64_t{0xFF} << 56};
}

// Whether two texts of at least eight bytes are equal.
inline bool same_long(Bytes a, Bytes b) {
    if (a.size != b.size) return false;
    for (int64_t at = 0; at < a.size - 8; at += 8)
        if (load_eight(a.data + at) != load_eight(b.data + at)) return false;
    return load_eight(a.data + a.size - 8) == load_eight(b.data + b.size - 8);
}

// Finds ids of texts by open addressing. The table does not have the texts: of long ones with the same key
// the caller decides.
class TextTable {
  public:
    explicit TextTable(size_t n_ids = 0) {
        size_t size = 16;
        while (size < 2 * n_ids) size *= 2;
        slots_.assign(size, Slot{0, -1});
    }

    bool has_room_for(size_t n_ids) const { return 2 * n_ids <= slots_.size(); }
    void prefetch(TextKey text) const { hedgerow::prefetch(&slots_[text.hash & (slots_.size() - 1)]); }

    // The first id with this key for which is_it(id) holds; -1 if there is none.
    template <class IsIt>
    int32_t find(TextKey text, IsIt&& is_it) const {
        const size_t mask = slots_.size() - 1;
        for (size_t i = text.hash & mask;; i = (i + 1) & mask) {
            const Slot& slot = slots_[i];
            if (slot.id < 0) return -1;
            if (slot.key == text.key && (text.decides() || is_it(slot.id))) return slot.id;
        }
    }

    void insert(TextKey text, int32_t id) {
        const size_t mask = slots_.size() - 1;
        size_t i = text.hash & mask;
        while (slots_[i].id >= 0) i = (i + 1) & mask;
        slots_[i] = Slot{text.key, id};
    }

  private:
    struct Slot {
        uint64_t key;
        int32_t id;  // -1: free
    };

    std::vector<Slot> slots_;
};

}  // namespace hedgerow
