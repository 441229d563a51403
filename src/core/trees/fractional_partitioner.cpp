#include "trees/fractional_partitioner.hpp"

#include <algorithm>

namespace hedgerow {
namespace {

constexpr std::int64_t kFewOfAll = 4;  // a layer with fewer than 1 / kFewOfAll of all positions has no index

double n_examples(const Examples& examples, const Layer& layer, const NodeContexts& contexts,
                  std::int64_t i) {
    const std::int32_t c = layer.order.cells[i];
    const bool counts_kept = examples.leaves_out && !examples.objective.newton;
    const double n = counts_kept ? static_cast<double>(examples.n_examples(contexts, c))
                                 : contexts.n_examples[examples.data.depth_at[c]];
    return examples.rounded(examples.weight(c) * layer.fractions[i] * n);
}

}  // namespace

double FractionalPartitioner::count_examples(const Examples& examples, const Layer& layer,
                                             const NodeContexts& contexts, Range range) {
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) sum += n_examples(examples, layer, contexts, i);
    return sum;
}

// The smaller side gets a layer of its own with its fractions of the positions whose value is missing; the
// larger side keeps the rest.
Division FractionalPartitioner::divide(const GrowingNode& parent) {
    const auto [middle, yes_is_smaller] = move_smaller_side(parent, SplitTest(data_, parent.entries));
    const NodeContexts& contexts = *parent.contexts;
    const Known known = count_known(parent, middle);
    const double n = known.small + known.large;
    const double small_fraction = n > 0 ? known.small / n : 0.5;  // sequences may weigh 0
    Division division;
    division.true_fraction = yes_is_smaller ? small_fraction : 1 - small_fraction;
    division.yes_is_smaller = yes_is_smaller;
    division.counts_twice = counts_twice_ && known.n_missing > 0;
    division.if_true = side(parent, {});
    division.if_false = side(parent, {});
    GrowingNode& small = yes_is_smaller ? division.if_true : division.if_false;
    GrowingNode& large = yes_is_smaller ? division.if_false : division.if_true;
    small.has_fractions = large.has_fractions = parent.has_fractions || known.n_missing > 0;
    small.counted = {parent.counted.begin, middle};
    large.counted = {middle, parent.counted.end};
    if (!missing_.empty()) move_fractions(small, large, yes_is_smaller, division.true_fraction);
    small.n_examples = count_examples(examples_, layers_[small.layer], contexts, small.counted);
    large.n_examples = parent.n_examples - small.n_examples;
    return division;
}

// Over all members of a group.
FractionalPartitioner::Known FractionalPartitioner::count_known(const GrowingNode& parent,
                                                                std::int64_t middle) const {
    const Layer& layer = layers_[parent.layer];
    const NodeContexts& contexts = *parent.contexts;
    double missing = 0;
    for (const std::int32_t i : missing_) missing += n_examples(examples_, layer, contexts, i);
    const double small = count_examples(examples_, layer, contexts, {parent.counted.begin, middle});
    std::vector<double> counts{small, parent.n_examples - missing - small,
                               static_cast<double>(missing_.size())};
    if (group_) sum_over_members(*group_->exchange, counts);
    return {counts[0], std::max(counts[1], 0.0), static_cast<std::int64_t>(counts[2])};
}

// Whether the test holds for the smaller side, of n positions of which some have no value. All members of a
// group move the same side.
bool FractionalPartitioner::yes_is_smaller(std::int64_t n_yes, std::int64_t n_missing, std::int64_t n) const {
    std::vector<std::int64_t> excess{2 * n_yes + n_missing - n};
    if (group_) sum_over_members(*group_->exchange, excess);
    return excess[0] <= 0;
}

FractionalPartitioner::Cut FractionalPartitioner::move_smaller_side(const GrowingNode& parent,
                                                                    const SplitTest& test) {
    Layer& layer = layers_[parent.layer];
    const Range all = parent.counted;
    const TreeData::Slot& slot = test.slot();
    const TreeData::Column& column = *slot.column;
    if (!test.is_single() || column.kind == TreeData::Kind::bag) {
        return move_smaller_side(layer, all, slot,
                                 [&](std::int32_t c) { return test.is_missing(c) ? 2 : int{test.holds(c)}; });
    }
    const std::int32_t code = test.code(), missing = slot.missing_code();
    const bool threshold = TreeData::is_threshold(slot, code);
    const std::int64_t n_listed =
        2 * column.n_cells[code] + (column.has_missing ? column.n_cells[missing] : 0);
    if (!group_ && layer.order.indexed && !threshold && n_listed <= all.size()) {
        const std::int64_t middle = layer.order.partition(
            data_, slot, code, all, [&](std::int64_t i, std::int64_t j) { layer.exchange(i, j); });
        missing_.clear();
        if (column.has_missing) layer.order.list_places(slot, missing, {middle, all.end}, missing_);
        return {middle, true};
    }
    return data_.with_codes(slot, [&](auto codes) {
        return move_smaller_side(layer, all, slot, [=](std::int32_t c) {
            const std::int32_t read = codes(c);
            return read == missing ? 2 : int{threshold ? read <= code : read == code};
        });
    });
}

