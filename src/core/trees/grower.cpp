#include "trees/grower.hpp"

#include <algorithm>
#include <utility>

#include "trees/float_bits.hpp"

namespace hedgerow {

// Whether a tree looks up which entries it can use: where they are many, and most of them in few positions.
static bool looks_up(const TreeData& data) {
    return data.n_entries > TreeData::kFewEntries && !data.lists_entries();
}

constexpr std::size_t kMostSpare = 16;  // histograms kept for the next tree

Grower::Grower(const TreeData& data, std::int64_t n_labels, const GrowthRules& rules, double weight_unit,
               const double* weights)
    : data_(data),
      groups_(data.groups()),
      k_(n_labels),
      order_(data.order),
      rules_(rules),
      objective_{rules.l2, rules.newton, rules.max_step, rules.min_leaf, weight_unit},
      trim_(static_cast<std::int64_t>(rules.influence_trim * kResidualUnit)),
      weights_(weights),
      splits_positions_(splits_positions(data, rules.missing)),
      splitter_(data, objective_, rules),
      all_(data),
      some_(data),
      map_(&all_),
      scratch_(static_cast<std::size_t>(data.n_entries) + 1),
      root_(looks_up(data) ? static_cast<std::size_t>(data.n_entries) + 1 : 0),
      by_label_(static_cast<std::size_t>(n_labels) + 1),
      part_by_label_(static_cast<std::size_t>(n_labels) + 1) {
    auto n_reads = static_cast<std::int64_t>(data.entry_list.size());
    if (!data.lists_entries()) {
        for (const TreeData::Slot& slot : data.slots) {
            const bool bag = slot.column->kind == TreeData::Kind::bag;
            n_reads += bag ? static_cast<std::int64_t>(slot.column->bag.size()) : data.n_positions;
        }
    }
    for (const TreeData::Slot& slot : data.slots) {
        if (slot.column->kind != TreeData::Kind::bag)
            dense_.push_back({slot.offset * data.stride + slot.column->place, slot.first_entry});
    }
    reads_ = static_cast<double>(n_reads) / static_cast<double>(data.n_positions);
}

const std::vector<TreeNode>& Grower::grow(const std::int32_t* residuals, std::int64_t width,
                                          const std::uint8_t* in_sample, std::uint64_t seed) {
    residuals_ = residuals;
    brought_ = nullptr;
    width_ = width;
    return grow_root(in_sample, seed);
}

const std::vector<TreeNode>& Grower::grow(const Sums* brought, std::uint64_t seed) {
    residuals_ = nullptr;
    brought_ = brought;
    width_ = 1;
    return grow_root(nullptr, seed);
}

const std::vector<TreeNode>& Grower::grow_root(const std::uint8_t* in_sample, std::uint64_t seed) {
    seed_ = seed;
    tree_.clear();
    nodes_.clear();
    n_layers_ = 0;
    const Range counted = select(in_sample);
    Node root = make_node(0, counted, {counted.end, splits_positions_ ? counted.end : data_.n_positions},
                          std::make_shared<Histories>(HistorySet(k_, order_), order_, objective().newton));
    load(root);
    if (splits_positions_) root.n = count_examples(root, counted);
    study_root(root);
    tree_[0].value = objective().value(root.total);
    tree_[0].count = root.total.count();
    nodes_.push_back(std::move(root));
    split_best_first(nodes_, rules_.max_leaves, [&](std::size_t i, bool last) { split(i, last); });
    for (Node& node : nodes_) {
        if (node.histogram) spare_.push_back(std::move(node.histogram));
    }
    if (spare_.size() > kMostSpare) spare_.resize(kMostSpare);
    return tree_;
}

// All positions in the first layer: those that count in front.
Range Grower::select(const std::uint8_t* in_sample) {
    CellOrder& first = layers_[new_layer()];
    first.indexed = true;
    const Range counted =
        !in_sample && trim_ == 0 ? first.fill(data_) : first.fill(data_, [&](std::int64_t t) {
            if (in_sample && !in_sample[t]) return false;
            if (trim_ == 0) return true;
            std::int64_t size = 0;
            const std::int32_t* one = row(data_.cell[t]);
            for (std::int64_t h = 0; h < width_; ++h) size += std::abs(std::int64_t{one[h]});
            return size >= trim_;
        });
    sums_[0].resize(static_cast<std::size_t>(counted.end));
    return counted;
}

Grower::Node Grower::make_node(std::size_t layer, Range counted, Range others,
                               std::shared_ptr<const Histories> of) {
    tree_.emplace_back();
    Node node{};
    node.tree = static_cast<std::int32_t>(tree_.size()) - 1;
    node.layer = layer;
    node.counted = counted;
    node.others = others;
    node.of = std::move(of);
    return node;
}

std::size_t Grower::new_layer() {
    if (n_layers_ == layers_.size()) {
        layers_.emplace_back();
        sums_.emplace_back();
        parts_.emplace_back();
    }
    return n_layers_++;
}

// Sums the residuals of each position over all histories.
void Grower::load(const Node& root) {
    const std::int32_t* cells = layers_[root.layer].cells.data();
    const std::uint8_t* depths = data_.depth_at.data();
    const Members* members = root.of->members.data();
    Sums* sums = sums_[root.layer].data();
    const bool plain = additive();
    const std::int64_t unit = one_example();
    if (splits_positions_) parts_[root.layer].assign(static_cast<std::size_t>(root.counted.end), 1.0f);
    for (std::int64_t i = 0; i < root.counted.end; ++i) {
        const std::int32_t c = cells[i];
        if (brought_) {
            sums[i] = brought_[c];
            continue;
        }
        std::int64_t residual = 0;
        for (std::int64_t h = 0; h < width_; ++h) residual += row(c)[h];
        const auto n = static_cast<std::int64_t>(members[depths[c]].size());
        if (plain) {
            sums[i].set_position(residual, n * unit);
        } else {
            sums[i] = brought(residual, n, c);
        }
    }
}

std::unique_ptr<Histogram> Grower::take_histogram() {
    const auto size = static_cast<std::size_t>(map_->n_places()) + 1;
    if (spare_.empty()) return std::make_unique<Histogram>(size);
    std::unique_ptr<Histogram> histogram = std::move(spare_.back());
    spare_.pop_back();
    histogram->entries.assign(size, Sums{});
    return histogram;
}

// The node's totals, from its positions.
void Grower::sum_up(Node& node) const {
    const Sums* sums = sums_[node.layer].data();
    node.total = {};
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) node.total += sums[i];
}

