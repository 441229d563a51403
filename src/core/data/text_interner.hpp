// Numbers distinct texts in the order of their first occurrence.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "data/alphabet.hpp"
#include "data/text_hash.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

// Copies of texts, which stay where they are.
class TextStore {
  public:
    Bytes keep(Bytes text) {
        const auto size = static_cast<size_t>(text.size);
        if (chunks_.empty() || size > left_) {
            left_ = std::max(size, kChunk);
            chunks_.emplace_back(new uint8_t[left_]);
            next_ = chunks_.back().get();
        }
        uint8_t* to = next_;
        if (size > 0) std::memcpy(to, text.data, size);
        next_ += size;
        left_ -= size;
        return {to, text.size};
    }
    void clear() {
        chunks_.clear();
        left_ = 0;
    }

  private:
    static constexpr size_t kChunk = size_t{1} << 16;

    std::vector<std::unique_ptr<uint8_t[]>> chunks_;
    uint8_t* next_ = nullptr;
    size_t left_ = 0;
};

class TextInterner {
  public:
    // copies: whether texts may vanish after the call. Otherwise they must outlive the interner.
    explicit TextInterner(bool copies = false) : copies_(copies) {}

    // The id of `text`: the number of distinct texts before its first occurrence.
    int32_t intern(Bytes text) { return intern(text, key_of(text)); }

    void intern_all(const Bytes* texts, int64_t n, int32_t* ids) {
        std::array<TextKey, kGroup> keys;
        for (int64_t first = 0; first < n; first += kGroup) {
            const int64_t size = std::min(kGroup, n - first);
            for (int64_t i = 0; i < size; ++i) {
                keys[static_cast<size_t>(i)] = key_of(texts[first + i]);
                table_.prefetch(keys[static_cast<size_t>(i)]);
            }
            for (int64_t i = 0; i < size; ++i)
                ids[first + i] = intern(texts[first + i], keys[static_cast<size_t>(i)]);
        }
    }

    int32_t size() const { return static_cast<int32_t>(texts_.size()); }
    Bytes text(int32_t id) const { return texts_[static_cast<size_t>(id)]; }

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
    static constexpr int64_t kGroup = 16;

    int32_t intern(Bytes text, TextKey key) {
        const int32_t found =
            table_.find(key, [&](int32_t id) { return same_long(texts_[static_cast<size_t>(id)], text); });
        return found >= 0 ? found : add(text, key);
    }

    int32_t add(Bytes text, TextKey key) {
        if (size() == std::numeric_limits<int32_t>::max())
            throw std::length_error("a column holds at most 2147483647 distinct values");
        if (!table_.has_room_for(texts_.size() + 1)) {
            table_ = TextTable(2 * texts_.size());
            for (size_t id = 0; id < keys_.size(); ++id) table_.insert(keys_[id], static_cast<int32_t>(id));
        }
        texts_.push_back(copies_ ? store_.keep(text) : text);
        keys_.push_back(key);
        table_.insert(key, size() - 1);
        return size() - 1;
    }

    bool copies_;
    TextStore store_;
    TextTable table_;
    std::vector<Bytes> texts_;
    std::vector<TextKey> keys_;
};

}  // namespace hedgerow
