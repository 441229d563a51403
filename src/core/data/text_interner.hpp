// Maps texts to ids by open addressing. The texts are not copied: they lie in a buffer that outlives the map.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "data/alphabet.hpp"

namespace hedgerow {

class TextInterner {
  public:
    TextInterner() : slots_(16, Slot{0, -1}) {}

    // The id of `text`: the number of distinct texts before its first occurrence.
    int32_t intern(Bytes text) {
        const uint64_t hash = hash_of(text);
        const auto tag = static_cast<uint32_t>(hash >> 32);
        const size_t mask = slots_.size() - 1;
        for (size_t i = hash & mask;; i = (i + 1) & mask) {
            const Slot slot = slots_[i];
            if (slot.id < 0) {
                slots_[i] = Slot{tag, size()};
                texts_.push_back(text);
                hashes_.push_back(hash);
                if (2 * texts_.size() > slots_.size()) grow();
                return size() - 1;
            }
            if (slot.tag == tag && same(texts_[static_cast<size_t>(slot.id)], text)) return slot.id;
        }
    }

    int32_t size() const { return static_cast<int32_t>(texts_.size()); }

    SortedStrings sorted() const {
        std::vector<uint8_t> blob;
        std::vector<int64_t> offsets{0};
        for (const Bytes text : texts_) {
            blob.insert(blob.end(), text.data, text.data + text.size);
            offsets.push_back(static_cast<int64_t>(blob.size()));
        }
        return sort_distinct({blob.data(), offsets.data(), size()});
    }

  private:
    struct Slot {
        uint32_t tag;
        int32_t id;  // -1: free
    };

    static bool same(Bytes a, Bytes b) {
        return a.size == b.size && std::memcmp(a.data, b.data, static_cast<size_t>(a.size)) == 0;
    }

    // Eight bytes at a time: hash = mixed(hash xor bytes), where mixed is the finaliser of MurmurHash3.
    static uint64_t hash_of(Bytes text) {
        auto hash = static_cast<uint64_t>(text.size);
        for (int64_t i = 0; i < text.size; i += 8) {
            uint64_t word = 0;
            std::memcpy(&word, text.data + i, static_cast<size_t>(std::min<int64_t>(8, text.size - i)));
            hash ^= word;
            hash = (hash ^ hash >> 33) * 0xFF51AFD7ED558CCDu;
            hash = (hash ^ hash >> 33) * 0xC4CEB9FE1A85EC53u;
            hash ^= hash >> 33;
        }
        return hash;
    }

    void grow() {
        std::vector<Slot> slots(4 * slots_.size(), Slot{0, -1});
        const size_t mask = slots.size() - 1;
        for (size_t id = 0; id < hashes_.size(); ++id) {
            size_t i = hashes_[id] & mask;
            while (slots[i].id >= 0) i = (i + 1) & mask;
            slots[i] = Slot{static_cast<uint32_t>(hashes_[id] >> 32), static_cast<int32_t>(id)};
        }
        slots_.swap(slots);
    }

    std::vector<Slot> slots_;
    std::vector<Bytes> texts_;
    std::vector<uint64_t> hashes_;
};

}  // namespace hedgerow
