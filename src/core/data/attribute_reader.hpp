// Attribute ids of a position: every column read at every offset of a window, padding outside the sequence.
//
// A slot is a (column, offset). It owns the ids [first_id, first_id + values), and one more for padding when
// the window looks beyond the position itself. Reads are shifted, so a window costs no memory. A local column
// has one slot, the position itself, whatever the window.
#pragma once

#include <cstdint>

namespace hedgerow {

constexpr uint8_t kMissingBin = 255;
constexpr int32_t kMissingId = -1;

// One column; exactly one of codes, bins, starts and numbers is not null.
struct ColumnView {
    const int32_t* codes;   // categorical: one for each position, negative where missing or absent
    const uint8_t* bins;    // numeric: one for each position, kMissingBin where missing
    const int64_t* starts;  // bag: where each position begins in ids, and the end
    const int32_t* ids;     // bag: kMissingId alone where missing
    const float* weights;   // bag: one for each id; null when all are 1
    const float* numbers;   // numeric, read as it is: one attribute with this weight; NaN where missing
    bool has_missing = false;
};

struct Slot {
    const ColumnView* column;
    int64_t offset;
    int32_t first_id;
    int32_t padding;  // the id read outside the sequence
};

// Every slot of a window: what is read at a position.
struct Slots {
    const Slot* first;
    int64_t size;

    const Slot& operator[](int64_t s) const { return first[s]; }
    const Slot* begin() const { return first; }
    const Slot* end() const { return first + size; }
};

// IN: position t of the sequence [begin, end). OUT: emit(id, weight) for each attribute there, slot by slot.
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

template <class Emit>
inline void for_each_id(const Slots& slots, int64_t t, int64_t begin, int64_t end, Emit&& emit) {
    for (const Slot& slot : slots) for_each_id(slot, t, begin, end, emit);
}

// Whether the column's value at a position is explicitly missing; an absent one is not.
inline bool is_missing_at(const ColumnView& column, int64_t at) {
    if (column.codes != nullptr) return column.codes[at] == kMissingId;
    if (column.bins != nullptr) return column.bins[at] == kMissingBin;
    if (column.numbers != nullptr) return column.numbers[at] != column.numbers[at];
    return column.starts[at] < column.starts[at + 1] && column.ids[column.starts[at]] == kMissingId;
}

// Whether what the slot reads at position t is missing. Padding is not.
inline bool is_missing(const Slot& slot, int64_t t, int64_t begin, int64_t end) {
    const int64_t at = t + slot.offset;
    return at >= begin && at < end && is_missing_at(*slot.column, at);
}

}  // namespace hedgerow
