#include "trees/grower.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "trees/best_first.hpp"
#include "trees/fractional_partitioner.hpp"
#include "util/small_constant.hpp"

namespace hedgerow {

Grower::Grower(const TreeData& data, std::int64_t n_labels, const GrowthRules& rules, double weight_unit,
               const double* weights)
    : data_(data),
      rules_(rules),
      trim_(static_cast<std::int64_t>(rules.influence_trim * kResidualUnit)),
      splits_positions_(splits_positions(data, rules.missing)),
      examples_{data, Objective{rules.l2, rules.newton, rules.max_step, rules.min_leaf, weight_unit},
                n_labels, data.order, weights},
      histograms_(data, rules),
      splitter_(data, examples_.objective, rules),
      label_sums_(examples_, layers_),
      label_splitter_(examples_, layers_, label_sums_, rules),
      partitioner_(make_partitioner(examples_, layers_, histograms_, rules)),
      label_partitioner_(examples_, layers_, splits_positions_) {}

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
    seed_ = seed;
    tree_.clear();
    nodes_.clear();
    layers_.clear();
    GrowingNode root = make_root(in_sample);
    evaluate_root(root);
    write_leaf(root);
    nodes_.push_back(std::move(root));
    split_best_first(nodes_, rules_.max_leaves,
                     [&](GrowingNode& parent, bool is_last) { return split(parent, is_last); });
    for (GrowingNode& node : nodes_) histograms_.give_back(std::move(node.histogram));
    histograms_.trim_spare();
    return tree_;
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
    const std::int64_t unit = examples_.example_weight();
    if (examples_.sums_by_cell) {
        for (std::int64_t i = 0; i < n; ++i) layer.sums[i] = examples_.sums_by_cell[cells[i]];
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
                sums[i].set_position(residual, n_examples[depths[c]] * unit);
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
        sum_up(yes);
        sum_up(no);
        histograms_.give_back(std::move(parent.histogram));
    } else if (!parent.histogram) {
        evaluate_node(yes);
        evaluate_node(no);
    } else if (tests_attribute) {
        evaluate_position_split(parent, yes, no);
    } else {
        evaluate_context_split(parent, yes, no);
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
    tree_[node.index].count = node.total.count();
}

// Weighting in a node without missing values: the fraction that later missing values get.
double Grower::known_fraction(const GrowingNode& yes, const GrowingNode& no) const {
    const auto size = [&](const GrowingNode& node) {
        return rules_.newton ? static_cast<double>(node.total.count())
                             : examples_.objective.weight(node.total);
    };
    const double n_yes = size(yes), n_no = size(no);
    return n_yes + n_no > 0 ? n_yes / (n_yes + n_no) : 0.5;
}

void Grower::sum_up(GrowingNode& node) const {
    const Sums* sums = layers_[node.layer].sums.data();
    node.total = {};
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) node.total += sums[i];
}

void Grower::evaluate_root(GrowingNode& root) {
    histograms_.start_tree();
    if (!histograms_.uses_entry_map()) {
        splitter_.use(histograms_.map());
        return evaluate_node(root);
    }
    sum_up(root);
    label_sums_.sum(root);
    {
        const PhaseTimer timer(phase(&GrowthTimes::histogram));
        root.histogram = histograms_.build_reduced_root(positions(root));
    }
    splitter_.use(histograms_.map());
    find_best(root, *root.histogram, false);
}

// Sums, histogram and best split of a node, from its positions.
void Grower::evaluate_node(GrowingNode& node) {
    sum_up(node);
    label_sums_.sum(node);
    if (histograms_.is_large(node.counted)) {
        node.histogram = histograms_.take();
        count(node, *node.histogram, false);
        find_best(node, *node.histogram, false);
    } else {
        Histogram& scratch = histograms_.scratch();
        count(node, scratch, true);
        find_best(node, scratch, true);
        scratch.clear_marked();
    }
}

