// Positions of a node side by side: an order of cells, and the place of every cell in it. A split brings the
// cells where its test holds to the front. Nothing depends on the order within a node, so only what moves
// costs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tree_data.hpp"

namespace hedgerow {

// A part of an order of cells.
struct Range {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};

struct CellOrder {
    std::vector<std::int32_t> cells;
    std::vector<std::int32_t> where;  // stale for cells that are not in the order: compare with `cells`

    void place(std::int64_t i, std::int32_t c) {
        cells[i] = c;
        where[c] = static_cast<std::int32_t>(i);
    }

    // All positions, those where counts(position) holds in front; returns the part that they take.
    template <class Counts>
    Range fill(const TreeData& data, Counts counts) {
        cells.resize(static_cast<std::size_t>(data.n_positions));
        where.resize(data.position.size());
        std::int64_t front = 0, back = data.n_positions;
        for (std::int64_t t = 0; t < data.n_positions; ++t) place(counts(t) ? front++ : --back, data.cell[t]);
        return {0, front};
    }

    // Where the cells of the range that fail the test begin. swapped(i, j) tells of every exchange. Walks
    // over the cells of the range or over those that hold the code, whichever are fewer.
    template <class Swapped>
    std::int64_t partition(const TreeData& data, const TreeData::Slot& slot, std::int32_t code, Range range,
                           Swapped swapped) {
        const TreeData::Column& column = *slot.column;
        const std::int64_t first = column.posting_starts[code], last = column.posting_starts[code + 1];
        if (column.kind == TreeData::Kind::numeric || last - first > range.size()) {
            return partition_if(
                range, [&](std::int32_t c) { return data.holds(slot, code, c); }, swapped,
                [&](std::int32_t c) { data.expect(slot, c); });
        }
        std::int64_t front = range.begin;
        for (std::int64_t j = first; j < last; ++j) {
            const std::int64_t c = column.postings[j] - slot.offset;
            if (c < 0 || c >= static_cast<std::int64_t>(where.size())) continue;
            const std::int64_t i = where[c];
            if (i >= front && i < range.end && cells[i] == c) bring(i, front++, swapped);
        }
        return front;
    }

    // The same for any test of a cell; expect(cell) tells of a cell that will be tested soon.
    template <class Holds, class Swapped, class Expect>
    std::int64_t partition_if(Range range, Holds holds, Swapped swapped, Expect expect) {
        std::int64_t front = range.begin;
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            if (i + kAhead < range.end) expect(cells[i + kAhead]);
            if (holds(cells[i])) bring(i, front++, swapped);
        }
        return front;
    }

  private:
    template <class Swapped>
    void bring(std::int64_t i, std::int64_t front, Swapped swapped) {
        if (i == front) return;
        const std::int32_t moved = cells[front];
        place(front, cells[i]);
        place(i, moved);
        swapped(i, front);
    }
};

}  // namespace hedgerow
