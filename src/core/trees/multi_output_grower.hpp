// Best-first growth of one tree for all labels: a leaf has a value for each label. It tests no previous
// labels.
//
// The sums of an entry are a row: the residuals of all labels, then their weights. What a position adds is
// rounded once, to a multiple of a power of two, so that sums in double precision are exact: neither threads
// nor the order of positions nor the members of a group change them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "trees/cell_order.hpp"
#include "trees/group.hpp"
#include "trees/growth_rules.hpp"
#include "trees/splitter.hpp"
#include "trees/tree.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

class MultiOutputGrower {
  public:
    // group: whose members grow the same tree; null if this process grows it alone.
    MultiOutputGrower(const TreeData& data, std::int64_t n_labels, const GrowthRules& rules,
                      const double* weights, const Group* group);

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
    // Of the slots that this member of a group searches; of all slots if there is no group.
    struct RowHistogram {
        std::int32_t first = 0;            // the first entry
        std::vector<double> rows;          // undefined where the count is 0
        std::vector<std::int32_t> counts;  // by entry
    };
    struct Node {
        std::int32_t tree;
        Range counted;           // in this process
        std::int64_t n = 0;      // positions of all members
        std::int64_t n_yes = 0;  // of these, where the best test holds
        double gain = 0;
        std::int32_t entry = -1;
        std::vector<double> total;
        std::unique_ptr<RowHistogram> histogram;
    };
    struct Found {
        double gain = 0;
        std::int64_t n_yes = 0;
        std::int32_t entry = -1;
    };
    using Nodes = std::initializer_list<Node*>;

    Range select(const float* residuals, const std::uint8_t* in_sample);
    void load(const float* residuals);
    Node make_node(Range counted);
    std::vector<double> sum_of(const Node& node) const;
    void share_total(Node& node) const;
    void count_nodes(Nodes nodes);
    void count(const Node& node, RowHistogram& histogram) const;
    void restore_usual(const Node& node, const ReadSlot& slot, RowHistogram& histogram) const;
    void write_node(const Node& node, const RowHistogram& local, std::vector<Message>& to) const;
    void read_node(Node& node, std::vector<MessageReader>& from);
    void find_best(Nodes nodes);
    Found search(const Node& node) const;
    Found search_slot(const Node& node, const TreeData::Slot& slot, double before, std::uint64_t key) const;
    void evaluate_nodes(Nodes nodes);
    std::pair<Node, Node> split(Node& parent, bool is_last);
    void evaluate_split(Node& parent, Node& small, Node& large);
    void subtract_total(Node& parent, const Node& small, Node& large);
    std::unique_ptr<RowHistogram> take_histogram(std::int32_t first, std::int32_t end);
    void keep_if_large(Node& node);
    void release(std::unique_ptr<RowHistogram> histogram);
    void set_value(const Node& node);
    template <class Work>
    void by_slots(const Node& node, std::size_t first, std::size_t end, Work work) const;
    const float* row(std::int32_t t) const { return rows_.data() + t * width_; }
    // The slots that this process searches.
    std::size_t first_slot() const {
        return group_ ? group_->layout.slices.first_slot(group_->layout.rank) : 0;
    }
    std::size_t end_slot() const {
        return group_ ? group_->layout.slices.end_slot(group_->layout.rank) : data_.slots.size();
    }

    const TreeData& data_;
    std::int64_t k_, half_, width_;  // half_: n_labels rounded up for vectors; width_: of a row
    GrowthRules rules_;
    const double* weights_;
    const Group* group_;
    double rounding_;  // see Examples
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
