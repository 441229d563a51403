// Positions of a node side by side: an order of cells, and the place of every cell in it. A split brings the
// cells where its test holds to the front. Nothing depends on the order within a node, so only what moves
// costs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tree_data.hpp"

namespace hedgerow {

struct CellOrder {
    std::vector<std::int32_t> cells;
    std::vector<std::int32_t> where;  // stale for cells that are not in the order: compare with `cells`

    // All positions, in sequence.
    void fill(const TreeData& data) {
        cells = data.cell;
        where.resize(data.position.size());
        for (std::size_t i = 0; i < cells.size(); ++i) where[cells[i]] = static_cast<std::int32_t>(i);
    }

    void exchange(std::int64_t i, std::int64_t j) {
        std::swap(cells[i], cells[j]);
        where[cells[i]] = static_cast<std::int32_t>(i);
        where[cells[j]] = static_cast<std::int32_t>(j);
    }

    // Where the cells that fail the test begin. swapped(i, j) tells of every exchange. Walks over the cells
    // of the node or over those that hold the value, whichever are fewer.
    template <class Swapped>
    std::int64_t partition(const TreeData& data, const TreeData::Slot& slot, std::int32_t value,
                           std::int64_t begin, std::int64_t end, Swapped swapped) {
        const TreeData::Column& column = *slot.column;
        std::int64_t front = begin;
        const auto bring = [&](std::int64_t i) {
            if (i != front) {
                exchange(i, front);
                swapped(i, front);
            }
            ++front;
        };
        const std::int64_t first = column.posting_starts[value], last = column.posting_starts[value + 1];
        if (column.kind == TreeData::Kind::numeric || last - first > end - begin) {
            for (std::int64_t i = begin; i < end; ++i) {
                if (data.holds(slot, value, cells[i])) bring(i);
            }
            return front;
        }
        for (std::int64_t j = first; j < last; ++j) {
            const std::int64_t c = column.postings[j] - slot.offset;
            if (c < 0 || c >= static_cast<std::int64_t>(where.size())) continue;
            const std::int64_t i = where[c];
            if (i >= front && i < end && cells[i] == c) bring(i);
        }
        return front;
    }
};

}  // namespace hedgerow
