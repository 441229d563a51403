#include "trees/grower.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>

#include "trees/best_first.hpp"
#include "trees/fractional_partitioner.hpp"
#include "trees/group_evaluator.hpp"
#include "trees/local_evaluator.hpp"
#include "util/small_constant.hpp"

namespace hedgerow {
namespace {

std::unique_ptr<NodeEvaluator> make_evaluator(const Examples& examples, const Layers& layers,
                                              HistogramBuilder& histograms, const GrowthRules& rules,
                                              const Group* group) {
    if (group) return std::make_unique<GroupEvaluator>(examples, layers, histograms, rules, *group);
    return std::make_unique<LocalEvaluator>(examples, layers, histograms, rules);
}

}  // namespace

Grower::Grower(const TreeData& data, std::int64_t n_labels, const GrowthRules& rules, const Packing& packing,
               const double* weights, const GroupLayout* layout)
    : data_(data),
      rules_(rules),
      trim_(rules.trims_positions() ? units_of_residual(rules.influence_trim) : 0),
      splits_positions_(splits_positions(data, rules.missing)),
      examples_{data,     Objective{rules.l2, rules.newton, rules.max_step, rules.min_leaf, packing},
                n_labels, data.order,
                weights,  rules.leaves_out_examples()},
      histograms_(data, rules, layout ? layout->lists_entries : data.lists_entries()),
      group_(layout ? std::make_unique<Group>(*layout) : nullptr),
      evaluator_(make_evaluator(examples_, layers_, histograms_, rules, group_.get())),
      partitioner_(make_partitioner(examples_, layers_, histograms_, rules, group_.get())),
      label_partitioner_(examples_, layers_, splits_positions_) {
    examples_.choose_rounding();
}

const std::vector<TreeNode>& Grower::grow(const std::int32_t* residuals, std::int64_t width,
                                          const std::uint8_t* in_sample, std::uint64_t seed) {
    examples_.residuals = residuals;
    examples_.sums_by_cell = nullptr;
    examples_.width = width;
    return grow_tree(in_sample, seed);
}

const std::vector<TreeNode>& Grower::grow(const Sums* sums_by_cell, std::uint64_t seed) {
    examples_.residuals = nullptr;
    examples_.sums_by_cell = sums_by_cell;
    examples_.width = 1;
    return grow_tree(nullptr, seed);
}

const std::vector<TreeNode>& Grower::grow_tree(const std::uint8_t* in_sample, std::uint64_t seed) {
    evaluator_->start_tree(seed);
    tree_.clear();
    nodes_.clear();
    layers_.clear();
    GrowingNode root = make_root(in_sample);
    evaluator_->evaluate_root(root);
    write_leaf(root);
    nodes_.push_back(std::move(root));
    split_best_first(nodes_, rules_.max_leaves, [&](GrowingNode& parent, bool is_last) {
        free_histograms();
        return split(parent, is_last);
    });
    for (GrowingNode& node : nodes_) evaluator_->release(node);
    evaluator_->trim_spare();
    return tree_;
}

// Gives back the histograms of nodes that will not be split: every later split takes a node of at least their
// gain. Between equal gains it may be wrong; then the node's children are counted from their positions. So
// are those of a node that is one too many to keep its histogram.
void Grower::free_histograms() {
    const std::int64_t leaves = static_cast<std::int64_t>(nodes_.size()) + 2;  // after the next split
    const auto most = static_cast<std::size_t>(
        std::clamp<std::int64_t>(rules_.max_leaves - leaves, 0, evaluator_->most_kept()));
    if (nodes_.size() <= most) return;
    gains_.clear();
    for (const GrowingNode& node : nodes_) gains_.push_back(node.gain);
    std::ranges::nth_element(gains_, gains_.begin() + static_cast<std::ptrdiff_t>(most), std::greater());
    for (GrowingNode& node : nodes_)
        if (node.gain <= gains_[most]) evaluator_->release(node);
}

GrowingNode Grower::make_root(const std::uint8_t* in_sample) {
    const PhaseTimer timer(phase(&GrowthTimes::select));
    GrowingNode root;
    root.layer = layers_.add();
    root.counted = select(in_sample);
    root.contexts = std::make_shared<NodeContexts>(LabelContextSet(examples_.k, examples_.order),
                                                   examples_.order, rules_.newton);
    n_counted_ = root.counted.size();
    add_to_tree(root);
    load(root);
    if (splits_positions_)
        root.n_examples = FractionalPartitioner::count_examples(examples_, layers_[root.layer],
                                                                *root.contexts, root.counted);
    return root;
}

// Puts the positions that count into the first layer.
Range Grower::select(const std::uint8_t* in_sample) {
    CellOrder& order = layers_[0].order;
    order.indexed = true;
    if (examples_.leaves_out) return select_kept(in_sample);
    if (!in_sample && trim_ == 0) return order.fill(data_);
    if (trim_ > 0 && examples_.width == 1) return select_large(in_sample);
    return order.fill(data_, [&](std::int64_t t) {
        if (in_sample && !in_sample[t]) return false;
        std::int64_t size = 0;
        const std::int32_t* row = examples_.row(data_.cell[t]);
        for (std::int64_t h = 0; h < examples_.width; ++h) size += std::abs(std::int64_t{row[h]});
        return size >= trim_;
    });
}

// The positions that have an example.
Range Grower::select_kept(const std::uint8_t* in_sample) {
    const NodeContexts all(LabelContextSet(examples_.k, examples_.order), examples_.order, rules_.newton);
    return layers_[0].order.fill(data_, [&](std::int64_t t) {
        if (in_sample && !in_sample[t]) return false;
        const std::int32_t* row = examples_.row(data_.cell[t]);
        std::int64_t size = 0, n = 0;
        for (const std::int32_t h : all.members[data_.depth[t]]) {
            const KeptSums one = KeptSums::of(row[h]);
            size += std::abs(one.residual);
            n += one.n;
        }
        return n > 0 && size >= trim_;
    });
}

// Padding has the residual 0.
Range Grower::select_large(const std::uint8_t* in_sample) {
    CellOrder& order = layers_[0].order;
    order.cells.resize(data_.position.size() + 16);
    order.where.resize(data_.position.size());
    const std::int64_t n_large =
        growth_kernels().select(examples_.residuals, data_.n_cells(), trim_, order.cells.data());
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < n_large; ++i) {
        const std::int32_t c = order.cells[i];
        order.place(n, c);
        n += !in_sample || in_sample[data_.position[c]];
    }
    return {0, n};
}