// Moves the positions of the side with fewer positions to the front, and lists in missing_ the places of
// those whose value is missing. side(cell) is 0 or 1, or 2 where the value is missing. No branch depends on a
// side.
template <class Side>
FractionalPartitioner::Cut FractionalPartitioner::move_smaller_side(Layer& layer, Range range,
                                                                    const TreeData::Slot& slot, Side side) {
    const std::int32_t* cells = layer.order.cells.data();
    const auto room = static_cast<std::size_t>(range.size()) + 1;
    if (places_.size() < room) places_.resize(room);
    missing_.resize(room);
    std::int32_t *places = places_.data(), *missing = missing_.data();
    std::int64_t n = 0, n_missing = 0;
    const auto find = [&](int wanted) {
        n = n_missing = 0;
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            if (i + kAhead < range.end) data_.expect(slot, cells[i + kAhead]);
            const int which = side(cells[i]);
            places[n] = missing[n_missing] = static_cast<std::int32_t>(i);
            n += which == wanted;
            n_missing += which == 2;
        }
    };
    find(1);
    const bool yes = yes_is_smaller(n, n_missing, range.size());
    if (!yes) find(0);
    missing_.resize(static_cast<std::size_t>(n_missing));
    const std::int64_t middle = range.begin + n;
    for (std::int64_t j = 0; j < n; ++j)
        layer.order.exchange(places[j], range.begin + j,
                             [&](std::int64_t a, std::int64_t b) { layer.exchange(a, b); });
    // Positions that were in front have been exchanged with these, perhaps more than once.
    for (std::int32_t& place : missing_) {
        if (place >= middle) break;
        while (place < middle) place = places[place - range.begin];
    }
    return {middle, yes};
}

// Gives the smaller side a layer of its own, with its fractions of the positions in missing_.
void FractionalPartitioner::move_fractions(GrowingNode& small, GrowingNode& large, bool small_is_yes,
                                           double true_fraction) {
    const std::size_t number = layers_.add();
    Layer &to = layers_[number], &from = layers_[large.layer];
    const std::size_t n = static_cast<std::size_t>(small.counted.size()) + missing_.size();
    to.order.indexed = kFewOfAll * static_cast<std::int64_t>(n) > data_.n_positions;
    if (to.order.indexed) to.order.where.resize(data_.position.size());
    if (to.order.cells.size() < n) to.order.cells.resize(n);  // memory of earlier trees is not cleared
    if (to.sums.size() < n) to.sums.resize(n);
    if (to.fractions.size() < n) to.fractions.resize(n);
    const std::int32_t* cells = from.order.cells.data();
    std::int64_t j = 0;
    for (std::int64_t i = small.counted.begin; i < small.counted.end; ++i, ++j) {
        to.order.place(j, cells[i]);
        to.sums[j] = from.sums[i];
        to.fractions[j] = from.fractions[i];
    }
    const double small_fraction = small_is_yes ? true_fraction : 1 - true_fraction;
    const bool small_counts = (true_fraction >= 0.5) == small_is_yes;
    for (const std::int32_t i : missing_) {
        to.order.place(j, cells[i]);
        const std::int64_t counted = examples_.objective.count(from.sums[i]);
        to.sums[j] = examples_.objective.times(from.sums[i], small_fraction, small_counts || counts_twice_);
        from.sums[i] -= to.sums[j];
        if (counts_twice_) from.sums[i].packed += counted * examples_.objective.packing.one();
        const float yes = from.fractions[i] * static_cast<float>(true_fraction), no = from.fractions[i] - yes;
        to.fractions[j++] = small_is_yes ? yes : no;
        from.fractions[i] = small_is_yes ? no : yes;
    }
    small.layer = number;
    small.counted = {0, j};
}

}  // namespace hedgerow
