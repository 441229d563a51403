// Divides the positions of a node by a test of an attribute. How positions whose value is missing are divided
// is the policy: see Missing.
#pragma once

#include <memory>

#include "trees/examples.hpp"
#include "trees/group.hpp"
#include "trees/growing_node.hpp"
#include "trees/growth_rules.hpp"
#include "trees/histogram_builder.hpp"
#include "trees/layers.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

// Whether splits send fractions of positions to both sides.
inline bool splits_positions(const TreeData& data, Missing missing) {
    return uses_weighting(missing) && data.has_missing();
}

class Partitioner {
  public:
    virtual ~Partitioner() = default;
    // The two sides of the best split of a node; their index and sums are not set yet.
    virtual Division divide(const GrowingNode& parent) = 0;

    // A side of a split that leaves label contexts as they are.
    static GrowingNode side(const GrowingNode& parent, Range counted) {
        GrowingNode node;
        node.layer = parent.layer;
        node.counted = counted;
        node.contexts = parent.contexts;
        return node;
    }
};

// The partitioner for the data and rules. group: null if this process grows trees alone.
std::unique_ptr<Partitioner> make_partitioner(const Examples& examples, Layers& layers,
                                              HistogramBuilder& histograms, const GrowthRules& rules,
                                              const Group* group);

}  // namespace hedgerow
