// What a split does with positions whose value is missing.
//
// Weighting (C4.5): they go to both sides, a part to each, as large as that side's share of the examples
// whose value is there. What a part brings is that part of what the position brought, in whole numbers, and
// the rest is on the other side: nothing is lost, so sums may still be subtracted. The larger part counts as
// the position. Surrogates (CART): each goes where the first test says that it has a value for. Learned: all
// go to one side.
#include <algorithm>
#include <cmath>

#include "trees/grower.hpp"

namespace hedgerow {

constexpr std::size_t kMostSurrogates = 5;
constexpr std::int64_t kFewOfAll = 4;  // a node with less than this part of all positions has no index

double Grower::count_examples(const Node& node, Range range) const {
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) sum += examples(node, i);
    return sum;
}

// Brings the positions of the side that has fewer to the front, and notes in missed_ the places of those
// whose value is missing. Returns where the others begin, and whether the test holds for those in front. Each
// position is on a side(cell): 0, 1, or 2 where its value is missing.
template <class Side>
std::pair<std::int64_t, bool> Grower::bring_smaller_side(const Node& parent, const TreeData::Slot& slot,
                                                         Side side) {
    CellOrder& order = layers_[parent.layer];
    const Range all = parent.counted;
    const std::int32_t* cells = order.cells.data();
    const auto room = static_cast<std::size_t>(all.size()) + 1;
    if (places_.size() < room) places_.resize(room);
    missed_.resize(room);
    std::int32_t *places = places_.data(), *missed = missed_.data();
    std::int64_t n = 0, n_missing = 0;
    const auto find = [&](int wanted) {
        n = n_missing = 0;
        for (std::int64_t i = all.begin; i < all.end; ++i) {
            if (i + kAhead < all.end) data_.expect(slot, cells[i + kAhead]);
            const int which = side(cells[i]);
            places[n] = missed[n_missing] = static_cast<std::int32_t>(i);
            n += which == wanted;
            n_missing += which == 2;
        }
    };
    find(1);
    const bool yes = 2 * n + n_missing <= all.size();
    if (!yes) find(0);
    missed_.resize(static_cast<std::size_t>(n_missing));
    const std::int64_t middle = all.begin + n;
    for (std::int64_t j = 0; j < n; ++j)
        order.exchange(places[j], all.begin + j,
                       [&](std::int64_t a, std::int64_t b) { exchange(parent.layer, a, b); });
    // What was in front has changed places with these, perhaps more than once.
    for (std::int32_t& place : missed_) {
        if (place >= middle) break;
        while (place < middle) place = places[place - all.begin];
    }
    return {middle, yes};
}

std::pair<std::int64_t, bool> Grower::bring_smaller_side(const Node& parent, const TreeData::Slot& slot) {
    CellOrder& order = layers_[parent.layer];
    const Range all = parent.counted;
    const TreeData::Column& column = *slot.column;
    const std::int32_t code = parent.entries[0] - slot.first_entry, missing = slot.missing_code();
    const bool threshold = column.kind == TreeData::Kind::numeric && code < column.n_codes;
    if (parent.entries.size() > 1 || column.kind == TreeData::Kind::bag) {
        return bring_smaller_side(parent, slot, [&](std::int32_t c) {
            return data_.is_missing(slot, c) ? 2 : int{holds(parent, slot, c)};
        });
    }
    const auto n_cells = [&](std::int32_t of) {
        return column.posting_starts[of + 1] - column.posting_starts[of];
    };
    const std::int64_t n_listed = 2 * n_cells(code) + (column.has_missing ? n_cells(missing) : 0);
    const auto swapped = [&](std::int64_t i, std::int64_t j) { exchange(parent.layer, i, j); };
    if (order.indexed && !threshold && n_listed <= all.size()) {
        const std::int64_t middle = order.partition(data_, slot, code, all, swapped);
        missed_.clear();
        if (column.has_missing) order.list_places(slot, missing, {middle, all.end}, missed_);
        return {middle, true};
    }
    const std::int32_t* codes = data_.rows.data() + slot.offset * data_.stride + column.place;
    return bring_smaller_side(parent, slot,
                              [codes, stride = data_.stride, code, missing, threshold](std::int32_t c) {
                                  const std::int32_t read = codes[c * stride];
                                  return read == missing ? 2 : int{threshold ? read <= code : read == code};
                              });
}

