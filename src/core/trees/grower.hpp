// Best-first growth of one tree for one label.
//
// The examples are all pairs (position, label context). A split tests either an attribute, which is the same
// for all label contexts, or a previous label, which is the same for all positions. So every node is a
// rectangle, positions × label contexts. The residuals of a position are summed over the node's contexts
// once, and histograms count positions: the trees are those of the expanded table of examples, at a cost that
// does not grow with the number of contexts.
//
// Positions that do not count (outside the sample, or trimmed) are not divided: a Forest has to add the
// values of the tree to them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "trees/examples.hpp"
#include "trees/group.hpp"
#include "trees/growing_node.hpp"
#include "trees/growth_rules.hpp"
#include "trees/growth_times.hpp"
#include "trees/histogram_builder.hpp"
#include "trees/label_context_partitioner.hpp"
#include "trees/layers.hpp"
#include "trees/node_evaluator.hpp"
#include "trees/partitioner.hpp"
#include "trees/tree.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

class Grower {
  public:
    // weights: by position, at most 1; null if all are 1. layout: of the group that grows trees together;
    // null if this process grows them alone.
    Grower(const TreeData& data, std::int64_t n_labels, const GrowthRules& rules, const Packing& packing,
           const double* weights, const GroupLayout* layout = nullptr);
    Grower(const Grower&) = delete;  // its parts refer to each other
    Grower& operator=(const Grower&) = delete;

    // Grows a tree on residuals (cells, width): see Examples. in_sample: by position, null if all are.
    // Returns the nodes, root first.
    const std::vector<TreeNode>& grow(const std::int32_t* residuals, std::int64_t width,
                                      const std::uint8_t* in_sample, std::uint64_t seed);
    // Grows a tree of order 0 on sums by cell.
    const std::vector<TreeNode>& grow(const Sums* sums_by_cell, std::uint64_t seed);

    // How later trees reach the other members of the group.
    void use(Exchange& exchange) { group_->exchange = &exchange; }

    // Measures the phases of later trees, and adds their seconds; null: measures nothing.
    void measure(GrowthTimes* times) {
        times_ = times;
        evaluator_->measure(times);
    }

    // After grow(): how many positions counted.
    std::int64_t n_counted() const { return n_counted_; }

    // After grow() on all positions: the tree's values times `step` as bits of floats, by cell and label
    // context, in the place of the residuals. Where positions are split, fractions are added up as a Forest
    // does, to the bit.
    void put_values(double step, std::int32_t* to) const;

  private:
    using Children = std::pair<GrowingNode, GrowingNode>;

    const std::vector<TreeNode>& grow_tree(const std::uint8_t* in_sample, std::uint64_t seed);
    void free_histograms();
    GrowingNode make_root(const std::uint8_t* in_sample);
    Range select(const std::uint8_t* in_sample);
    Range select_large(const std::uint8_t* in_sample);
    Range select_kept(const std::uint8_t* in_sample);
    void load(const GrowingNode& root);
    Children split(GrowingNode& parent, bool is_last);
    Division divide(const GrowingNode& parent);
    void add_to_tree(GrowingNode& node);
    void write_split(const GrowingNode& parent, const Division& division);
    void write_leaf(const GrowingNode& node);
    double known_fraction(const GrowingNode& yes, const GrowingNode& no) const;

    std::vector<const GrowingNode*> leaves_by_level() const;
    double* phase(double GrowthTimes::* which) const { return times_ ? &(times_->*which) : nullptr; }

    GrowthTimes* times_ = nullptr;
    const TreeData& data_;
    GrowthRules rules_;
    std::int64_t trim_;  // of positions, in units of residuals; 0 trims none
    bool splits_positions_;
    Examples examples_;
    Layers layers_;
    HistogramBuilder histograms_;
    std::unique_ptr<Group> group_;  // null if this process grows trees alone
    std::unique_ptr<NodeEvaluator> evaluator_;
    std::unique_ptr<Partitioner> partitioner_;
    LabelContextPartitioner label_partitioner_;
    std::int64_t n_counted_ = 0;
    std::vector<TreeNode> tree_;
    std::vector<GrowingNode> nodes_;  // the leaves so far
    std::vector<double> gains_;       // of the leaves, in no order
};

}  // namespace hedgerow
