#include "trees/node_evaluator.hpp"

#include <utility>

#include "util/random.hpp"

namespace hedgerow {

NodeEvaluator::NodeEvaluator(const Examples& examples, const Layers& layers, HistogramBuilder& histograms,
                             const GrowthRules& rules)
    : examples_(examples),
      data_(examples.data),
      layers_(layers),
      histograms_(histograms),
      splitter_(examples.data, examples.objective, rules),
      label_sums_(examples, layers),
      label_splitter_(examples, layers, label_sums_, rules) {}

Sums NodeEvaluator::sum_of(const GrowingNode& node) const {
    const Sums* sums = layers_[node.layer].sums.data();
    Sums total;
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) total += sums[i];
    return total;
}

Split NodeEvaluator::best_attribute(const GrowingNode& node, const Histogram& histogram, bool marked) {
    const std::uint64_t key = seed_ + kGoldenRatio64 * static_cast<std::uint64_t>(node.index);
    return splitter_.best(histogram, marked, node.total, key);
}

void NodeEvaluator::set_attribute(GrowingNode& node, Split split) const {
    node.gain = split.gain;
    node.best = {};
    node.entries = std::move(split.entries);
    node.missing_side = split.missing_side;
    node.n_yes = examples_.objective.count(split.yes);
    node.n_no = examples_.objective.count(split.no);
    if (node.entries.empty()) return;
    const TreeData::Slot& slot = data_.slot_of(node.entries[0]);
    node.best.attribute = slot.id(node.entries[0]);
    for (std::size_t i = 1; i < node.entries.size(); ++i)
        node.best.alternatives.push_back(slot.id(node.entries[i]));
}

bool NodeEvaluator::contexts_subtract(const GrowingNode& parent) const {
    return examples_.is_additive() && !parent.has_fractions && parent.best.alternatives.empty();
}

// The positions of `no` are those of the parent while the lag allows another label; otherwise they went to
// `yes`.
NodeEvaluator::ContextSubtraction::ContextSubtraction(const Examples& examples, const Test& test,
                                                      const GrowingNode& no) {
    const LabelContextSet& left = no.contexts->set;
    const std::int64_t k = examples.k;
    on_both_sides_ = test.label < k && left.size(test.lag) > (left.allowed(test.lag, k) ? 1 : 0);
    packing_ = examples.objective.packing;
}

void NodeEvaluator::ContextSubtraction::operator()(Sums& parent, const Sums& yes) const {
    parent -= yes;
    if (on_both_sides_) parent.packed += packing_.count(yes.packed) * packing_.one();
}

}  // namespace hedgerow
