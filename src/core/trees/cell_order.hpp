// An order of cells in which the positions of each node are consecutive, and the place of every cell in it. A
// split moves the cells where its test holds to the front of the node. Nothing depends on the order within a
// node, so only moved cells cost time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trees/tree_data.hpp"
#include "util/large_vector.hpp"

namespace hedgerow {

// Consecutive places of an order of cells.
struct Range {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};

struct CellOrder {
    LargeVector<std::int32_t> cells;
    // By cell: its place. Cells outside the order keep old places, so compare with `cells`.
    LargeVector<std::int32_t> where;
    bool indexed = true;  // whether `where` is kept up to date; not worth it for a short order

    void place(std::int64_t i, std::int32_t c) {
        cells[i] = c;
        if (indexed) where[c] = static_cast<std::int32_t>(i);
    }

    // All positions.
    Range fill(const TreeData& data);
    // The positions where counts(position) holds.
    template <class Counts>
    Range fill(const TreeData& data, Counts counts) {
        cells.resize(static_cast<std::size_t>(data.n_positions));
        where.resize(data.position.size());
        std::int64_t n = 0;
        for (std::int64_t t = 0; t < data.n_positions; ++t) {
            if (counts(t)) place(n++, data.cell[t]);
        }
        return {0, n};
    }

    // Moves the cells where the test of a code holds to the front of the range; returns where the others
    // begin. swapped(i, j) is called for every exchange. Visits the cells of the range, or the cells that
    // have the code, whichever are fewer. Cells are listed first and moved then, so that no unpredictable
    // branch is taken.
    template <class Swapped>
    std::int64_t partition(const TreeData& data, const TreeData::Slot& slot, std::int32_t code, Range range,
                           Swapped swapped) {
        const TreeData::Column& column = *slot.column;
        const std::int64_t first = column.posting_starts[code], last = column.posting_starts[code + 1];
        const bool at_most = column.kind == TreeData::Kind::numeric && code < column.n_codes;
        if (at_most || !indexed || last - first > range.size()) {
            const auto expect = [&](std::int32_t c) { data.expect(slot, c); };
            if (column.kind == TreeData::Kind::bag) {
                return partition_if(
                    range, [&](std::int32_t c) { return data.holds(slot, code, c); }, swapped, expect);
            }
            return data.with_codes(slot, [&](auto codes) {
                if (at_most)
                    return partition_if(
                        range, [&](std::int32_t c) { return codes(c) <= code; }, swapped, expect);
                return partition_if(range, [&](std::int32_t c) { return codes(c) == code; }, swapped, expect);
            });
        }
        const std::int64_t n = find_listed(slot, code, range);
        std::int64_t front = range.begin;
        for (std::int64_t j = 0; j < n; ++j) {  // a cell that was listed twice is already in front
            const std::int64_t i = where[found_[j]];
            if (i >= front) exchange(i, front++, swapped);
        }
        return front;
    }

    // The same for any test of a cell; expect(cell) is called some cells before a test, to prefetch.
    template <class Holds, class Swapped, class Expect>
    std::int64_t partition_if(Range range, Holds holds, Swapped swapped, Expect expect) {
        found_.resize(static_cast<std::size_t>(range.size()));
        std::int64_t n = 0;
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            if (i + kAhead < range.end) expect(cells[i + kAhead]);
            found_[n] = static_cast<std::int32_t>(i);
            n += holds(cells[i]);
        }
        std::int64_t front = range.begin;  // never beyond the next cell to be moved
        for (std::int64_t j = 0; j < n; ++j) exchange(found_[j], front++, swapped);
        return front;
    }

    // OUT: places of the cells of the range that have the code. Needs an index.
    void list_places(const TreeData::Slot& slot, std::int32_t code, Range range,
                     std::vector<std::int32_t>& places);

    // Exchanges the cells of two places.
    template <class Swapped>
    void exchange(std::int64_t i, std::int64_t j, Swapped swapped) {
        if (i == j) return;
        const std::int32_t moved = cells[j];
        place(j, cells[i]);
        place(i, moved);
        swapped(i, j);
    }

  private:
    // Lists in found_ the cells of the range that have the code; returns how many.
    std::int64_t find_listed(const TreeData::Slot& slot, std::int32_t code, Range range);

    std::vector<std::int32_t> found_;
};

}  // namespace hedgerow