// Divides a node: the side that has fewer positions takes them and its part of those with missing values to a
// layer of its own; the other one keeps what is left.
Grower::Children Grower::share_missing(Node& parent, const TreeData::Slot& slot) {
    const auto [middle, yes_is_smaller] = bring_smaller_side(parent, slot);
    double n_missing = 0;
    for (const std::int32_t i : missed_) n_missing += examples(parent, i);
    const double n_small = count_examples(parent, {parent.counted.begin, middle});
    const double n_large = std::max(parent.n - n_missing - n_small, 0.0), n = n_small + n_large;
    const double of_small = n > 0 ? n_small / n : 0.5;  // sequences may weigh 0
    tree_[parent.tree].true_fraction = yes_is_smaller ? of_small : 1 - of_small;
    Node yes = make_node(parent.layer, {}, {}, parent.of);
    Node no = make_node(parent.layer, {}, {}, parent.of);
    for (Node* child : {&yes, &no}) child->has_parts = parent.has_parts || !missed_.empty();
    Node &small = yes_is_smaller ? yes : no, &large = yes_is_smaller ? no : yes;
    small.counted = {parent.counted.begin, middle};
    large.counted = {middle, parent.counted.end};
    if (!missed_.empty()) move_parts(small, large, yes_is_smaller, tree_[parent.tree].true_fraction);
    small.n = count_examples(small, small.counted);
    large.n = parent.n - small.n;
    return {std::move(yes), std::move(no)};
}

// Gives the smaller side a layer of its own, and its share of the positions of missed_. The larger part of a
// position counts as the position.
void Grower::move_parts(Node& small, Node& large, bool small_is_yes, double share) {
    const std::size_t layer = new_layer();
    const Range from = small.counted;
    const std::size_t n = static_cast<std::size_t>(from.size()) + missed_.size();
    CellOrder& to = layers_[layer];
    to.indexed = kFewOfAll * static_cast<std::int64_t>(n) > data_.n_positions;
    if (to.indexed) to.where.resize(data_.position.size());
    if (to.cells.size() < n) to.cells.resize(n);  // memory that was there before is not cleared
    if (sums_[layer].size() < n) sums_[layer].resize(n);
    if (parts_[layer].size() < n) parts_[layer].resize(n);
    const std::int32_t* cells = layers_[large.layer].cells.data();
    Sums *sums = sums_[large.layer].data(), *to_sums = sums_[layer].data();
    float *parts = parts_[large.layer].data(), *to_parts = parts_[layer].data();
    std::int64_t j = 0;
    for (std::int64_t i = from.begin; i < from.end; ++i, ++j) {
        to.place(j, cells[i]);
        to_sums[j] = sums[i];
        to_parts[j] = parts[i];
    }
    const double of_small = small_is_yes ? share : 1 - share;
    const bool small_counts = (share >= 0.5) == small_is_yes;
    for (const std::int32_t i : missed_) {
        to.place(j, cells[i]);
        to_sums[j] = sums[i].part(of_small, small_counts);
        sums[i] -= to_sums[j];
        const float yes = parts[i] * static_cast<float>(share), no = parts[i] - yes;
        to_parts[j++] = small_is_yes ? yes : no;
        parts[i] = small_is_yes ? no : yes;
    }
    small.layer = layer;
    small.counted = {0, j};
}

// Positions whose value is missing come between those where the test holds and the others; then each goes
// where the surrogates say.
Grower::Children Grower::divide_by_surrogates(Node& parent, const TreeData::Slot& slot) {
    CellOrder& order = layers_[parent.layer];
    const Range all = parent.counted;
    const auto swapped = [&](std::int64_t i, std::int64_t j) { exchange(parent.layer, i, j); };
    const auto expect = [&](std::int32_t c) { data_.expect(slot, c); };
    const auto test_holds = [&](std::int32_t c) { return holds(parent, slot, c); };
    Range missing;
    missing.begin = parent.entries.size() > 1
                        ? order.partition_if(all, test_holds, swapped, expect)
                        : order.partition(data_, slot, parent.entries[0] - slot.first_entry, all, swapped);
    missing.end = missing.begin;
    if (slot.column->has_missing)
        missing.end = order.partition(data_, slot, slot.missing_code(), {missing.begin, all.end}, swapped);
    const std::vector<Surrogate> surrogates = find_surrogates(parent, slot, missing);
    const bool most_hold = missing.begin - all.begin >= all.end - missing.end;
    TreeNode& tree = tree_[parent.tree];
    tree.true_fraction = most_hold ? 1.0 : 0.0;
    for (const Surrogate& one : surrogates) {
        const std::int32_t id = one.slot->id(one.slot->first_entry + one.code);
        tree.surrogates.push_back(one.opposite ? ~id : id);
    }
    const auto says = [&](std::int32_t c) { return surrogate_says(surrogates, c, most_hold); };
    const std::int64_t counted = order.partition_if(missing, says, swapped, [](std::int32_t) {});
    const std::int64_t others = order.partition_if(
        parent.others, [&](std::int32_t c) { return data_.is_missing(slot, c) ? says(c) : test_holds(c); },
        [](std::int64_t, std::int64_t) {}, expect);
    Node yes = make_node(parent.layer, {all.begin, counted}, {parent.others.begin, others}, parent.of);
    Node no = make_node(parent.layer, {counted, all.end}, {others, parent.others.end}, parent.of);
    return {std::move(yes), std::move(no)};
}