// Sums the residuals of each position over all label contexts.
void Grower::load(const GrowingNode& root) {
    Layer& layer = layers_[root.layer];
    const std::int64_t n = root.counted.end;
    layer.sums.resize(static_cast<std::size_t>(n));
    if (splits_positions_) layer.fractions.assign(static_cast<std::size_t>(n), 1.0f);
    const std::int32_t* cells = layer.order.cells.data();
    const bool additive = examples_.is_additive();
    const std::int64_t unit = examples_.example_weight(), one = examples_.objective.packing.one();
    if (examples_.sums_by_cell) {
        for (std::int64_t i = 0; i < n; ++i) layer.sums[i] = examples_.sums_by_cell[cells[i]];
        return;
    }
    if (examples_.leaves_out) {
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int32_t c = cells[i];
            const KeptSums kept = examples_.kept(root.contexts->members[data_.depth_at[c]], c);
            layer.sums[i] = examples_.position_sums(kept.residual, kept.n, c);
        }
        return;
    }
    std::vector<std::int64_t> n_examples;  // by depth
    for (const auto& of_depth : root.contexts->members)
        n_examples.push_back(static_cast<std::int64_t>(of_depth.size()));
    Sums* sums = layer.sums.data();
    const std::uint8_t* depths = data_.depth_at.data();
    with_small_constant(examples_.width, [&](auto width) {
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int32_t c = cells[i];
            const std::int32_t* row = examples_.residuals + c * width;
            std::int64_t residual = 0;
            for (std::int64_t h = 0; h < width; ++h) residual += row[h];
            if (additive) {
                sums[i].set(residual, one + n_examples[depths[c]] * unit);
            } else {
                sums[i] = examples_.position_sums(residual, n_examples[depths[c]], c);
            }
        }
    });
}

