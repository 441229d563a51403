#include "trees/multi_output_grower.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trees/best_first.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

constexpr std::int64_t kVector = 16;
constexpr std::int64_t kWorthThreads = 1 << 20;  // additions below which a node is counted by one thread

MultiOutputGrower::MultiOutputGrower(const TreeData& data, std::int64_t n_labels, const GrowthRules& rules,
                                     const double* weights)
    : data_(data),
      k_(n_labels),
      half_((n_labels + kVector - 1) / kVector * kVector),
      width_(2 * half_),
      rules_(rules),
      weights_(weights),
      rows_(static_cast<std::size_t>(data.n_positions * width_), 0.0f) {}

const std::vector<TreeNode>& MultiOutputGrower::grow(const float* residuals, const std::uint8_t* in_sample,
                                                     std::uint64_t seed, std::int64_t n_threads) {
    seed_ = seed;
    n_threads_ = n_threads;
    tree_.clear();
    values_.clear();
    nodes_.clear();
    load(residuals);
    const Range counted = select(residuals, in_sample);
    Node root = make_node(counted);
    evaluate_node(root);
    set_value(root);
    nodes_.push_back(std::move(root));
    split_best_first(nodes_, rules_.max_leaves,
                     [&](Node& parent, bool is_last) { return split(parent, is_last); });
    for (Node& node : nodes_) {
        if (node.histogram) spare_.push_back(std::move(node.histogram));
    }
    return tree_;
}

// Residuals and weights of each position, times the weight of the position.
void MultiOutputGrower::load(const float* residuals) {
    const bool newton = rules_.newton;
    for (std::int64_t t = 0; t < data_.n_positions; ++t) {
        float* to = rows_.data() + t * width_;
        const auto counts = weights_ ? static_cast<float>(weights_[t]) : 1.0f;
        for (std::int64_t label = 0; label < k_; ++label) {
            const float r = residuals[t * k_ + label];
            to[label] = r * counts;
            to[half_ + label] = newton ? std::max(std::fabs(r) * (1 - std::fabs(r)), 0.0f) * counts : counts;
        }
    }
}

Range MultiOutputGrower::select(const float* residuals, const std::uint8_t* in_sample) {
    const double trim = std::floor(rules_.influence_trim * kResidualUnit) / kResidualUnit;
    return order_.fill(data_, [&](std::int64_t t) {
        if (in_sample && !in_sample[t]) return false;
        if (trim == 0) return true;
        double size = 0;
        for (std::int64_t label = 0; label < k_; ++label) size += std::fabs(residuals[t * k_ + label]);
        return size >= trim;
    });
}

MultiOutputGrower::Node MultiOutputGrower::make_node(Range counted) {
    tree_.emplace_back();
    values_.resize(tree_.size() * static_cast<std::size_t>(k_), 0.0f);
    Node node{};
    node.tree = static_cast<std::int32_t>(tree_.size()) - 1;
    node.counted = counted;
    return node;
}

void MultiOutputGrower::sum_up(Node& node) {
    const auto add = growth_kernels().add_row;
    node.total.assign(static_cast<std::size_t>(width_), 0.0f);
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        add(node.total.data(), row(data_.position[order_.cells[i]]), width_);
    }
}

std::unique_ptr<MultiOutputGrower::RowHistogram> MultiOutputGrower::take_histogram() {
    const auto n = static_cast<std::size_t>(data_.n_entries);
    std::unique_ptr<RowHistogram> histogram;
    if (spare_.empty()) {
        histogram = std::make_unique<RowHistogram>();
        histogram->rows.resize(n * static_cast<std::size_t>(width_));
    } else {
        histogram = std::move(spare_.back());
        spare_.pop_back();
    }
    histogram->counts.assign(n, 0);
    return histogram;
}

// work(first slot, last slot) for all slots, in as many parts as threads pay for.
template <class Work>
void MultiOutputGrower::by_slots(const Node& node, Work work) const {
    const auto n = static_cast<std::int64_t>(data_.slots.size());
    const bool worth = node.counted.size() * n * width_ >= kWorthThreads;
    const std::int64_t parts = worth ? std::min(n_threads_, n) : 1;
    parallel_for(parts, parts, [&] {
        return [&](std::int64_t i) {
            const TreeData::Slot* slots = data_.slots.data();
            work(slots + i * n / parts, slots + (i + 1) * n / parts);
        };
    });
}