// Every position votes: 1 if the node's test holds there, -1 if not, nothing if the value is missing. The sum
// over those where another test holds tells how often the two agree. Where the node's histogram tells how
// many there are of each, only one side and those that miss a value are counted: what is left is the other
// side.
std::vector<Grower::Surrogate> Grower::find_surrogates(const Node& parent, const TreeData::Slot& slot,
                                                       Range missing) {
    const Range all = parent.counted;
    const std::int64_t n_yes = missing.begin - all.begin, n_no = all.end - missing.end;
    const std::int64_t sign = n_yes <= n_no ? 1 : -1;  // of the side that is counted
    const bool by_rest = parent.histogram != nullptr;
    Node voters{};
    voters.layer = parent.layer;
    voters.counted = !by_rest   ? all
                     : sign > 0 ? Range{all.begin, missing.end}
                                : Range{missing.begin, all.end};
    if (votes_.size() < sums_[parent.layer].size()) votes_.resize(sums_[parent.layer].size());
    for (std::int64_t i = voters.counted.begin; i < voters.counted.end; ++i) {
        const bool is_missing = i >= missing.begin && i < missing.end;
        if (by_rest) {
            votes_[i] = is_missing ? Sums{sign, -one_position(0, 0).packed} : Sums{2 * sign, 0};
        } else {
            votes_[i] = is_missing ? Sums{} : one_position(i < missing.begin ? 1 : -1, 0);
        }
        voters.total += votes_[i];
    }
    std::unique_ptr<Histogram> own = by_rest ? take_histogram() : nullptr;
    Histogram& votes = by_rest ? *own : scratch_;
    std::swap(sums_[parent.layer], votes_);
    count(voters, votes, !by_rest);
    std::swap(sums_[parent.layer], votes_);
    for (std::int32_t e = 0; by_rest && e < map_->n_places(); ++e) {
        const std::int64_t n = parent.histogram->entries[e].count();
        votes.entries[e] += Sums{-sign * n, n << kCountShift};
    }
    const Sums total{n_yes - n_no, (n_yes + n_no) << kCountShift};
    std::vector<Surrogate> found;
    for (std::size_t s = 0; s < data_.slots.size(); ++s) {
        if (&data_.slots[s] != &slot) consider_surrogates(data_.slots[s], s, votes, !by_rest, total, found);
    }
    if (by_rest) {
        spare_.push_back(std::move(own));
    } else {
        scratch_.clear_marked();
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Surrogate& a, const Surrogate& b) { return a.rate > b.rate; });
    if (found.size() > kMostSurrogates) found.resize(kMostSurrogates);
    return found;
}

// The test of the slot that agrees best, if it does so more often than always to say what most positions do.
void Grower::consider_surrogates(const TreeData::Slot& slot, std::size_t s, const Histogram& votes,
                                 bool marked, const Sums& total, std::vector<Surrogate>& found) const {
    const std::int32_t end = map_->first_place(s + 1) - slot.column->has_missing;
    const Sums known = slot.column->has_missing ? total - votes.entries[end] : total;
    const std::int64_t yes = (known.count() + known.residual) / 2, no = known.count() - yes;
    std::int64_t most = std::max(yes, no), below = 0;
    Surrogate best{&slot, -1, false, 0};
    votes.each(marked, map_->first_place(s), end, [&](std::int32_t place) {
        const std::int32_t code = map_->entry(place) - slot.first_entry;
        const bool threshold = slot.column->kind == TreeData::Kind::numeric && code < slot.column->n_codes;
        below += votes.entries[place].residual;
        const std::int64_t sum = threshold ? below : votes.entries[place].residual;
        for (const bool opposite : {false, true}) {
            const std::int64_t agree = opposite ? yes - sum : no + sum;
            if (agree <= most) continue;
            most = agree;
            best.code = code;
            best.opposite = opposite;
        }
    });
    if (best.code < 0) return;
    best.rate = static_cast<double>(most) / static_cast<double>(known.count());
    found.push_back(best);
}

bool Grower::surrogate_says(const std::vector<Surrogate>& surrogates, std::int32_t c, bool otherwise) const {
    for (const Surrogate& one : surrogates) {
        if (!data_.is_missing(*one.slot, c)) return data_.holds(*one.slot, one.code, c) != one.opposite;
    }
    return otherwise;
}

}  // namespace hedgerow
