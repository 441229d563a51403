// The attribute ids of a position: every column is read at every offset of a window, and a read outside the
// sequence gives a padding id.
//
// A slot is a pair of a column and an offset. A slot owns the ids [first_id, first_id + number of values),
// and one more id for padding if the window has offsets other than 0. Columns are read in place with a
// shifted index, so a window needs no memory. A local column has one slot, at offset 0, for any window.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hedgerow {

constexpr uint8_t kMissingBin = 255;
constexpr int32_t kMissingId = -1;

// The arrays of one column. Exactly one of codes, bins, starts and numbers is not null.
struct ColumnView {
    const int32_t* codes;   // categorical: one code per position, negative where missing or absent
    const uint8_t* bins;    // numeric: one bin per position, kMissingBin where missing
    const int64_t* starts;  // bag: where the ids of each position begin, and the end
    const int32_t* ids;     // bag: a single kMissingId where missing
    const float* weights;   // bag: one weight per id; null if all weights are 1
    const float* numbers;   // numeric without bins: the weight of a single attribute; NaN where missing
    bool has_missing = false;
};

struct Slot {
    const ColumnView* column;
    int64_t offset;
    int32_t first_id;
    int32_t padding;  // the id outside the sequence, -1 without padding
};

// All slots of a window.
struct Slots {
    const Slot* first;
    int64_t size;

    const Slot& operator[](int64_t s) const { return first[s]; }
    const Slot* begin() const { return first; }
    const Slot* end() const { return first + size; }
};

// Calls emit(id, weight) for each attribute of position t in the sequence [begin, end), slot by slot.
template <class Emit>
inline void for_each_id(const Slot& slot, int64_t t, int64_t begin, int64_t end, Emit&& emit) {
    const int64_t at = t + slot.offset;
    if (at < begin || at >= end) {
        emit(slot.padding, 1.0f);
        return;
    }
    const ColumnView& column = *slot.column;
    if (column.codes != nullptr) {
        if (column.codes[at] >= 0) emit(slot.first_id + column.codes[at], 1.0f);
    } else if (column.bins != nullptr) {
        if (column.bins[at] != kMissingBin) emit(slot.first_id + column.bins[at], 1.0f);
    } else if (column.numbers != nullptr) {
        if (column.numbers[at] == column.numbers[at]) emit(slot.first_id, column.numbers[at]);
    } else {
        for (int64_t i = column.starts[at]; i < column.starts[at + 1]; ++i)
            if (column.ids[i] >= 0)
                emit(slot.first_id + column.ids[i], column.weights == nullptr ? 1.0f : column.weights[i]);
    }
}

// The attributes of all positions of some sequences.
struct AttributeView {
    Slots slots;
    const int64_t* starts;  // of the sequences, and the end
    int64_t n_sequences;
    int64_t n_ids;

    int64_t n_positions() const { return starts[n_sequences]; }

    // Calls visit(t, begin, end) for each position t of [first, last); t lies in the sequence [begin, end).
    template <class Visit>
    void for_each_position(int64_t first, int64_t last, Visit&& visit) const {
        const int64_t* next = std::upper_bound(starts, starts + n_sequences + 1, first);
        for (int64_t t = first; t < last; ++t) {
            while (*next <= t) ++next;
            visit(t, next[-1], *next);
        }
    }
};

template <class Emit>
inline void for_each_id(const Slots& slots, int64_t t, int64_t begin, int64_t end, Emit&& emit) {
    for (const Slot& slot : slots) for_each_id(slot, t, begin, end, emit);
}

// Whether the value of the column at a position is missing. An absent value is not missing.
inline bool is_missing_at(const ColumnView& column, int64_t at) {
    if (column.codes != nullptr) return column.codes[at] == kMissingId;
    if (column.bins != nullptr) return column.bins[at] == kMissingBin;
    if (column.numbers != nullptr) return column.numbers[at] != column.numbers[at];
    return column.starts[at] < column.starts[at + 1] && column.ids[column.starts[at]] == kMissingId;
}

// Whether the slot reads a missing value at position t. Padding is not missing.
inline bool is_missing(const Slot& slot, int64_t t, int64_t begin, int64_t end) {
    const int64_t at = t + slot.offset;
    return at >= begin && at < end && is_missing_at(*slot.column, at);
}

}  // namespace hedgerow
