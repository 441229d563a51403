#include "trees/multi_output_grower.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trees/best_first.hpp"
#include "trees/examples.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

constexpr std::int64_t kVector = 16;
constexpr std::int64_t kWorthThreads = 1 << 20;  // additions below which a node is counted by one thread

MultiOutputGrower::MultiOutputGrower(const TreeData& data, std::int64_t n_labels, const GrowthRules& rules,
                                     const double* weights, const Group* group)
    : data_(data),
      k_(n_labels),
      half_((n_labels + kVector - 1) / kVector * kVector),
      width_(2 * half_),
      rules_(rules),
      weights_(weights),
      group_(group),
      rounding_(exact_rounding(static_cast<double>(data.n_all_positions))),
      rows_(static_cast<std::size_t>(data.n_positions * width_), 0.0f) {}

const std::vector<TreeNode>& MultiOutputGrower::grow(const float* residuals, const std::uint8_t* in_sample,
                                                     std::uint64_t seed, std::int64_t n_threads) {
    seed_ = seed;
    n_threads_ = n_threads;
    tree_.clear();
    values_.clear();
    nodes_.clear();
    load(residuals);
    Node root = make_node(select(residuals, in_sample));
    evaluate_nodes({&root});
    set_value(root);
    nodes_.push_back(std::move(root));
    split_best_first(nodes_, rules_.max_leaves,
                     [&](Node& parent, bool is_last) { return split(parent, is_last); });
    for (Node& node : nodes_) release(std::move(node.histogram));
    return tree_;
}

