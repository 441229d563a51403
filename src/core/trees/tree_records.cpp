#include "trees/tree_records.hpp"

#include <algorithm>
#include <cstring>

#include "util/require.hpp"

namespace hedgerow {
namespace {

template <class List>
std::int64_t size_of(const List& list) {
    return static_cast<std::int64_t>(list.size());
}

// Whether [first, first + n) lies in [0, size); nothing is added before it is known to be small.
bool within(std::int64_t first, std::int64_t n, std::int64_t size) {
    return first >= 0 && n >= 0 && first <= size && n <= size - first;
}

void check_test(const Test& test, const TreeLimits& limits) {
    require(test.attribute < limits.n_attributes && test.lag < limits.order, "tests exist");
    const bool reads = test.attribute >= 0;
    const std::int64_t limit = reads ? limits.n_attributes : limits.n_labels + 1;
    require(reads || (test.label >= 0 && test.label < limit), "tests exist");
    for (const std::int32_t other : test.alternatives) require(other >= 0 && other < limit, "tests exist");
}

}  // namespace

void TreeRecords::add(const std::vector<TreeNode>& tree, double step) {
    for (const TreeNode& node : tree) values.push_back(static_cast<float>(node.value * step));
    add_nodes(tree);
}

void TreeRecords::add(const std::vector<TreeNode>& tree, double step, const float* rows,
                      std::int64_t n_outputs) {
    for (std::int64_t i = 0; i < size_of(tree) * n_outputs; ++i)
        values.push_back(static_cast<float>(rows[i] * step));
    add_nodes(tree);
}

void TreeRecords::add_nodes(const std::vector<TreeNode>& tree) {
    for (const TreeNode& node : tree) {
        const Test& test = node.test;
        nodes.push_back({test.attribute, test.lag, test.label, node.if_true, node.if_false,
                         static_cast<std::int32_t>(test.alternatives.size()),
                         static_cast<std::int32_t>(node.surrogates.size()),
                         static_cast<std::int32_t>(node.count), static_cast<float>(node.gain),
                         static_cast<float>(std::max(node.true_fraction, 0.0)), size_of(alternatives),
                         size_of(surrogates)});
        alternatives.insert(alternatives.end(), test.alternatives.begin(), test.alternatives.end());
        surrogates.insert(surrogates.end(), node.surrogates.begin(), node.surrogates.end());
    }
    starts.push_back(size_of(nodes));
}

NodeRecord TreeRecordsView::node(std::int64_t i) const {
    NodeRecord record;
    std::memcpy(&record, nodes + i * static_cast<std::int64_t>(sizeof record), sizeof record);
    return record;
}

void check_layout(const TreeRecordsView& trees, const TreeLimits& limits) {
    require(limits.n_labels >= 1 && limits.order >= 0, "trees need labels and an order of at least 0");
    require(trees.n_outputs == 1 || (trees.n_outputs == limits.n_labels && limits.order == 0),
            "a node has one value, or in trees of order 0 one for each label");
    require(trees.starts[0] == 0 && trees.starts[trees.n_trees] == trees.n_nodes,
            "starts of trees rise from 0 to the number of nodes");
    for (std::int64_t i = 0; i < trees.n_trees; ++i) {
        require(trees.starts[i] < trees.starts[i + 1], "every tree has a node");
        require(trees.labels[i] >= 0 && trees.labels[i] < limits.n_labels,
                "labels of trees are below n_labels");
    }
    for (std::int64_t i = 0; i < trees.n_nodes; ++i) {
        const NodeRecord node = trees.node(i);
        require(within(node.first_alternative, node.n_alternatives, trees.n_alternatives) &&
                    within(node.first_surrogate, node.n_surrogates, trees.n_surrogates),
                "a node's alternatives and surrogates are in their lists");
        require(node.true_fraction >= 0 && node.true_fraction <= 1, "fractions are from 0 to 1");
    }
    for (std::int64_t i = 0; i < trees.n_surrogates; ++i) {
        const std::int32_t one = trees.surrogates[i];
        require((one < 0 ? ~one : one) < limits.n_attributes, "surrogates exist");
    }
}

std::vector<TreeNode> read_tree(const TreeRecordsView& trees, std::int64_t i, const TreeLimits& limits) {
    const std::int64_t first = trees.starts[i], size = trees.starts[i + 1] - first;
    std::vector<TreeNode> tree(static_cast<std::size_t>(size));
    std::vector<bool> has_parent(tree.size(), false);
    has_parent[0] = true;
    for (std::int64_t j = 0; j < size; ++j) {
        const NodeRecord record = trees.node(first + j);
        TreeNode& node = tree[j];
        if (trees.n_outputs == 1) node.value = trees.values[first + j];
        node.test = {record.attribute, record.lag, record.label, {}};
        if (node.test.is_leaf()) continue;
        for (const std::int32_t child : {record.if_true, record.if_false}) {
            require(child > j && child < size, "children come after their parent");
            require(!has_parent[child], "a node has one parent");
            has_parent[child] = true;
        }
        node.if_true = record.if_true;
        node.if_false = record.if_false;
        const std::int32_t* other = trees.alternatives + record.first_alternative;
        node.test.alternatives.assign(other, other + record.n_alternatives);
        check_test(node.test, limits);
        node.true_fraction = record.true_fraction;
        const std::int32_t* surrogate = trees.surrogates + record.first_surrogate;
        node.surrogates.assign(surrogate, surrogate + record.n_surrogates);
    }
    require(std::find(has_parent.begin(), has_parent.end(), false) == has_parent.end(),
            "a node has one parent");
    return tree;
}

}  // namespace hedgerow
