// Divides the label contexts of a node by a test of a previous label. The side where the test holds gets a
// layer of its own; each side keeps the positions that have an example there.
#pragma once

#include "trees/examples.hpp"
#include "trees/growing_node.hpp"
#include "trees/layers.hpp"

namespace hedgerow {

class LabelContextPartitioner {
  public:
    // splits_positions: whether layers have fractions.
    LabelContextPartitioner(const Examples& examples, Layers& layers, bool splits_positions)
        : examples_(examples), layers_(layers), splits_positions_(splits_positions) {}

    // The two sides of the best split of a node; their index and totals are not set yet.
    Division divide(const GrowingNode& parent);

  private:
    // Whether a side has an example of a position: 1, or 0.
    struct Sides {
        std::int64_t yes, no;
    };

    void load_children(GrowingNode& yes, GrowingNode& no);
    void load_single_label(GrowingNode& yes, GrowingNode& no);
    void load_kept(GrowingNode& yes, GrowingNode& no);
    template <class Load>
    void distribute(GrowingNode& yes, GrowingNode& no, Load load);
    template <class Load>
    void distribute_to(GrowingNode& yes, GrowingNode& no, Load load);

    const Examples& examples_;
    Layers& layers_;
    bool splits_positions_;
};

}  // namespace hedgerow
