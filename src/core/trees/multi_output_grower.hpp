// Best-first growth of one tree for all labels: a leaf has a value for each label. It tests no previous
// labels.
//
// The sums of an entry are a row: the residuals of all labels, then their weights. They are added in one
// fixed order of positions; threads share the slots, so they do not change the sums.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "trees/cell_order.hpp"
#include "trees/growth_rules.hpp"
#include "trees/splitter.hpp"
#include "trees/tree.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

class MultiOutputGrower {
  public:
    MultiOutputGrower(const TreeData& data, std::int64_t n_labels, const GrowthRules& rules,
                      const double* weights);

    // residuals: (positions, labels). Returns the nodes, root first; values() has a row for each node.
    const std::vector<TreeNode>& grow(const float* residuals, const std::uint8_t* in_sample,
                                      std::uint64_t seed, std::int64_t n_threads);
    const std::vector<float>& values() const { return values_; }

    // After grow(): visit(position, node) for every position that counts, and its leaf.
    template <class Visit>
    void apply(Visit visit) const {
        for (const Node& node : nodes_) {
            for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i)
                visit(data_.position[order_.cells[i]], node.tree);
        }
    }

  private:
    struct RowHistogram {
        std::vector<float> rows;           // undefined where the count is 0
        std::vector<std::int32_t> counts;  // by entry
    };
    struct Node {
        std::int32_t tree;
        Range counted;
        double gain = 0;
        std::int32_t entry = -1;
        std::vector<float> total;
        std::unique_ptr<RowHistogram> histogram;
    };

    Range select(const float* residuals, const std::uint8_t* in_sample);
    void load(const float* residuals);
    Node make_node(Range counted);
    void sum_up(Node& node);
    void count(const Node& node, RowHistogram& histogram) const;
    void restore_usual(const Node& node, const ReadSlot& slot, RowHistogram& histogram) const;
    void find_best(Node& node, const RowHistogram& histogram);
    void evaluate_node(Node& node);
    std::pair<Node, Node> split(Node& parent, bool is_last);
    void evaluate_split(Node& parent, Node& yes, Node& no);
    std::unique_ptr<RowHistogram> take_histogram();
    void set_value(const Node& node);
    template <class Work>
    void by_slots(const Node& node, Work work) const;
    bool is_large(const Node& node) const {
        return static_cast<std::int64_t>(data_.slots.size()) * node.counted.size() >= data_.n_entries;
    }
    const float* row(std::int32_t t) const { return rows_.data() + t * width_; }

    const TreeData& data_;
    std::int64_t k_, half_, width_;  // half_: n_labels rounded up for vectors; width_: of a row
    GrowthRules rules_;
    const double* weights_;
    std::uint64_t seed_ = 0;
    std::int64_t n_threads_ = 1;
    std::vector<float> rows_;  // by position
    std::vector<TreeNode> tree_;
    std::vector<float> values_;
    std::vector<Node> nodes_;
    CellOrder order_;
    std::vector<std::unique_ptr<RowHistogram>> spare_;
};

}  // namespace hedgerow
