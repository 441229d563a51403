#include "grower.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hedgerow {

// Whether a tree looks up which entries it can use: where they are many, and most of them in few positions.
static bool looks_up(const TreeData& data) {
    return data.n_entries > TreeData::kFewEntries && data.entry_starts.empty();
}

constexpr std::size_t kMostSpare = 16;  // histograms kept for the next tree

Grower::Grower(const TreeData& data, std::int64_t n_labels, std::int64_t order, const GrowthRules& rules,
               const double* weights)
    : data_(data),
      k_(n_labels),
      order_(order),
      rules_(rules),
      weights_(weights),
      splitter_(data, rules.split),
      all_(data),
      some_(data),
      map_(&all_),
      scratch_(static_cast<std::size_t>(data.n_entries) + 1),
      root_(looks_up(data) ? static_cast<std::size_t>(data.n_entries) + 1 : 0),
      by_label_(static_cast<std::size_t>(n_labels) + 1),
      part_by_label_(static_cast<std::size_t>(n_labels) + 1) {
    auto n_reads = static_cast<std::int64_t>(data.entry_list.size());
    if (data.entry_starts.empty()) {
        for (const TreeData::Slot& slot : data.slots) {
            const bool bag = slot.column->kind == TreeData::Kind::bag;
            n_reads += bag ? static_cast<std::int64_t>(slot.column->bag.size()) : data.n_positions;
        }
    }
    for (const TreeData::Slot& slot : data.slots) {
        if (slot.column->kind != TreeData::Kind::bag)
            dense_.push_back({slot.offset * data.stride + slot.column->at, slot.first_entry});
    }
    for (const TreeData::Column& column : data.columns)
        parts_positions_ |= column.has_missing && rules.split.missing == Missing::weighting;
    reads_ = static_cast<double>(n_reads) / static_cast<double>(data.n_positions);
}