// Counts a node by itself and finds its best split.
void Grower::study(Node& node) {
    sum_up(node);
    count_histories(node);
    if (is_large(node)) {
        node.histogram = take_histogram();
        count(node, *node.histogram, false);
        find_best(node, *node.histogram, false);
    } else {
        count(node, scratch_, true);
        find_best(node, scratch_, true);
        scratch_.clear_marked();
    }
}

// The root is counted in full; where entries are many, only those that can matter go on from there.
void Grower::study_root(Node& root) {
    map_ = &all_;
    splitter_.use(all_);
    if (!looks_up(data_)) return study(root);
    sum_up(root);
    count_histories(root);
    const bool marking = !is_large(root);
    count(root, root_, marking);
    some_.keep(data_, root_, marking, objective().min_leaf, rules_.uses_subsets());
    map_ = &some_;
    splitter_.use(some_);
    scratch_.resize(static_cast<std::size_t>(some_.n_places()) + 1);
    root.histogram = take_histogram();
    for (std::int32_t place = 0; place < some_.n_places(); ++place) {
        root.histogram->entries[place] = root_.entries[some_.entry(place)];
    }
    if (marking) {
        root_.clear_marked();
    } else {
        std::fill(root_.entries.begin(), root_.entries.end(), Sums{});
    }
    find_best(root, *root.histogram, false);
}

void Grower::count(const Node& node, Histogram& histogram, bool marking) {
    if (map_ == &some_) {
        marking ? count_as<true, true>(node, histogram) : count_as<false, true>(node, histogram);
        histogram.entries[map_->n_places()] = {};
        return;
    }
    const bool in_groups = groups_pay(node);
    if (in_groups) {
        count_grouped(node, histogram);
    } else {
        marking ? count_as<true, false>(node, histogram) : count_as<false, false>(node, histogram);
    }
    const bool skips = in_groups || data_.lists_entries();
    for (const TreeData::Slot& slot : data_.slots) {
        if (skips && slot.usual >= 0) restore_usual(node, slot, histogram, marking);
        histogram.entries[slot.absent_entry()] = {};
    }
}

// What most positions read was not counted: it is what all other entries of the slot leave of the node.
void Grower::restore_usual(const Node& node, const TreeData::Slot& slot, Histogram& histogram,
                           bool marking) const {
    const std::int32_t usual = slot.first_entry + slot.usual;
    Sums left = node.total;
    for (std::int32_t e = slot.first_entry; e < slot.end(); ++e) {
        if (e != usual) left -= histogram.entries[e];
    }
    if (left.is_zero()) return;
    histogram.entries[usual] = left;
    if (marking) histogram.mark(usual);
}