// All slots of a position before the next position, so that its row stays in the cache. The usual code of a
// slot is not counted: its sums are the total minus those of the others.
void MultiOutputGrower::count(const Node& node, RowHistogram& histogram) const {
    const GrowthKernels& kernels = growth_kernels();
    by_slots(node, [&](const TreeData::Slot* first, const TreeData::Slot* last) {
        std::vector<ReadSlot> dense;
        std::vector<const TreeData::Slot*> bags;
        std::vector<std::int32_t> codes;
        for (const TreeData::Slot* slot = first; slot < last; ++slot) {
            if (slot->column->kind == TreeData::Kind::bag) {
                bags.push_back(slot);
            } else {
                dense.push_back({static_cast<std::int64_t>(dense.size()), slot->first_entry, slot->usual});
            }
        }
        for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
            const std::int32_t c = order_.cells[i];
            const float* from = row(data_.position[c]);
            codes.clear();
            for (const TreeData::Slot* slot = first; slot < last; ++slot) {
                if (slot->column->kind != TreeData::Kind::bag) codes.push_back(data_.code(*slot, c));
            }
            kernels.count_row(dense.data(), static_cast<std::int64_t>(dense.size()), codes.data(), from,
                              width_, histogram.rows.data(), histogram.counts.data());
            for (const TreeData::Slot* slot : bags) {
                data_.read(*slot, c, [&](std::int32_t code) {
                    const ReadSlot one{0, slot->first_entry, -1};
                    kernels.count_row(&one, 1, &code, from, width_, histogram.rows.data(),
                                      histogram.counts.data());
                });
            }
        }
        for (const ReadSlot& slot : dense) restore_usual(node, slot, histogram);
        for (const TreeData::Slot* slot = first; slot < last; ++slot)
            histogram.counts[slot->absent_entry()] = 0;
    });
}

void MultiOutputGrower::restore_usual(const Node& node, const ReadSlot& slot, RowHistogram& histogram) const {
    if (slot.skipped < 0) return;
    float* rest = histogram.rows.data() + (slot.first_entry + slot.skipped) * width_;
    std::copy(node.total.begin(), node.total.end(), rest);
    auto left = static_cast<std::int32_t>(node.counted.size());
    for (std::int32_t e = slot.first_entry; e <= data_.slot_of(slot.first_entry).absent_entry(); ++e) {
        if (histogram.counts[e] == 0) continue;
        left -= histogram.counts[e];
        growth_kernels().subtract_row(rest, histogram.rows.data() + e * width_, width_);
    }
    histogram.counts[slot.first_entry + slot.skipped] = left;
}

// Of equal gains the first entry wins.
void MultiOutputGrower::find_best(Node& node, const RowHistogram& histogram) {
    const GrowthKernels& kernels = growth_kernels();
    const std::uint64_t key = seed_ + kGoldenRatio64 * static_cast<std::uint64_t>(node.tree);
    const double before = kernels.row_merit(node.total.data(), half_, rules_.l2);
    struct Found {
        double gain = 0;
        std::int32_t entry = -1;
    };
    std::vector<Found> found(data_.slots.size());
    const auto search = [&](const TreeData::Slot& slot, Found& best) {
        const bool numeric = slot.column->kind == TreeData::Kind::numeric;
        if (numeric && !is_drawn(key, slot.first_entry, rules_.max_features)) return;
        std::vector<float> below(numeric ? static_cast<std::size_t>(width_) : 0, 0.0f);
        std::int64_t n_below = 0;
        for (std::int32_t e = slot.first_entry; e < slot.absent_entry(); ++e) {
            std::int64_t n = histogram.counts[e];
            if (n == 0) continue;
            const float* yes = histogram.rows.data() + e * width_;
            if (numeric && e - slot.first_entry < slot.column->n_codes) {
                kernels.add_row(below.data(), yes, width_);
                n = n_below += n;
                yes = below.data();
            } else if (!numeric && !is_drawn(key, e, rules_.max_features)) {
                continue;
            }
            if (n < rules_.min_leaf || node.counted.size() - n < rules_.min_leaf) continue;
            const double gain = kernels.split_merit(yes, node.total.data(), half_, rules_.l2) - before;
            if (gain > best.gain) best = {gain, e};
        }
    };
    by_slots(node, [&](const TreeData::Slot* first, const TreeData::Slot* last) {
        for (const TreeData::Slot* slot = first; slot < last; ++slot)
            search(*slot, found[slot - data_.slots.data()]);
    });
    for (const Found& one : found) {
        if (one.gain > node.gain) {
            node.gain = one.gain;
            node.entry = one.entry;
        }
    }
}

