#include "trees/cell_order.hpp"

namespace hedgerow {

Range CellOrder::fill(const TreeData& data) {
    cells.assign(data.cell.begin(), data.cell.end());
    where.assign(data.position.begin(), data.position.end());
    return {0, data.n_positions};
}

void CellOrder::list_places(const TreeData::Slot& slot, std::int32_t code, Range range,
                            std::vector<std::int32_t>& places) {
    places.resize(static_cast<std::size_t>(find_listed(slot, code, range)));
    for (std::size_t j = 0; j < places.size(); ++j) places[j] = where[found_[j]];
}

std::int64_t CellOrder::find_listed(const TreeData::Slot& slot, std::int32_t code, Range range) {
    const TreeData::Column& column = *slot.column;
    const std::int64_t first = column.posting_starts[code], last = column.posting_starts[code + 1];
    found_.resize(static_cast<std::size_t>(last - first));
    const auto end = static_cast<std::int64_t>(where.size());
    const auto size = static_cast<std::uint64_t>(range.size());
    std::int64_t n = 0;
    for (std::int64_t j = first; j < last; ++j) {
        const std::int64_t c = column.postings[j] - slot.offset;
        if (c < 0 || c >= end) continue;
        const auto i = static_cast<std::uint64_t>(where[c] - range.begin);
        found_[n] = static_cast<std::int32_t>(c);
        n += i < size && cells[range.begin + static_cast<std::int64_t>(i < size ? i : 0)] == c;
    }
    return n;
}

}  // namespace hedgerow
