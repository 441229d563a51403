// What a split does with positions whose value is missing.
//
// Weighting (C4.5): they go to both sides, a part to each, as large as that side's share of the examples
// whose value is there. What a part brings is that part of what the position brought, in whole numbers, and
// the rest is on the other side: nothing is lost, so sums may still be subtracted. The larger part counts as
// the position. Surrogates (CART): each goes where the first test says that it has a value for. Learned: all
// go to one side.
#include <algorithm>
#include <cmath>

#include "grower.hpp"

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
        if (column.has_missing) {
            order.each_listed(slot, missing, {middle, all.end},
                              [&](std::int64_t i) { missed_.push_back(static_cast<std::int32_t>(i)); });
        }
        return {middle, true};
    }
    const std::int32_t* codes = data_.rows.data() + slot.offset * data_.stride + column.at;
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
    tree_[parent.tree].share = yes_is_smaller ? of_small : 1 - of_small;
    Node yes = make_node(parent.layer, {}, {}, parent.of);
    Node no = make_node(parent.layer, {}, {}, parent.of);
    for (Node* child : {&yes, &no}) child->has_parts = parent.has_parts || !missed_.empty();
    Node &small = yes_is_smaller ? yes : no, &large = yes_is_smaller ? no : yes;
    small.counted = {parent.counted.begin, middle};
    large.counted = {middle, parent.counted.end};
    if (!missed_.empty()) move_parts(small, large, yes_is_smaller, tree_[parent.tree].share);
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

// The order in which a Forest has the leaves of a tree.
std::vector<const Grower::Node*> Grower::leaves_by_level() const {
    std::vector<const Node*> of(tree_.size(), nullptr), leaves;
    for (const Node& node : nodes_) of[node.tree] = &node;
    std::vector<std::int32_t> found{0};
    for (std::size_t at = 0; at < found.size(); ++at) {
        const TreeNode& node = tree_[found[at]];
        if (node.test.is_leaf()) {
            leaves.push_back(of[found[at]]);
        } else {
            found.push_back(node.if_true);
            found.push_back(node.if_false);
        }
    }
    return leaves;
}

void Grower::put_values(double step, float* to) const {
    if (parts_positions_) std::fill(to, to + static_cast<std::int64_t>(data_.position.size()) * width_, 0.0f);
    const std::uint8_t* depths = data_.depth_at.data();
    for (const Node* node : leaves_by_level()) {
        const auto value = static_cast<float>(tree_[node->tree].value * step);
        const std::int32_t* cells = layers_[node->layer].cells.data();
        const Members* members = node->of->members.data();
        if (parts_positions_) {
            const float* parts = parts_[node->layer].data();
            for (std::int64_t i = node->counted.begin; i < node->counted.end; ++i) {
                const float part = parts[i] * value;
                for (const std::int32_t h : members[depths[cells[i]]]) to[cells[i] * width_ + h] += part;
            }
            continue;
        }
        for (const Range& range : {node->counted, node->others}) {
            for (std::int64_t i = range.begin; i < range.end; ++i) {
                for (const std::int32_t h : members[depths[cells[i]]]) to[cells[i] * width_ + h] = value;
            }
        }
    }
}

// Where the node's positions all have a value, or all of those that do not went to one side.
double Grower::share_of_missing(const Node& parent, const Node& yes, const Node& no) const {
    if (parent.of_missing != Split::Side::unknown) return parent.of_missing == Split::Side::yes ? 1.0 : 0.0;
    const auto size = [&](const Node& node) {
        return objective().newton ? static_cast<double>(node.total.count()) : objective().weight(node.total);
    };
    const double n_yes = size(yes), n_no = size(no);
    return n_yes + n_no > 0 ? n_yes / (n_yes + n_no) : 0.5;
}

// Every position votes: 1 if the node's test holds there, -1 if not, nothing if the value is missing. The sum
// over those where another test holds tells how often the two agree. most_hold <- what most of them say.
std::vector<Grower::Surrogate> Grower::find_surrogates(const Node& parent, const TreeData::Slot& slot,
                                                       bool& most_hold) {
    votes_.resize(sums_[parent.layer].size());
    Node voters{};
    voters.layer = parent.layer;
    voters.counted = parent.counted;
    for (std::int64_t i = parent.counted.begin; i < parent.counted.end; ++i) {
        const std::int32_t c = layers_[parent.layer].cells[i];
        votes_[i] = data_.is_missing(slot, c) ? Sums{} : one_position(holds(parent, slot, c) ? 1 : -1, 0);
        voters.total += votes_[i];
    }
    most_hold = voters.total.residual >= 0;
    const bool marking = !is_large(parent);
    std::unique_ptr<Histogram> own = marking ? nullptr : take_histogram();
    Histogram& votes = marking ? scratch_ : *own;
    std::swap(sums_[parent.layer], votes_);
    count(voters, votes, marking);
    std::swap(sums_[parent.layer], votes_);
    std::vector<Surrogate> found;
    for (std::size_t s = 0; s < data_.slots.size(); ++s) {
        if (&data_.slots[s] != &slot)
            consider_surrogates(data_.slots[s], s, votes, marking, voters.total, found);
    }
    if (marking) {
        scratch_.clear_marked();
    } else {
        spare_.push_back(std::move(own));
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