// Entries inside positions: the additions of one position go to different entries and do not wait for each
// other.
template <class Entry, class Add>
void Grower::count_listed(const Node& node, const std::vector<std::int64_t>& starts,
                          const std::vector<Entry>& list, Add add) const {
    const std::int32_t* cells = layers_[node.layer].cells.data();
    const Sums* sums = sums_[node.layer].data();
    const bool far = list.size() > (std::size_t{1} << 19);  // beyond the nearer caches
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        if (far && i + 1 < node.counted.end) {  // the next list, as far as a few lines of the cache reach
            const Entry* next = list.data() + starts[cells[i + 1]];
            for (int line = 0; line < 4; ++line) prefetch(next + 16 * line);
        }
        const Entry* entry = list.data() + starts[cells[i]];
        const Entry* end = list.data() + starts[cells[i] + 1];
        const Sums sum = sums[i];
        for (; entry < end; ++entry) add(*entry, sum);
    }
}

void Grower::count_grouped(const Node& node, Histogram& histogram) {
    grouped_.resize(static_cast<std::size_t>(groups_.n_places() + data_.n_entries));
    Sums* places = grouped_.data();
    count_listed(node, groups_.starts(), groups_.list(),
                 [&](std::int32_t place, const Sums& sum) { places[place] += sum; });
    groups_.add_up(grouped_, histogram.entries);
}

template <bool marking, bool mapped>
void Grower::count_as(const Node& node, Histogram& histogram) const {
    const std::int32_t* cells = layers_[node.layer].cells.data();
    const Sums* sums = sums_[node.layer].data();
    const std::int32_t* index = map_->index();
    Sums* entries = histogram.entries.data();
    const auto add = [&](std::int32_t entry, const Sums& sum) {
        const std::int32_t place = mapped ? index[entry] : entry;
        entries[place] += sum;
        if (marking) histogram.mark(place);
    };
    if (data_.lists_entries()) {
        count_listed(node, data_.entry_starts, data_.entry_list, add);
        return;
    }
    for (const TreeData::Slot& slot : data_.slots) {
        if (slot.column->kind != TreeData::Kind::bag) continue;
        for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
            data_.read(slot, cells[i], [&](std::int32_t code) { add(slot.first_entry + code, sums[i]); });
        }
    }
    const DenseSlot* slots = dense_.data();
    const std::size_t n_slots = dense_.size();
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t* row = data_.rows.data() + cells[i] * data_.stride;
        const Sums sum = sums[i];
        for (std::size_t s = 0; s < n_slots; ++s) add(slots[s].first_entry + row[slots[s].delta], sum);
    }
}

// Ties go to the test that comes first: attributes by id, then previous labels by lag and label, start last.
void Grower::find_best(Node& node, const Histogram& histogram, bool marked) {
    const std::uint64_t key = seed_ + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(node.tree);
    Split best = splitter_.best(histogram, marked, node.total, key);
    node.gain = best.gain;
    node.best = {};
    node.entries = std::move(best.entries);
    node.of_missing = best.of_missing;
    if (!node.entries.empty()) {
        const TreeData::Slot& slot = data_.slot_of(node.entries[0]);
        node.best.attribute = slot.id(node.entries[0]);
        for (std::size_t i = 1; i < node.entries.size(); ++i)
            node.best.alternatives.push_back(slot.id(node.entries[i]));
    }
    consider_histories(node);
}

void Grower::split(std::size_t i, bool last) {
    Node parent = std::move(nodes_[i]);
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(i));
    const bool reads = parent.best.attribute >= 0;
    auto [yes, no] = reads ? divide_positions(parent) : divide_histories(parent);
    TreeNode& tree = tree_[parent.tree];
    tree.test = parent.best;
    tree.gain = parent.gain;
    tree.if_true = yes.tree;
    tree.if_false = no.tree;
    if (last) {
        sum_up(yes);
        sum_up(no);
        if (parent.histogram) spare_.push_back(std::move(parent.histogram));
    } else if (!parent.histogram) {
        study(yes);
        study(no);
    } else if (reads) {
        study_divided_positions(parent, yes, no);
    } else {
        study_divided_histories(parent, yes, no);
    }
    if (reads && tree.true_fraction < 0) tree.true_fraction = share_of_yes(yes, no);
    for (Node* child : {&yes, &no}) {
        tree_[child->tree].value = objective().value(child->total);
        tree_[child->tree].count = child->total.count();
        nodes_.push_back(std::move(*child));
    }
}

