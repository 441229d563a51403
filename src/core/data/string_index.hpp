// Finds strings in a sorted set by hashing. The table is built when it pays: after about as many searches as
// the set has strings. Results do not depend on it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "data/alphabet.hpp"
#include "data/text_hash.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

class StringIndex {
  public:
    // The index of `text` in `strings`, which are the same in every call; -1 if it is not among them.
    int32_t find(Strings strings, Bytes text) {
        prepare(strings, 1);
        return find_prepared(strings, text);
    }

    // Announces n searches. Call it before find_prepared and find_all, which several threads may then call.
    void prepare(Strings strings, int64_t n) {
        searches_ += n;
        if (table_ || searches_ * kSearchesPerString < strings.size) return;
        table_.emplace(static_cast<size_t>(strings.size));
        for (int64_t id = 0; id < strings.size; ++id)
            table_->insert(key_of(strings[id]), static_cast<int32_t>(id));
    }

    int32_t find_prepared(Strings strings, Bytes text) const {
        if (!table_) return hedgerow::find(strings, text);
        return table_->find(key_of(text), [&](int32_t id) { return same_long(strings[id], text); });
    }

    // found[i]: the index of texts[i], -1 if it is not among the strings. What a search will read is fetched
    // while the searches before it go on, because large sets lie outside the fast caches.
    void find_all(Strings strings, const Bytes* texts, int64_t n, int32_t* found) const {
        for (int64_t first = 0; first < n; first += kGroup) {
            const int64_t size = std::min(kGroup, n - first);
            for (int64_t i = first + kGroup; i < std::min(first + 2 * kGroup, n); ++i)
                prefetch(texts[i].data);
            if (table_)
                find_group(strings, texts + first, size, found + first);
            else
                std::transform(texts + first, texts + first + size, found + first,
                               [&](Bytes text) { return hedgerow::find(strings, text); });
        }
    }

  private:
    static constexpr int64_t kSearchesPerString = 4;
    static constexpr int64_t kGroup = 16;

    void find_group(Strings strings, const Bytes* texts, int64_t n, int32_t* found) const {
        std::array<TextKey, kGroup> keys;
        for (int64_t i = 0; i < n; ++i) {
            keys[static_cast<size_t>(i)] = key_of(texts[i]);
            table_->prefetch(keys[static_cast<size_t>(i)]);
        }
        std::array<int64_t, kGroup> undecided;
        size_t n_undecided = 0;
        for (int64_t i = 0; i < n; ++i) {
            const TextKey key = keys[static_cast<size_t>(i)];
            found[i] = table_->find(key, [](int32_t) { return true; });
            if (key.decides() || found[i] < 0) continue;
            undecided[n_undecided++] = i;
            prefetch(strings.offsets + found[i]);
        }
        for (size_t u = 0; u < n_undecided; ++u) prefetch(strings[found[undecided[u]]].data);
        for (size_t u = 0; u < n_undecided; ++u) {
            const int64_t i = undecided[u];
            if (!same_long(strings[found[i]], texts[i]))
                found[i] = table_->find(keys[static_cast<size_t>(i)],
                                        [&](int32_t id) { return same_long(strings[id], texts[i]); });
        }
    }

    int64_t searches_ = 0;
    std::optional<TextTable> table_;
};

}  // namespace hedgerow