// After a split on an attribute, the sums of the larger side are those of the parent minus those of the
// smaller side.
void Grower::evaluate_position_split(GrowingNode& parent, GrowingNode& yes, GrowingNode& no) {
    const bool yes_is_smaller = yes.counted.size() <= no.counted.size();
    GrowingNode& small = yes_is_smaller ? yes : no;
    GrowingNode& large = yes_is_smaller ? no : yes;
    large.histogram = std::move(parent.histogram);
    std::vector<Sums>& left = large.histogram->entries;
    sum_up(small);
    label_sums_.sum(small);
    if (histograms_.is_large(small.counted)) {
        small.histogram = histograms_.take();
        count(small, *small.histogram, false);
        find_best(small, *small.histogram, false);
        for (std::size_t e = 0; e < left.size(); ++e) left[e] -= small.histogram->entries[e];
    } else {
        Histogram& scratch = histograms_.scratch();
        count(small, scratch, true);
        find_best(small, scratch, true);
        scratch.each_marked(0, histograms_.map().n_places(),
                            [&](std::int32_t e) { left[e] -= scratch.entries[e]; });
        scratch.clear_marked();
    }
    large.total = parent.total - small.total;
    label_sums_.subtract(parent, small, large);
    find_best(large, *large.histogram, false);
    if (!histograms_.is_large(large.counted)) histograms_.give_back(std::move(large.histogram));
}

// After a split on a single previous label, residuals and examples of `no` are those of the parent minus
// those of `yes`. The positions of `no` are those of the parent while the lag allows another label; otherwise
// they went to `yes`.
void Grower::evaluate_context_split(GrowingNode& parent, GrowingNode& yes, GrowingNode& no) {
    if (!examples_.is_additive() || parent.has_fractions || !parent.best.alternatives.empty() ||
        !histograms_.is_large(yes.counted)) {
        histograms_.give_back(std::move(parent.histogram));
        evaluate_node(yes);
        evaluate_node(no);
        return;
    }
    evaluate_node(yes);
    const std::int64_t lag = parent.best.lag, k = examples_.k;
    const LabelContextSet& left = no.contexts->set;
    const bool on_both_sides = parent.best.label < k && left.size(lag) > (left.allowed(lag, k) ? 1 : 0);
    const auto subtract = [&](Sums& from, const Sums& part) {
        from -= part;
        if (on_both_sides) from.packed += part.count() << kCountShift;
    };
    no.histogram = std::move(parent.histogram);
    no.total = parent.total;
    subtract(no.total, yes.total);
    for (std::int32_t e = 0; e < histograms_.map().n_places(); ++e)
        subtract(no.histogram->entries[e], yes.histogram->entries[e]);
    if (examples_.order == 1) {
        label_sums_.remove_label(parent, parent.best.label, no);
    } else {
        label_sums_.sum(no);
    }
    find_best(no, *no.histogram, false);
}

void Grower::count(const GrowingNode& node, Histogram& histogram, bool marking) {
    const PhaseTimer timer(phase(&GrowthTimes::histogram));
    histograms_.build(positions(node), histogram, marking);
}

// Of equal gains the first test wins: attributes by id, then previous labels by lag and label.
void Grower::find_best(GrowingNode& node, const Histogram& histogram, bool marked) {
    const PhaseTimer timer(phase(&GrowthTimes::scan));
    const std::uint64_t key = seed_ + kGoldenRatio64 * static_cast<std::uint64_t>(node.index);
    Split best = splitter_.best(histogram, marked, node.total, key);
    node.gain = best.gain;
    node.best = {};
    node.entries = std::move(best.entries);
    node.missing_side = best.missing_side;
    if (!node.entries.empty()) {
        const TreeData::Slot& slot = data_.slot_of(node.entries[0]);
        node.best.attribute = slot.id(node.entries[0]);
        for (std::size_t i = 1; i < node.entries.size(); ++i)
            node.best.alternatives.push_back(slot.id(node.entries[i]));
    }
    label_splitter_.consider(node);
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