// Residuals and weights of each position, times the weight of the position. A multiple of 2^-24 that is at
// most 1 is exact in single precision.
void MultiOutputGrower::load(const float* residuals) {
    const bool newton = rules_.newton;
    const auto rounded = [this](float x) { return static_cast<float>((x + rounding_) - rounding_); };
    for (std::int64_t t = 0; t < data_.n_positions; ++t) {
        float* to = rows_.data() + t * width_;
        const auto counts = weights_ ? static_cast<float>(weights_[t]) : 1.0f;
        for (std::int64_t label = 0; label < k_; ++label) {
            const float r = residuals[t * k_ + label];
            const float weight = newton ? std::max(std::fabs(r) * (1 - std::fabs(r)), 0.0f) * counts : counts;
            to[label] = rounded(r * counts);
            to[half_ + label] = rounded(weight);
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

std::vector<double> MultiOutputGrower::sum_of(const Node& node) const {
    const auto add = growth_kernels().add_position;
    std::vector<double> total(static_cast<std::size_t>(width_), 0.0);
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        add(total.data(), row(data_.position[order_.cells[i]]), width_);
    }
    return total;
}

// The total of a node that is not counted.
void MultiOutputGrower::share_total(Node& node) const {
    node.total = sum_of(node);
    if (group_) sum_over_members(*group_->exchange, node.total);
}

// A histogram of the entries [first, end).
std::unique_ptr<MultiOutputGrower::RowHistogram> MultiOutputGrower::take_histogram(std::int32_t first,
                                                                                   std::int32_t end) {
    const auto n = static_cast<std::size_t>(end - first);
    std::unique_ptr<RowHistogram> histogram;
    if (spare_.empty()) {
        histogram = std::make_unique<RowHistogram>();
    } else {
        histogram = std::move(spare_.back());
        spare_.pop_back();
    }
    histogram->first = first;
    histogram->rows.resize(n * static_cast<std::size_t>(width_));
    histogram->counts.assign(n, 0);
    return histogram;
}

void MultiOutputGrower::release(std::unique_ptr<RowHistogram> histogram) {
    if (histogram) spare_.push_back(std::move(histogram));
}

// Keeps the histogram of a node if counting its positions again costs more.
void MultiOutputGrower::keep_if_large(Node& node) {
    const auto n_slots = static_cast<std::int64_t>(data_.slots.size());
    if (n_slots * node.n < data_.n_entries) release(std::move(node.histogram));
}

// work(first slot, last slot) for some slots, in as many parts as threads pay for.
template <class Work>
void MultiOutputGrower::by_slots(const Node& node, std::size_t first, std::size_t end, Work work) const {
    const auto n = static_cast<std::int64_t>(end - first);
    if (n == 0) return;
    const bool worth = node.n * n * width_ >= kWorthThreads;
    const std::int64_t parts = worth ? std::min(n_threads_, n) : 1;
    parallel_for(parts, parts, [&] {
        return [&](std::int64_t i) {
            const TreeData::Slot* slots = data_.slots.data() + first;
            work(slots + i * n / parts, slots + (i + 1) * n / parts);
        };
    });
}

// Totals and histograms of nodes, from their positions.
void MultiOutputGrower::count_nodes(Nodes nodes) {
    std::vector<Message> outgoing(group_ ? static_cast<std::size_t>(group_->exchange->size()) : 0);
    for (Node* node : nodes) {
        node->n = node->counted.size();
        node->total = sum_of(*node);
        node->histogram = take_histogram(0, data_.n_entries);
        count(*node, *node->histogram);
        if (!group_) continue;
        write_node(*node, *node->histogram, outgoing);
        release(std::move(node->histogram));
    }
    if (!group_) return;
    const std::vector<Received> incoming = group_->exchange->all_to_all(outgoing);
    std::vector<MessageReader> from = readers_of(incoming);
    for (Node* node : nodes) read_node(*node, from);
}

// What this process counted: the total to all members, and to each member the rows of its slots.
void MultiOutputGrower::write_node(const Node& node, const RowHistogram& local,
                                   std::vector<Message>& to) const {
    const EntrySlices& slices = group_->layout.slices;
    std::vector<std::int32_t> entries;
    for (std::size_t member = 0; member < to.size(); ++member) {
        MessageWriter writer(to[member]);
        writer.put(node.n);
        writer.put(node.total.data(), node.total.size());
        const auto number = static_cast<std::int64_t>(member);
        entries.clear();
        for (std::int32_t e = slices.first_entry(number); e < slices.end_entry(number); ++e) {
            if (local.counts[e] != 0) entries.push_back(e);
        }
        writer.put_list(entries);
        for (const std::int32_t e : entries) {
            writer.put(local.counts[e]);
            writer.put(local.rows.data() + e * width_, static_cast<std::size_t>(width_));
        }
    }
}

void MultiOutputGrower::read_node(Node& node, std::vector<MessageReader>& from) {
    const EntrySlices& slices = group_->layout.slices;
    const std::int64_t own = group_->layout.rank;
    const std::int32_t first = slices.first_entry(own), end = slices.end_entry(own);
    std::vector<double> part(static_cast<std::size_t>(width_));
    node.histogram = take_histogram(first, end);
    node.n = 0;
    node.total.assign(static_cast<std::size_t>(width_), 0.0);
    for (MessageReader& one : from) {
        node.n += one.get<std::int64_t>();
        one.get(part.data(), part.size());
        growth_kernels().add_row(node.total.data(), part.data(), width_);
        for (const std::int32_t e : one.get_list<std::int32_t>()) {
            MessageReader::check(e >= first && e < end);
            std::int32_t& count = node.histogram->counts[e - first];
            double* to = node.histogram->rows.data() + (e - first) * width_;
            if (count == 0) std::fill(to, to + width_, 0.0);
            count += one.get<std::int32_t>();
            one.get(part.data(), part.size());
            growth_kernels().add_row(to, part.data(), width_);
        }
    }
}

// All slots of a position before the next position, so that its row stays in the cache. The usual code of a
// slot is not counted: its sums are the total minus those of the others.
void MultiOutputGrower::count(const Node& node, RowHistogram& histogram) const {
    const GrowthKernels& kernels = growth_kernels();
    by_slots(node, 0, data_.slots.size(), [&](const TreeData::Slot* first, const TreeData::Slot* last) {
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
    double* rest = histogram.rows.data() + (slot.first_entry + slot.skipped) * width_;
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
void MultiOutputGrower::find_best(Nodes nodes) {
    Message own;
    MessageWriter to(own);
    for (Node* node : nodes) {
        const Found best = search(*node);
        node->gain = best.gain;
        node->n_yes = best.n_yes;
        node->entry = best.entry;
        to.put(best);
    }
    if (!group_) return;
    const std::vector<Received> all = group_->exchange->gather(own);
    std::vector<MessageReader> from = readers_of(all);
    for (Node* node : nodes) {
        Found best;
        for (MessageReader& one : from) {
            const Found found = one.get<Found>();
            MessageReader::check(found.entry >= -1 && found.entry < data_.n_entries);
            if (found.entry >= 0 && found.gain > best.gain) best = found;
        }
        node->gain = best.gain;
        node->n_yes = best.n_yes;
        node->entry = best.entry;
    }
}

// The best split among the slots that this process searches.
MultiOutputGrower::Found MultiOutputGrower::search(const Node& node) const {
    const std::uint64_t key = seed_ + kGoldenRatio64 * static_cast<std::uint64_t>(node.tree);
    const double before = growth_kernels().row_merit(node.total.data(), half_, rules_.l2);
    std::vector<Found> found(data_.slots.size());
    by_slots(node, first_slot(), end_slot(), [&](const TreeData::Slot* first, const TreeData::Slot* last) {
        for (const TreeData::Slot* slot = first; slot < last; ++slot)
            found[slot - data_.slots.data()] = search_slot(node, *slot, before, key);
    });
    Found best;
    for (const Found& one : found) {
        if (one.gain > best.gain) best = one;
    }
    return best;
}

MultiOutputGrower::Found MultiOutputGrower::search_slot(const Node& node, const TreeData::Slot& slot,
                                                        double before, std::uint64_t key) const {
    const GrowthKernels& kernels = growth_kernels();
    const RowHistogram& histogram = *node.histogram;
    Found best;
    const bool numeric = slot.column->kind == TreeData::Kind::numeric;
    if (numeric && !is_drawn(key, slot.first_entry, rules_.max_features)) return best;
    std::vector<double> below(numeric ? static_cast<std::size_t>(width_) : 0, 0.0);
    std::int64_t n_below = 0;
    for (std::int32_t e = slot.first_entry; e < slot.absent_entry(); ++e) {
        std::int64_t n = histogram.counts[e - histogram.first];
        if (n == 0) continue;
        const double* yes = histogram.rows.data() + (e - histogram.first) * width_;
        if (numeric && e - slot.first_entry < slot.column->n_codes) {
            kernels.add_row(below.data(), yes, width_);
            n = n_below += n;
            yes = below.data();
        } else if (!numeric && !is_drawn(key, e, rules_.max_features)) {
            continue;
        }
        if (n < rules_.min_leaf || node.n - n < rules_.min_leaf) continue;
        const double gain = kernels.split_merit(yes, node.total.data(), half_, rules_.l2) - before;
        if (gain > best.gain) best = {gain, n, e};
    }
    return best;
}

void MultiOutputGrower::evaluate_nodes(Nodes nodes) {
    count_nodes(nodes);
    find_best(nodes);
    for (Node* node : nodes) keep_if_large(*node);
}

void MultiOutputGrower::set_value(const Node& node) {
    tree_[node.tree].count = node.n;
    for (std::int64_t label = 0; label < k_; ++label) {
        const double w = rules_.l2 + std::max(node.total[half_ + label], 0.0);
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
    yes.n = parent.n_yes;
    no.n = parent.n - parent.n_yes;
    TreeNode& tree = tree_[parent.tree];
    tree.test.attribute = slot.id(parent.entry);
    tree.gain = parent.gain;
    tree.if_true = yes.tree;
    tree.if_false = no.tree;
    tree.true_fraction = static_cast<double>(yes.n) / static_cast<double>(parent.n);
    Node &small = yes.n <= no.n ? yes : no, &large = yes.n <= no.n ? no : yes;
    if (is_last) {
        share_total(small);
        subtract_total(parent, small, large);
        release(std::move(parent.histogram));
    } else if (parent.histogram) {
        evaluate_split(parent, small, large);
    } else {
        evaluate_nodes({&yes, &no});
    }
    set_value(yes);
    set_value(no);
    return {std::move(yes), std::move(no)};
}

void MultiOutputGrower::subtract_total(Node& parent, const Node& small, Node& large) {
    large.total = std::move(parent.total);
    growth_kernels().subtract_row(large.total.data(), small.total.data(), width_);
}

// Total and histogram of the larger side are those of the parent minus those of the smaller side.
void MultiOutputGrower::evaluate_split(Node& parent, Node& small, Node& large) {
    count_nodes({&small});
    const RowHistogram& part = *small.histogram;
    RowHistogram& left = *parent.histogram;
    by_slots(parent, first_slot(), end_slot(), [&](const TreeData::Slot* first, const TreeData::Slot* last) {
        for (std::int32_t e = first->first_entry - part.first; e <= (last - 1)->absent_entry() - part.first;
             ++e) {
            if (part.counts[e] == 0) continue;
            left.counts[e] -= part.counts[e];
            growth_kernels().subtract_row(left.rows.data() + e * width_, part.rows.data() + e * width_,
                                          width_);
        }
    });
    subtract_total(parent, small, large);
    large.histogram = std::move(parent.histogram);
    find_best({&small, &large});
    keep_if_large(small);
    keep_if_large(large);
}

}  // namespace hedgerow
