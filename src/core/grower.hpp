// Best-first growth of one tree for one label.
//
// The examples are all pairs (position, history). A split tests either what a window reads, the same for all
// histories, or a previous label, the same for all positions; so every node is a rectangle, positions ×
// histories. The residuals of a position are summed over the node's histories once, and histograms count
// positions: the trees are those of the expanded table, at a cost that does not grow with the histories.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "histogram.hpp"
#include "histories.hpp"
#include "partition.hpp"
#include "tree_data.hpp"

namespace hedgerow {

// A test on what is read (`id` >= 0) or on a previous label (lag >= 0); neither at a leaf.
struct Test {
    std::int32_t id = -1;
    std::int32_t lag = -1;
    std::int32_t label = -1;
    bool is_leaf() const { return id < 0 && lag < 0; }
};

struct TreeNode {
    Test test;
    std::int32_t if_true = -1, if_false = -1;
    double value = 0;
    double gain = 0;
    std::int64_t count = 0;
};

struct GrowthRules {
    Objective objective;
    std::int64_t max_leaves;
};

class Grower {
  public:
    // weights: how much each position counts, at most 1; null where all count 1.
    Grower(const TreeData& data, std::int64_t n_labels, std::int64_t order, const GrowthRules& rules,
           const double* weights);

    // residuals: (positions, n_histories) in units of 2^-30; a row of fewer than `order` previous labels uses
    // its first K^depth entries. Returns the nodes, root first.
    const std::vector<TreeNode>& grow(const std::int32_t* residuals, std::int64_t n_histories);

    // After grow(): visit(position, history, value) for every example, with the value of its leaf.
    template <class Visit>
    void apply(Visit visit) const {
        for (const Node& node : nodes_) {
            const TreeNode& leaf = tree_[node.tree];
            if (!leaf.test.is_leaf()) continue;
            for (std::int64_t i = node.begin; i < node.end; ++i) {
                const std::int32_t t = data_.position[layers_[node.layer].cells[i]];
                for (const std::int32_t h : node.of->members[data_.depth[t]]) visit(t, h, leaf.value);
            }
        }
    }

  private:
    struct Histories {
        HistorySet set;
        std::vector<std::vector<std::int32_t>> members;  // by depth

        Histories(const HistorySet& histories, std::int64_t order) : set(histories) {
            for (std::int64_t m = 0; m <= order; ++m) members.push_back(histories.members(m));
        }
    };

    struct Node {
        std::int32_t tree;        // its index in the tree
        std::size_t layer;        // which copy of the positions it divides
        std::int64_t begin, end;  // its part of that copy
        std::shared_ptr<const Histories> of;  // the histories it speaks of; shared by nodes that differ in positions
        Sums total;
        Test best;
        double gain;
        std::unique_ptr<Histogram> histogram;
    };

    Node make_node(std::size_t layer, std::int64_t begin, std::int64_t end, std::shared_ptr<const Histories> of);
    void load(Node& node);
    void count(Node& node);
    void count_attributes(Node& node);
    void count_histories(Node& node);
    void add_labels(Node& node, std::int64_t m, std::int64_t n, double count,
                    const std::vector<std::int64_t>& columns);
    void find_best(Node& node);
    void split(std::size_t i);
    std::pair<Node, Node> split_positions(Node& parent);
    std::pair<Node, Node> split_histories(Node& parent);
    std::size_t new_layer();
    std::unique_ptr<Histogram> take_histogram();

    // Whether the weight of a position is the sum of those of its examples.
    bool additive() const { return !rules_.objective.newton && !weights_; }
    double counts(std::int32_t t) const { return weights_ ? weights_[t] : 1.0; }
    std::int64_t label_entry(std::int64_t lag, std::int64_t v) const {
        return data_.n_entries + 2 * (lag * (k_ + 1) + v);
    }

    const TreeData& data_;
    std::int64_t k_, order_, n_histories_ = 1;
    GrowthRules rules_;
    const double* weights_;
    const std::int32_t* residuals_ = nullptr;
    std::vector<TreeNode> tree_;
    std::vector<Node> nodes_;
    // A split on histories copies its positions: each copy is a layer.
    std::vector<CellOrder> layers_;
    std::vector<std::vector<Sums>> sums_;
    std::size_t n_layers_ = 0;
    std::vector<std::unique_ptr<Histogram>> spare_;
    std::vector<std::int64_t> by_label_;
};

}  // namespace hedgerow