void MultiOutputGrower::evaluate_node(Node& node) {
    sum_up(node);
    node.histogram = take_histogram();
    count(node, *node.histogram);
    find_best(node, *node.histogram);
    if (!is_large(node)) spare_.push_back(std::move(node.histogram));
}

void MultiOutputGrower::set_value(const Node& node) {
    tree_[node.tree].count = node.counted.size();
    for (std::int64_t label = 0; label < k_; ++label) {
        const double w = rules_.l2 + std::max(node.total[half_ + label], 0.0f);
        const double v = w > 0 ? node.total[label] / w : 0.0;
        values_[node.tree * k_ + label] = static_cast<float>(
            rules_.newton ? std::fmin(std::fmax(v, -rules_.max_step), rules_.max_step) : v);
    }
}

std::pair<MultiOutputGrower::Node, MultiOutputGrower::Node> MultiOutputGrower::split(Node& parent,
                                                                                     bool is_last) {
    const TreeData::Slot& slot = data_.slot_of(parent.entry);
    const std::int64_t middle = order_.partition(data_, slot, parent.entry - slot.first_entry, parent.counted,
                                                 [](std::int64_t, std::int64_t) {});
    Node yes = make_node({parent.counted.begin, middle});
    Node no = make_node({middle, parent.counted.end});
    TreeNode& tree = tree_[parent.tree];
    tree.test.attribute = slot.id(parent.entry);
    tree.gain = parent.gain;
    tree.if_true = yes.tree;
    tree.if_false = no.tree;
    tree.true_fraction = static_cast<double>(yes.counted.size()) / static_cast<double>(parent.counted.size());
    if (is_last) {
        sum_up(yes);
        sum_up(no);
        if (parent.histogram) spare_.push_back(std::move(parent.histogram));
    } else if (parent.histogram) {
        evaluate_split(parent, yes, no);
    } else {
        evaluate_node(yes);
        evaluate_node(no);
    }
    set_value(yes);
    set_value(no);
    return {std::move(yes), std::move(no)};
}

// The histogram of the larger side is that of the parent minus that of the smaller side; its total is summed
// anew.
void MultiOutputGrower::evaluate_split(Node& parent, Node& yes, Node& no) {
    const bool yes_is_smaller = yes.counted.size() <= no.counted.size();
    Node& small = yes_is_smaller ? yes : no;
    Node& large = yes_is_smaller ? no : yes;
    sum_up(small);
    std::unique_ptr<RowHistogram> part = take_histogram();
    count(small, *part);
    find_best(small, *part);
    RowHistogram& left = *parent.histogram;
    by_slots(parent, [&](const TreeData::Slot* first, const TreeData::Slot* last) {
        for (std::int32_t e = first->first_entry; e <= (last - 1)->absent_entry(); ++e) {
            if (part->counts[e] == 0) continue;
            left.counts[e] -= part->counts[e];
            growth_kernels().subtract_row(left.rows.data() + e * width_, part->rows.data() + e * width_,
                                          width_);
        }
    });
    if (is_large(small)) {
        small.histogram = std::move(part);
    } else {
        spare_.push_back(std::move(part));
    }
    sum_up(large);
    large.histogram = std::move(parent.histogram);
    find_best(large, *large.histogram);
    if (!is_large(large)) spare_.push_back(std::move(large.histogram));
}

}  // namespace hedgerow
