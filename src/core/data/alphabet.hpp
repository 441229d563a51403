// Sorted sets of strings as one blob of UTF-8 and n + 1 offsets, a form that a model file can store and that
// can be memory-mapped. Byte order of UTF-8 is code-point order. Lone surrogates are allowed, as three bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "util/parallel.hpp"

namespace hedgerow {

struct Bytes {
    const uint8_t* data;
    int64_t size;
};

inline int compare(Bytes a, Bytes b) {
    const int64_t shared = std::min(a.size, b.size);
    const int order = shared <= 0 ? 0 : std::memcmp(a.data, b.data, static_cast<size_t>(shared));
    if (order != 0) return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

struct Strings {
    const uint8_t* blob;
    const int64_t* offsets;  // (size + 1)
    int64_t size;

    Bytes operator[](int64_t i) const { return {blob + offsets[i], offsets[i + 1] - offsets[i]}; }
};

// The number of bytes of the character at `p`, or 0 if the character is not well formed.
inline int utf8_character(const uint8_t* p, int64_t left) {
    const uint8_t lead = p[0];
    if (lead < 0x80) return 1;
    const int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || left < length) return 0;
    for (int i = 1; i < length; ++i)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if ((lead == 0xE0 && p[1] < 0xA0) || (lead == 0xF0 && p[1] < 0x90)) return 0;  // longer than needed
    if (lead == 0xF4 && p[1] > 0x8F) return 0;                                     // beyond U+10FFFF
    return length;
}

inline bool is_utf8(Bytes text) {
    for (int64_t i = 0; i < text.size;) {
        const int length = utf8_character(text.data + i, text.size - i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

// The same without surrogates, as the standard has it: the text of a file.
inline bool is_strict_utf8(Bytes text) {
    for (int64_t i = 0; i < text.size;) {
        const int length = utf8_character(text.data + i, text.size - i);
        if (length == 0 || (text.data[i] == 0xED && text.data[i + 1] > 0x9F)) return false;
        i += length;
    }
    return true;
}

// The first index in [first, strings.size) whose string is not below `text`. Gallops: finding m sorted
// strings one after the other costs m log(n / m), like a binary search for m = 1 and like a merge for m = n.
inline int64_t lower_bound(Strings strings, Bytes text, int64_t first = 0) {
    int64_t step = 1;
    int64_t below = first - 1;  // the last index whose string is known to be below text
    int64_t above = first;
    while (above < strings.size && compare(strings[above], text) < 0) {
        below = above;
        above += step;
        step *= 2;
    }
    above = std::min(above, strings.size);
    while (above - below > 1) {
        const int64_t middle = below + (above - below) / 2;
        (compare(strings[middle], text) < 0 ? below : above) = middle;
    }
    return above;
}

// The index of `text`, -1 if it is not among the strings.
inline int32_t find(Strings strings, Bytes text) {
    int64_t below = -1, above = strings.size;
    while (above - below > 1) {
        const int64_t middle = below + (above - below) / 2;
        (compare(strings[middle], text) < 0 ? below : above) = middle;
    }
    return above < strings.size && compare(strings[above], text) == 0 ? static_cast<int32_t>(above) : -1;
}

// The index in `other` of each of some strings, `otherwise` if `other` does not have it. Both are sorted.
inline std::vector<int32_t> indices_in(Strings strings, Strings other, int32_t otherwise, int64_t n_threads) {
    constexpr int64_t kThreadStrings = 1 << 12;  // strings that a thread takes at a time
    std::vector<int32_t> found(static_cast<size_t>(strings.size), otherwise);
    parallel_for((strings.size + kThreadStrings - 1) / kThreadStrings, n_threads, [&] {
        return [&](int64_t c) {
            const int64_t last = std::min(strings.size, (c + 1) * kThreadStrings);
            int64_t at = 0;
            for (int64_t i = c * kThreadStrings; i < last; ++i) {
                at = lower_bound(other, strings[i], at);
                if (at < other.size && compare(other[at], strings[i]) == 0)
                    found[static_cast<size_t>(i)] = static_cast<int32_t>(at);
            }
        };
    });
    return found;
}

// The indices of distinct strings in sorted order. The first eight bytes, kept in the key, decide most
// comparisons without reading the blob.
inline std::vector<int32_t> sorted_order(Strings strings) {
    struct Key {
        uint64_t head;
        int32_t index;
    };
    std::vector<Key> keys(static_cast<size_t>(strings.size));
    for (int64_t i = 0; i < strings.size; ++i) {
        const Bytes text = strings[i];
        uint64_t head = 0;
        for (int64_t b = 0; b < 8; ++b) head = head << 8 | (b < text.size ? text.data[b] : 0);
        keys[static_cast<size_t>(i)] = {head, static_cast<int32_t>(i)};
    }
    std::sort(keys.begin(), keys.end(), [strings](const Key& a, const Key& b) {
        return a.head != b.head ? a.head < b.head : compare(strings[a.index], strings[b.index]) < 0;
    });
    std::vector<int32_t> order(keys.size());
    std::transform(keys.begin(), keys.end(), order.begin(), [](const Key& key) { return key.index; });
    return order;
}

struct SortedStrings {
    std::vector<uint8_t> blob;
    std::vector<int64_t> offsets;
    std::vector<int32_t> rank;  // by index before sorting: the place of the string in sorted order
};

// Distinct strings in sorted order.
inline SortedStrings sort_distinct(Strings unsorted) {
    SortedStrings result{{}, {0}, std::vector<int32_t>(static_cast<size_t>(unsorted.size))};
    result.blob.reserve(static_cast<size_t>(unsorted.offsets[unsorted.size]));
    result.offsets.reserve(static_cast<size_t>(unsorted.size) + 1);
    for (const int32_t id : sorted_order(unsorted)) {
        result.rank[static_cast<size_t>(id)] = static_cast<int32_t>(result.offsets.size()) - 1;
        const Bytes text = unsorted[id];
        result.blob.insert(result.blob.end(), text.data, text.data + text.size);
        result.offsets.push_back(static_cast<int64_t>(result.blob.size()));
    }
    return result;
}

// The strings of two sorted sets, each once, in sorted order; without ranks.
inline SortedStrings merge_sorted(Strings a, Strings b) {
    SortedStrings result{{}, {0}, {}};
    result.blob.reserve(static_cast<size_t>(a.offsets[a.size] + b.offsets[b.size]));
    result.offsets.reserve(static_cast<size_t>(a.size + b.size) + 1);
    int64_t i = 0, j = 0;
    while (i < a.size || j < b.size) {
        const int order = i == a.size ? 1 : j == b.size ? -1 : compare(a[i], b[j]);
        const Bytes text = order <= 0 ? a[i] : b[j];
        i += order <= 0;
        j += order >= 0;
        result.blob.insert(result.blob.end(), text.data, text.data + text.size);
        result.offsets.push_back(static_cast<int64_t>(result.blob.size()));
    }
    return result;
}

}  // namespace hedgerow