Grower::Children Grower::divide_positions(Node& parent) {
    const TreeData::Slot& slot = data_.slot_of(parent.entries[0]);
    if (parent.entries.size() > 1) {
        in_set_.assign(static_cast<std::size_t>(slot.n_entries()), 0);
        for (const std::int32_t entry : parent.entries) in_set_[entry - slot.first_entry] = 1;
    }
    if (splits_positions_) return share_missing(parent, slot);
    if (rules_.missing == Missing::surrogate) return divide_by_surrogates(parent, slot);
    bool missing_hold = parent.of_missing == Split::Side::yes;
    CellOrder& order = layers_[parent.layer];
    const auto cut = [&](Range range, auto swapped) {
        const bool asks = slot.column->has_missing && missing_hold;
        if (parent.entries.size() == 1 && !asks) {
            return order.partition(data_, slot, parent.entries[0] - slot.first_entry, range, swapped);
        }
        return order.partition_if(
            range,
            [&](std::int32_t c) { return (asks && data_.is_missing(slot, c)) || holds(parent, slot, c); },
            swapped, [&](std::int32_t c) { data_.expect(slot, c); });
    };
    const std::int64_t counted =
        cut(parent.counted, [&](std::int64_t i, std::int64_t j) { exchange(parent.layer, i, j); });
    if (rules_.missing == Missing::learned) {
        if (parent.of_missing == Split::Side::unknown)  // then missing values follow most
            missing_hold = 2 * (counted - parent.counted.begin) >= parent.counted.size();
        tree_[parent.tree].true_fraction = missing_hold ? 1.0 : 0.0;
    }
    const std::int64_t others = cut(parent.others, [](std::int64_t, std::int64_t) {});
    Node yes =
        make_node(parent.layer, {parent.counted.begin, counted}, {parent.others.begin, others}, parent.of);
    Node no = make_node(parent.layer, {counted, parent.counted.end}, {others, parent.others.end}, parent.of);
    return {std::move(yes), std::move(no)};
}

// The larger side is what the smaller one leaves of the parent.
void Grower::study_divided_positions(Node& parent, Node& yes, Node& no) {
    const bool yes_is_smaller = yes.counted.size() <= no.counted.size();
    Node& small = yes_is_smaller ? yes : no;
    Node& large = yes_is_smaller ? no : yes;
    large.histogram = std::move(parent.histogram);
    std::vector<Sums>& left = large.histogram->entries;
    sum_up(small);
    count_histories(small);
    if (is_large(small)) {
        small.histogram = take_histogram();
        count(small, *small.histogram, false);
        find_best(small, *small.histogram, false);
        for (std::size_t e = 0; e < left.size(); ++e) left[e] -= small.histogram->entries[e];
    } else {
        count(small, scratch_, true);
        find_best(small, scratch_, true);
        scratch_.each_marked(0, map_->n_places(), [&](std::int32_t e) { left[e] -= scratch_.entries[e]; });
        scratch_.clear_marked();
    }
    large.total = parent.total - small.total;
    if (large.has_parts) {
        leave_labels_in_parts(parent, small, large);
    } else {
        large.by_label = std::move(parent.by_label);
        for (std::size_t e = 0; e < large.by_label.size(); ++e) large.by_label[e] -= small.by_label[e];
    }
    find_best(large, *large.histogram, false);
    if (!is_large(large)) spare_.push_back(std::move(large.histogram));
}

// Weighting where no value is missing: the share that missing ones would have.
double Grower::share_of_yes(const Node& yes, const Node& no) const {
    const auto size = [&](const Node& node) {
        return objective().newton ? static_cast<double>(node.total.count()) : objective().weight(node.total);
    };
    const double n_yes = size(yes), n_no = size(no);
    return n_yes + n_no > 0 ? n_yes / (n_yes + n_no) : 0.5;
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

void Grower::put_values(double step, std::int32_t* to) const {
    if (splits_positions_) std::fill(to, to + data_.n_cells() * width_, 0);  // the bits of 0.0f
    const std::uint8_t* depths = data_.depth_at.data();
    for (const Node* node : leaves_by_level()) {
        const auto value = static_cast<float>(tree_[node->tree].value * step);
        const std::int32_t* cells = layers_[node->layer].cells.data();
        const Members* members = node->of->members.data();
        if (splits_positions_) {
            const float* parts = parts_[node->layer].data();
            for (std::int64_t i = node->counted.begin; i < node->counted.end; ++i) {
                const float part = parts[i] * value;
                for (const std::int32_t h : members[depths[cells[i]]]) {
                    std::int32_t* at = to + cells[i] * width_ + h;
                    store_float(at, load_float(at) + part);
                }
            }
            continue;
        }
        for (const Range& range : {node->counted, node->others}) {
            for (std::int64_t i = range.begin; i < range.end; ++i) {
                for (const std::int32_t h : members[depths[cells[i]]])
                    store_float(to + cells[i] * width_ + h, value);
            }
        }
    }
}

}  // namespace hedgerow