const std::vector<TreeNode>& Grower::grow(const std::int32_t* residuals, std::int64_t width,
                                          const std::uint8_t* in_sample, std::uint64_t seed) {
    residuals_ = residuals;
    width_ = width;
    seed_ = seed;
    tree_.clear();
    nodes_.clear();
    n_layers_ = 0;
    const Range counted = select(in_sample);
    Node root = make_node(0, counted, {counted.end, parts_positions_ ? counted.end : data_.n_positions},
                          std::make_shared<Histories>(HistorySet(k_, order_), order_, objective().newton));
    load(root);
    if (parts_positions_) root.n = count_examples(root, counted);
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
        !in_sample && rules_.trim == 0 ? first.fill(data_) : first.fill(data_, [&](std::int64_t t) {
            if (in_sample && !in_sample[t]) return false;
            if (rules_.trim == 0) return true;
            std::int64_t size = 0;
            const std::int32_t* one = row(data_.cell[t]);
            for (std::int64_t h = 0; h < width_; ++h) size += std::abs(std::int64_t{one[h]});
            return size >= rules_.trim;
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
    if (parts_positions_) parts_[root.layer].assign(static_cast<std::size_t>(root.counted.end), 1.0f);
    for (std::int64_t i = 0; i < root.counted.end; ++i) {
        const std::int32_t c = cells[i];
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
    some_.keep(data_, root_, marking, objective().min_leaf, rules_.split.subsets);
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
    const bool in_pairs = pairs_pay(node);
    if (in_pairs) {
        count_paired(node, histogram);
    } else {
        marking ? count_as<true, false>(node, histogram) : count_as<false, false>(node, histogram);
    }
    const bool skips = in_pairs || !data_.entry_starts.empty();
    for (const TreeData::Slot& slot : data_.slots) {
        if (skips && slot.usual >= 0) restore_usual(node, slot, histogram, marking);
        histogram.entries[slot.nothing()] = {};
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

// Counts what pairs of slots read, and adds up for each slot what its partner reads beside it.
void Grower::count_paired(const Node& node, Histogram& histogram) {
    paired_.resize(static_cast<std::size_t>(data_.n_paired + data_.n_entries));
    Sums *table = paired_.data(), *entries = histogram.entries.data();
    count_listed(node, data_.paired_starts, data_.paired_list,
                 [&](std::int32_t place, const Sums& sum) { table[place] += sum; });
    for (const TreeData::Pair& pair : data_.pairs) {
        Sums* second = entries + pair.second;
        for (std::int32_t i = 0; i < pair.n_first; ++i, table += pair.n_second) {
            Sums row;
            for (std::int32_t j = 0; j < pair.n_second; ++j) {
                row += table[j];
                second[j] += table[j];
            }
            entries[pair.first + i] += row;
        }
    }
    for (std::int32_t e = 0; e < data_.n_entries; ++e) entries[e] += table[e];
    std::fill(paired_.begin(), paired_.end(), Sums{});
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
    if (!data_.entry_starts.empty()) {
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

// For each lag and label: the sums where the previous label is that one, and where it is another. Histories
// are a product set, so each label that a lag allows has as many examples as any other.
void Grower::count_histories(Node& node) {
    if (!node.of->divisible) return;
    node.by_label.assign(static_cast<std::size_t>(label_entry(order_, 0)), Sums{});
    const std::int32_t* cells = layers_[node.layer].cells.data();
    if (node.has_parts) return count_histories_of_parts(node);
    if (!additive()) {
        const bool narrow = objective().newton && order_ == 1 && width_ <= 8 && !weights_;
        std::int64_t n = node.counted.size();
        const std::int32_t* one_by_one = cells + node.counted.begin;
        if (narrow) {
            n = count_narrow(node, one_by_one, n);
            one_by_one = others_.data();
        }
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int32_t c = one_by_one[i];
            add_labels(node, data_.depth_at[c], row(c), by_label_,
                       [&](std::int64_t entry, std::int64_t residual, std::int64_t n_examples) {
                           node.by_label[entry] += objective().position(residual, n_examples, counts(c));
                       });
        }
        return;
    }
    // Sums over positions first, all those with as many labels before them together.
    columns_.assign(static_cast<std::size_t>((order_ + 1) * width_), 0);
    n_cells_.assign(static_cast<std::size_t>(order_) + 1, 0);
    tree_kernels().sum_columns(cells + node.counted.begin, node.counted.size(), data_.depth_at.data(), order_,
                               residuals_, width_, columns_.data(), n_cells_.data());
    for (std::int64_t m = 0; m <= order_; ++m) {
        if (n_cells_[m] == 0) continue;
        add_labels(node, m, columns_.data() + m * width_, by_label_,
                   [&](std::int64_t entry, std::int64_t residual, std::int64_t n_examples) {
                       const Sums one = one_position(0, n_examples * one_example());
                       node.by_label[entry] += Sums{residual, one.packed * n_cells_[m]};
                   });
    }
}

// The same for many cells at once, where rows are narrow; returns how many cells, in others_, are left to
// count.
std::int64_t Grower::count_narrow(Node& node, const std::int32_t* cells, std::int64_t n) {
    const HistorySet& set = node.of->set;
    std::int64_t allowed[8] = {}, out[4 * 8];
    std::int64_t n_allowed = 0;
    for (std::int64_t v = 0; v < k_; ++v) {
        allowed[v] = set.allowed(0, v) ? -1 : 0;
        n_allowed += set.allowed(0, v);
    }
    others_.resize(static_cast<std::size_t>(n));
    const std::int64_t left = tree_kernels().newton_columns(
        cells, n, data_.depth_at.data(), residuals_, width_, allowed, kCountShift, out, others_.data());
    for (std::int64_t v = 0; v < k_ && n > left; ++v) {
        if (!allowed[v] || set.size(0) < 2) continue;
        Sums* entry = node.by_label.data() + label_entry(0, v);
        entry[0] += Sums{out[v], out[width_ + v]};
        if (n_allowed > 1) entry[1] += Sums{out[2 * width_ + v], out[3 * width_ + v]};
    }
    return left;
}

// The residuals of positions with m labels before them, summed by history, summed by label:
// put(entry, residual, examples) for each entry that they bring something to. by_label: room for the sums.
template <class Column, class Real, class Put>
void Grower::add_labels(const Node& node, std::int64_t m, const Column* columns, std::vector<Real>& by_label,
                        Put put) const {
    const Members& members = node.of->members[m];
    const auto n_members = static_cast<std::int64_t>(members.size());
    Real all = 0;
    for (const std::int32_t h : members) all += columns[h];
    for (std::int64_t lag = 0; lag < order_; ++lag) {
        if (node.of->set.size(lag) < 2) continue;
        if (lag >= m) {
            put(label_entry(lag, k_), all, n_members);
            continue;
        }
        std::fill(by_label.begin(), by_label.end(), Real{0});
        for (const std::int32_t h : members)
            by_label[m == 1 ? h : node.of->set.label(h, m, lag)] += columns[h];
        const std::int64_t n_values = node.of->set.size(lag) - node.of->set.allowed(lag, k_);
        const std::int64_t part = n_members / std::max<std::int64_t>(n_values, 1);
        for (std::int64_t v = 0; v < k_; ++v) {
            if (!node.of->set.allowed(lag, v)) continue;
            const std::int64_t entry = label_entry(lag, v);
            put(entry, by_label[v], part);
            if (n_members > part) put(entry + 1, all - by_label[v], n_members - part);
        }
    }
}

// The same where positions are there in parts.
void Grower::count_histories_of_parts(Node& node) {
    node.in_parts.assign(node.by_label.size(), PartSums{});
    const std::int32_t* cells = layers_[node.layer].cells.data();
    const Sums* sums = sums_[node.layer].data();
    const float* parts = parts_[node.layer].data();
    if (objective().newton && order_ == 1 && k_ <= 8) {
        count_narrow_parts(node);
    } else if (objective().newton) {
        for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
            const std::int32_t c = cells[i];
            const double part = counts(c) * parts[i];
            const auto counted = static_cast<double>(sums[i].count());
            add_labels(node, data_.depth_at[c], row(c), by_label_,
                       [&](std::int64_t entry, std::int64_t residual, std::int64_t) {
                           const double r = static_cast<double>(residual) / kResidualUnit;
                           PartSums& to = node.in_parts[entry];
                           to.residual += part * r;
                           to.weight += part * curvature(r);
                           to.count += counted;
                       });
        }
    } else {
        part_columns_.assign(static_cast<std::size_t>((order_ + 1) * (width_ + 2)), 0.0);
        for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
            const std::int32_t c = cells[i];
            const double part = counts(c) * parts[i];
            double* to = part_columns_.data() + data_.depth_at[c] * (width_ + 2);
            for (std::int64_t h = 0; h < width_; ++h) to[h] += part * row(c)[h];
            to[width_] += part;
            to[width_ + 1] += static_cast<double>(sums[i].count());
        }
        for (std::int64_t m = 0; m <= order_; ++m) {
            const double* of = part_columns_.data() + m * (width_ + 2);
            if (of[width_] == 0) continue;
            add_labels(node, m, of, part_by_label_,
                       [&](std::int64_t entry, double residual, std::int64_t n_examples) {
                           PartSums& to = node.in_parts[entry];
                           to.residual += residual / kResidualUnit;
                           to.weight += of[width_] * static_cast<double>(n_examples);
                           to.count += of[width_ + 1];
                       });
        }
    }
    round_labels(node);
}

// Newton's, of order 1, where labels are few: without asking for each position which ones there are.
void Grower::count_narrow_parts(Node& node) {
    const std::int32_t* cells = layers_[node.layer].cells.data();
    const Sums* sums = sums_[node.layer].data();
    const float* parts = parts_[node.layer].data();
    double allowed[8] = {}, r_one[8] = {}, w_one[8] = {}, r_rest[8] = {}, w_rest[8] = {};
    double n_counted = 0, n_allowed = 0;
    for (std::int64_t v = 0; v < k_; ++v) n_allowed += allowed[v] = node.of->set.allowed(0, v) ? 1.0 : 0.0;
    PartSums at_start;
    const double unit = 1 / kResidualUnit;
    const std::int64_t k = k_;
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = cells[i];
        const std::int32_t* residuals = row(c);
        const double part = counts(c) * parts[i];
        const auto counted = static_cast<double>(sums[i].count());
        if (data_.depth_at[c] == 0) {
            const double r = residuals[0] * unit;
            at_start.residual += part * r;
            at_start.weight += part * curvature(r);
            at_start.count += counted;
            continue;
        }
        double all = 0;
        for (std::int64_t v = 0; v < k; ++v) all += allowed[v] * residuals[v];
        all *= unit;
        n_counted += counted;
#pragma omp simd
        for (std::int64_t v = 0; v < k; ++v) {
            const double r = residuals[v] * unit, rest = all - r;
            r_one[v] += part * r;
            w_one[v] += part * curvature(r);
            r_rest[v] += part * rest;
            w_rest[v] += part * curvature(rest);
        }
    }
    if (node.of->set.size(0) < 2) return;
    for (std::int64_t v = 0; v < k_; ++v) {
        if (allowed[v] == 0) continue;
        PartSums* to = node.in_parts.data() + label_entry(0, v);
        to[0] = {r_one[v], w_one[v], n_counted};
        if (n_allowed > 1) to[1] = {r_rest[v], w_rest[v], n_counted};
    }
    if (node.of->set.allowed(0, k_)) node.in_parts[label_entry(0, k_)] = at_start;
}

void Grower::round_labels(Node& node) const {
    for (std::size_t e = 0; e < node.in_parts.size(); ++e) {
        const PartSums& of = node.in_parts[e];
        const auto weight = std::llrint(std::max(of.weight, 0.0) * objective().weight_unit);
        node.by_label[e] = {std::llrint(of.residual * kResidualUnit),
                            (std::llrint(of.count) << kCountShift) + weight};
    }
}

// What the smaller side of a split leaves to the larger one.
void Grower::leave_labels_in_parts(Node& parent, const Node& small, Node& large) {
    large.by_label = std::move(parent.by_label);
    large.in_parts = std::move(parent.in_parts);
    if (large.in_parts.empty()) {
        for (const Sums& sums : large.by_label)
            large.in_parts.push_back(
                {objective().residual(sums), objective().weight(sums), static_cast<double>(sums.count())});
    }
    for (std::size_t e = 0; e < large.in_parts.size(); ++e) {
        large.in_parts[e].residual -= small.in_parts[e].residual;
        large.in_parts[e].weight -= small.in_parts[e].weight;
        large.in_parts[e].count -= small.in_parts[e].count;
    }
    round_labels(large);
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
        node.best.id = slot.id(node.entries[0]);
        for (std::size_t i = 1; i < node.entries.size(); ++i)
            node.best.others.push_back(slot.id(node.entries[i]));
    }
    consider_histories(node);
}

// Of a split on a previous label, positions may be on both sides: the number of each side is its own.
void Grower::consider_histories(Node& node) {
    const double before = objective().merit(node.total);
    for (std::int64_t lag = 0; lag < order_; ++lag) {
        if (node.of->set.size(lag) < 2) continue;
        if (rules_.split.subsets) {
            consider_label_sets(node, lag);
            continue;
        }
        const Sums at_start = node.by_label[label_entry(lag, k_)];
        for (std::int64_t v = 0; v <= k_; ++v) {
            if (!node.of->set.allowed(lag, v)) continue;
            const Sums* entry = node.by_label.data() + label_entry(lag, v);
            Sums no = v < k_ ? entry[1] : node.total;
            // Where the lag reaches beyond the start, all examples of the position are on one side.
            if (v < k_) {
                no += at_start;
            } else {
                no -= at_start;
            }
            const double gain = objective().gain(entry[0], no, before);
            if (gain > node.gain) {
                node.gain = gain;
                node.best = {-1, static_cast<std::int32_t>(lag), static_cast<std::int32_t>(v), {}};
            }
        }
    }
}

// Sets of labels: in the order of their heights, every prefix against the rest, counted exactly.
void Grower::consider_label_sets(Node& node, std::int64_t lag) {
    const HistorySet& set = node.of->set;
    std::vector<std::int32_t> labels;
    for (std::int32_t v = 0; v <= k_; ++v) {
        if (set.allowed(lag, v) && node.by_label[label_entry(lag, v)].packed != 0) labels.push_back(v);
    }
    const auto height = [&](std::int32_t v) {
        const Sums& sums = node.by_label[label_entry(lag, v)];
        return objective().residual(sums) / (objective().weight(sums) + 1e-3);
    };
    std::stable_sort(labels.begin(), labels.end(), [&](auto a, auto b) { return height(a) > height(b); });
    std::vector<std::size_t> rank(static_cast<std::size_t>(k_) + 1, labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) rank[labels[i]] = i;
    std::vector<std::vector<std::size_t>> ranks(node.of->members.size());  // of the members, by depth
    for (std::size_t m = 0; m < ranks.size(); ++m) {
        for (const std::int32_t h : node.of->members[m]) {
            ranks[m].push_back(rank[set.label(h, static_cast<std::int64_t>(m), lag)]);
        }
    }
    std::vector<Sums> yes(labels.size()), no(labels.size());
    std::vector<std::int64_t> residual(labels.size() + 1), examples(labels.size() + 1);
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = layers_[node.layer].cells[i];
        const std::int32_t depth = data_.depth_at[c];
        const Members& members = node.of->members[depth];
        std::fill(residual.begin(), residual.end(), 0);
        std::fill(examples.begin(), examples.end(), 0);
        std::int64_t all = 0;
        for (std::size_t j = 0; j < members.size(); ++j) {
            const std::int64_t r = row(c)[members[j]];
            residual[ranks[depth][j]] += r;
            ++examples[ranks[depth][j]];
            all += r;
        }
        const auto n_all = static_cast<std::int64_t>(members.size());
        std::int64_t sum = 0, n = 0;
        for (std::size_t r = 0; r < labels.size(); ++r) {
            sum += residual[r];
            n += examples[r];
            if (n > 0) yes[r] += brought(sum, n, c);
            if (n < n_all) no[r] += brought(all - sum, n_all - n, c);
        }
    }
    const double before = objective().merit(node.total);
    for (std::size_t r = 0; r + 1 < labels.size(); ++r) {
        const double gain = objective().gain(yes[r], no[r], before);
        if (!(gain > node.gain)) continue;
        node.gain = gain;
        std::vector<std::int32_t> chosen(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(r) + 1);
        std::sort(chosen.begin(), chosen.end());
        node.best = {-1, static_cast<std::int32_t>(lag), chosen[0], {chosen.begin() + 1, chosen.end()}};
    }
}

void Grower::split(std::size_t i, bool last) {
    Node parent = std::move(nodes_[i]);
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(i));
    const bool reads = parent.best.id >= 0;
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
    if (reads && tree_[parent.tree].share < 0) tree_[parent.tree].share = share_of_missing(parent, yes, no);
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
    if (parts_positions_) return share_missing(parent, slot);
    if (rules_.split.missing == Missing::surrogate) return divide_by_surrogates(parent, slot);
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
    if (rules_.split.missing == Missing::learned && parent.of_missing == Split::Side::unknown) {
        missing_hold =
            2 * (counted - parent.counted.begin) >= parent.counted.size();  // the others follow most
        tree_[parent.tree].share = missing_hold ? 1.0 : 0.0;
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

Grower::Children Grower::divide_histories(Node& parent) {
    const std::int64_t lag = parent.best.lag;
    const HistorySet& set = parent.of->set;
    const std::size_t layer = new_layer();
    const CellOrder& from = layers_[parent.layer];
    CellOrder& to = layers_[layer];
    const std::int64_t n = parent.counted.size(), n_all = n + parent.others.size();
    to.cells.resize(static_cast<std::size_t>(n_all));
    to.indexed = from.indexed;
    to.where.resize(data_.position.size());
    for (std::int64_t i = n; i < n_all; ++i) to.place(i, from.cells[parent.others.begin + i - n]);
    sums_[layer].resize(static_cast<std::size_t>(n));
    const Test& test = parent.best;
    Node yes = make_node(
        layer, {0, n}, {n, n_all},
        std::make_shared<Histories>(set.only(lag, test.label, test.others), order_, objective().newton));
    Node no = make_node(
        parent.layer, parent.counted, parent.others,
        std::make_shared<Histories>(set.without(lag, test.label, test.others), order_, objective().newton));
    if (parts_positions_) parts_[layer].resize(static_cast<std::size_t>(n));
    yes.has_parts = no.has_parts = parent.has_parts;
    load_both(yes, no);
    if (parts_positions_) {
        for (Node* child : {&yes, &no}) child->n = count_examples(*child, child->counted);
    }
    return {std::move(yes), std::move(no)};
}

// The positions of `no` shared out: each side keeps those where it has an example.
void Grower::load_both(Node& yes, Node& no) {
    const Members *in = yes.of->members.data(), *out = no.of->members.data();
    const auto size = [](const Members& members) { return static_cast<std::int64_t>(members.size()); };
    if (additive() && !yes.has_parts && order_ == 1 &&
        size(in[1]) == 1) {  // the usual case, without a loop or a branch
        const std::int64_t n_in[] = {size(in[0]), 1}, n_out[] = {size(out[0]), size(out[1])};
        const std::int64_t unit = one_example();
        share_out(
            yes, no,
            [&, label = in[1][0], all = residuals_, width = width_, unit](
                std::int32_t c, std::int64_t depth, const Sums& both, double, Sums& to_yes, Sums& to_no) {
                const std::int64_t rest = both.residual;
                const std::int64_t residual = n_in[depth] * all[c * width + depth * label];
                to_yes.set_position(residual, n_in[depth] * unit);
                to_no.set_position(rest - residual, n_out[depth] * unit);
            });
        return;
    }
    const auto over = [&](const Members& members, std::int32_t c) {
        std::int64_t residual = 0;
        for (const std::int32_t h : members) residual += row(c)[h];
        return residual;
    };
    if (yes.has_parts) {
        share_out(yes, no,
                  [&](std::int32_t c, std::int64_t depth, const Sums& both, double part, Sums& to_yes,
                      Sums& to_no) {
                      const std::int64_t counted = both.count();
                      to_yes = brought(over(in[depth], c), size(in[depth]), c, part, counted);
                      to_no = brought(over(out[depth], c), size(out[depth]), c, part, counted);
                  });
        return;
    }
    share_out(yes, no,
              [&](std::int32_t c, std::int64_t depth, const Sums& both, double, Sums& to_yes, Sums& to_no) {
                  const std::int64_t residual = over(in[depth], c), rest = both.residual - residual;
                  to_yes = brought(residual, size(in[depth]), c);
                  to_no = brought(weights_ ? over(out[depth], c) : rest, size(out[depth]), c);
              });
}

// bring(cell, depth, what it brought before, how much of it is there, yes, no) writes what both sides have of
// a position; `no` may be what it brought before. What a side does not keep is written too, and the next one
// over it: that is quicker than to ask.
template <class Bring>
void Grower::share_out(Node& yes, Node& no, Bring bring) {
    CellOrder& to_no = layers_[no.layer];
    CellOrder& to_yes = layers_[yes.layer];
    std::int32_t *yes_cells = to_yes.cells.data(), *yes_where = to_yes.where.data();
    Sums *yes_sums = sums_[yes.layer].data(), *no_sums = sums_[no.layer].data();
    const std::uint8_t *depths = data_.depth_at.data(), *yes_has = yes.of->has.data(),
                       *no_has = no.of->has.data();
    const std::int64_t end = no.counted.end;
    const bool indexed = to_yes.indexed;
    float *yes_parts = parts_[yes.layer].data(), *no_parts = parts_[no.layer].data();
    std::int64_t i = 0, j = no.counted.begin;
    for (std::int64_t at = j; at < end; ++at) {
        const std::int32_t c = to_no.cells[at];
        const float part = parts_positions_ ? no_parts[at] : 1.0f;
        bring(c, depths[c], no_sums[at], part, yes_sums[i], no_sums[j]);
        if (parts_positions_) yes_parts[i] = no_parts[j] = part;
        yes_cells[i] = c;
        if (indexed) yes_where[c] = static_cast<std::int32_t>(i);
        if (j != at) to_no.place(j, c);
        i += yes_has[depths[c]];
        j += no_has[depths[c]];
    }
    yes.counted.end = i;
    no.counted.end = j;
}

void Grower::study_divided_histories(Node& parent, Node& yes, Node& no) {
    if (!additive() || parent.has_parts || !parent.best.others.empty() || !is_large(yes)) {
        spare_.push_back(std::move(parent.histogram));
        study(yes);
        study(no);
        return;
    }
    study(yes);
    // Residuals and examples of the rest are what is left. Its positions are all there were while the lag
    // allows another label; those where it was the last one have gone to `yes`.
    const std::int64_t lag = parent.best.lag;
    const bool shared =
        parent.best.label < k_ && no.of->set.size(lag) > (no.of->set.allowed(lag, k_) ? 1 : 0);
    const auto take = [&](Sums& from, const Sums& part) {
        from -= part;
        if (shared) from.packed += part.count() << kCountShift;
    };
    no.histogram = std::move(parent.histogram);
    no.total = parent.total;
    take(no.total, yes.total);
    for (std::int32_t e = 0; e < map_->n_places(); ++e) {
        take(no.histogram->entries[e], yes.histogram->entries[e]);
    }
    if (order_ == 1) {
        leave_labels(parent, no);
    } else {
        count_histories(no);
    }
    find_best(no, *no.histogram, false);
}

// Order 1: what is left of the sums by label when one label goes. Every position that has another label keeps
// it.
void Grower::leave_labels(Node& parent, Node& no) const {
    if (!no.of->divisible) return;
    no.by_label = std::move(parent.by_label);
    const std::int64_t gone = parent.best.label;
    Sums& part = no.by_label[label_entry(0, gone)];
    const std::int64_t left = no.of->set.size(0) - no.of->set.allowed(0, k_);
    for (std::int64_t v = 0; v < k_ && gone < k_; ++v) {
        Sums& others = no.by_label[label_entry(0, v) + 1];
        others = left > 1 ? others - Sums{part.residual, part.raw_weight()} : Sums{};
    }
    part = {};
}

}  // namespace hedgerow