Grower::Children Grower::split(GrowingNode& parent, bool is_last) {
    const bool tests_attribute = parent.best.attribute >= 0;
    Division division = divide(parent);
    GrowingNode &yes = division.if_true, &no = division.if_false;
    add_to_tree(yes);
    add_to_tree(no);
    if (is_last) {
        evaluator_->sum_sides(parent, division);
    } else {
        evaluator_->evaluate_sides(parent, division);
    }
    if (tests_attribute && division.true_fraction < 0) division.true_fraction = known_fraction(yes, no);
    write_split(parent, division);
    write_leaf(yes);
    write_leaf(no);
    return {std::move(yes), std::move(no)};
}

Division Grower::divide(const GrowingNode& parent) {
    const PhaseTimer timer(phase(&GrowthTimes::partition));
    return parent.best.attribute >= 0 ? partitioner_->divide(parent) : label_partitioner_.divide(parent);
}

void Grower::add_to_tree(GrowingNode& node) {
    node.index = static_cast<std::int32_t>(tree_.size());
    tree_.emplace_back();
}

void Grower::write_split(const GrowingNode& parent, const Division& division) {
    TreeNode& node = tree_[parent.index];
    node.test = parent.best;
    node.gain = parent.gain;
    node.if_true = division.if_true.index;
    node.if_false = division.if_false.index;
    node.true_fraction = division.true_fraction;
    node.surrogates = division.surrogates;
}

void Grower::write_leaf(const GrowingNode& node) {
    tree_[node.index].value = examples_.objective.value(node.total);
    tree_[node.index].count = examples_.objective.count(node.total);
}

// Weighting in a node without missing values: the fraction that later missing values get.
double Grower::known_fraction(const GrowingNode& yes, const GrowingNode& no) const {
    const auto size = [&](const GrowingNode& node) {
        return rules_.newton ? static_cast<double>(examples_.objective.count(node.total))
                             : examples_.objective.weight(node.total);
    };
    const double n_yes = size(yes), n_no = size(no);
    return n_yes + n_no > 0 ? n_yes / (n_yes + n_no) : 0.5;
}

// The leaves in the order in which a Forest adds their values.
std::vector<const GrowingNode*> Grower::leaves_by_level() const {
    std::vector<const GrowingNode*> by_index(tree_.size(), nullptr), leaves;
    for (const GrowingNode& node : nodes_) by_index[node.index] = &node;
    std::vector<std::int32_t> found{0};
    for (std::size_t at = 0; at < found.size(); ++at) {
        const TreeNode& node = tree_[found[at]];
        if (node.test.is_leaf()) {
            leaves.push_back(by_index[found[at]]);
        } else {
            found.push_back(node.if_true);
            found.push_back(node.if_false);
        }
    }
    return leaves;
}

void Grower::put_values(double step, std::int32_t* to) const {
    const PhaseTimer timer(phase(&GrowthTimes::values));
    const std::int64_t width = examples_.width;
    if (splits_positions_) std::fill(to, to + data_.n_cells() * width, 0);  // the bits of 0.0f
    const std::uint8_t* depths = data_.depth_at.data();
    for (const GrowingNode* node : leaves_by_level()) {
        const auto value = static_cast<float>(tree_[node->index].value * step);
        const auto bits = std::bit_cast<std::int32_t>(value);
        const Layer& layer = layers_[node->layer];
        const std::int32_t* cells = layer.order.cells.data();
        const auto* members = node->contexts->members.data();
        if (splits_positions_) {
            for (std::int64_t i = node->counted.begin; i < node->counted.end; ++i) {
                const float part = layer.fractions[i] * value;
                for (const std::int32_t h : members[depths[cells[i]]]) {
                    std::int32_t& bits = to[cells[i] * width + h];
                    bits = std::bit_cast<std::int32_t>(std::bit_cast<float>(bits) + part);
                }
            }
            continue;
        }
        const std::vector<std::int32_t>& usual = members[data_.order];
        with_small_constant(static_cast<std::int64_t>(usual.size()), [&](auto n_usual) {
            const std::int32_t* contexts = usual.data();
            for (std::int64_t i = node->counted.begin; i < node->counted.end; ++i) {
                const std::int32_t c = cells[i];
                if (depths[c] == data_.order) {
                    for (std::int64_t j = 0; j < n_usual; ++j) to[c * width + contexts[j]] = bits;
                } else {
                    for (const std::int32_t h : members[depths[c]]) to[c * width + h] = bits;
                }
            }
        });
    }
}

}  // namespace hedgerow
