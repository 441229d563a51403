#include "trees/directed_partitioner.hpp"

#include <utility>

#include "trees/split_test.hpp"

namespace hedgerow {

Division DirectedPartitioner::divide(const GrowingNode& parent) {
    const SplitTest test(data_, parent.entries);
    const TreeData::Slot& slot = test.slot();
    Layer& layer = layers_[parent.layer];
    bool missing_hold = parent.missing_side == Split::Side::yes;
    const auto cut = [&](Range range, auto swapped) {
        const bool asks_missing = slot.column->has_missing && missing_hold;
        if (test.is_single() && !asks_missing)
            return layer.order.partition(data_, slot, test.code(), range, swapped);
        return layer.order.partition_if(
            range, [&](std::int32_t c) { return (asks_missing && test.is_missing(c)) || test.holds(c); },
            swapped, [&](std::int32_t c) { data_.expect(slot, c); });
    };
    const Range all = parent.counted, rest = parent.uncounted;
    const std::int64_t counted = cut(all, [&](std::int64_t i, std::int64_t j) { layer.exchange(i, j); });
    Division division;
    if (learns_) {
        // A node without missing values learned no direction: there they follow most positions.
        if (parent.missing_side == Split::Side::unknown)
            missing_hold = 2 * (counted - all.begin) >= all.size();
        division.true_fraction = missing_hold ? 1.0 : 0.0;
    }
    const std::int64_t uncounted = cut(rest, [](std::int64_t, std::int64_t) {});
    division.if_true = side(parent, {all.begin, counted}, {rest.begin, uncounted});
    division.if_false = side(parent, {counted, all.end}, {uncounted, rest.end});
    return division;
}

}  // namespace hedgerow
