// The best split of a node on a previous label.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/examples.hpp"
#include "trees/growing_node.hpp"
#include "trees/growth_rules.hpp"
#include "trees/label_context_sums.hpp"
#include "trees/layers.hpp"

namespace hedgerow {

class LabelContextSplitter {
  public:
    LabelContextSplitter(const Examples& examples, const Layers& layers, const LabelContextSums& sums,
                         const GrowthRules& rules)
        : examples_(examples), layers_(layers), sums_(sums), rules_(rules) {}

    // Sums where the previous label is among the first r + 1 labels of an order, and where it is not.
    struct PrefixSums {
        std::vector<Sums> yes, no;
    };

    // By lag, where labels are split into sets, from the positions of the node; otherwise empty.
    std::vector<PrefixSums> sum_prefixes(const GrowingNode& node) const;
    // The same, with nothing summed yet.
    std::vector<PrefixSums> no_prefixes() const {
        return std::vector<PrefixSums>(rules_.uses_subsets() ? static_cast<std::size_t>(examples_.order) : 0);
    }
    // Replaces the best split of a node if one on a previous label has a greater gain. Of equals the first
    // wins: the nearest lag, then the first label, `start` last.
    void consider(GrowingNode& node, const std::vector<PrefixSums>& prefixes) const;

  private:
    using Labels = std::vector<std::int32_t>;

    void consider_labels(GrowingNode& node, std::int64_t lag) const;
    void consider_label_sets(GrowingNode& node, std::int64_t lag, const PrefixSums& sums) const;
    Labels by_value(const GrowingNode& node, std::int64_t lag) const;
    PrefixSums sum_prefixes(const GrowingNode& node, std::int64_t lag, const Labels& labels) const;

    const Examples& examples_;
    const Layers& layers_;
    const LabelContextSums& sums_;
    GrowthRules rules_;
};

}  // namespace hedgerow
