#include "trees/directed_partitioner.hpp"

#include <utility>

#include "trees/split_test.hpp"

namespace hedgerow {

Division DirectedPartitioner::divide(const GrowingNode& parent) {
    const SplitTest test(data_, parent.entries);
    const TreeData::Slot& slot = test.slot();
    Layer& layer = layers_[parent.layer];
    bool missing_hold = parent.missing_side == Split::Side::yes;
    const Range all = parent.counted;
    const auto swapped = [&](std::int64_t i, std::int64_t j) { layer.exchange(i, j); };
    const bool asks_missing = slot.column->has_missing && missing_hold;
    const std::int64_t middle =
        test.is_single() && !asks_missing
            ? layer.order.partition(data_, slot, test.code(), all, swapped)
            : layer.order.partition_if(
                  all, [&](std::int32_t c) { return (asks_missing && test.is_missing(c)) || test.holds(c); },
                  swapped, [&](std::int32_t c) { data_.expect(slot, c); });
    Division division;
    if (learns_) {
        // A node without missing values learned no direction: there they follow most positions.
        if (parent.missing_side == Split::Side::unknown) missing_hold = parent.n_yes >= parent.n_no;
        division.true_fraction = missing_hold ? 1.0 : 0.0;
    }
    division.yes_is_smaller = parent.n_yes <= parent.n_no;
    division.if_true = side(parent, {all.begin, middle});
    division.if_false = side(parent, {middle, all.end});
    return division;
}

}  // namespace hedgerow
