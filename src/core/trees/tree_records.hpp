// Trees as flat arrays: the form in which they go to and come from Python. Reading checks everything that a
// damaged file can get wrong.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "trees/tree.hpp"

namespace hedgerow {

// One node; the fields of potentials/trees.py NODE, in the same order. Children count from the root of the
// tree. A node has the alternatives [first_alternative, first_alternative + n_alternatives) and the
// surrogates likewise.
struct NodeRecord {
    std::int32_t attribute, lag, label, if_true, if_false;
    std::int32_t n_alternatives, n_surrogates;
    std::int32_t count;
    float gain, true_fraction;
    std::int64_t first_alternative, first_surrogate;
};
static_assert(sizeof(NodeRecord) == 56 && std::is_trivially_copyable_v<NodeRecord>);

// Trees end to end: tree i has the nodes starts[i]..starts[i + 1], root first.
struct TreeRecords {
    std::vector<std::int64_t> starts{0};
    std::vector<NodeRecord> nodes;
    std::vector<float> values;  // (nodes, outputs)
    std::vector<std::int32_t> alternatives, surrogates;

    // Appends a tree; its values are multiplied by `step`.
    void add(const std::vector<TreeNode>& tree, double step);
    // Appends a tree for all labels: `rows` has n_outputs values for each node.
    void add(const std::vector<TreeNode>& tree, double step, const float* rows, std::int64_t n_outputs);

  private:
    void add_nodes(const std::vector<TreeNode>& tree);
};

// Trees of a caller that may be damaged. `nodes` are the bytes of NodeRecords, at any alignment.
struct TreeRecordsView {
    std::int64_t n_trees, n_nodes, n_outputs, n_alternatives, n_surrogates;
    const std::int32_t* labels;  // by tree
    const std::int64_t* starts;  // n_trees + 1
    const std::uint8_t* nodes;
    const float* values;  // (n_nodes, n_outputs)
    const std::int32_t *alternatives, *surrogates;

    NodeRecord node(std::int64_t i) const;
};

// What the trees may refer to.
struct TreeLimits {
    std::int64_t n_attributes, n_labels, order;
};

// Throws std::invalid_argument unless every tree has nodes and a label, and the nodes have their lists.
void check_layout(const TreeRecordsView& trees, const TreeLimits& limits);

// Tree i as nodes, with values where a node has one; throws std::invalid_argument if it is no tree or a test
// does not exist. After check_layout().
std::vector<TreeNode> read_tree(const TreeRecordsView& trees, std::int64_t i, const TreeLimits& limits);

}  // namespace hedgerow
