// Trees flattened for evaluation. A test on a previous label is resolved when the forest is made: each leaf
// knows the histories it speaks of, so a position is evaluated once for all histories.
#pragma once

#include <cstdint>
#include <vector>

#include "grower.hpp"
#include "histories.hpp"
#include "partition.hpp"
#include "tree_data.hpp"

namespace hedgerow {

class Forest {
  public:
    Forest(const TreeData& data, std::int64_t n_labels, std::int64_t order, std::size_t n_nodes)
        : data_(data),
          k_(n_labels),
          order_(order),
          n_histories_(HistorySet(n_labels, order).members(order).size()) {
        nodes_.reserve(
            n_nodes);  // one position is often all there is to evaluate: making the forest is the work
    }

    // A tree for `label`, its nodes root first, children after their parents (checked by the caller).
    void add(std::int64_t label, const TreeNode* nodes, std::int64_t n) {
        roots_.push_back({static_cast<std::int32_t>(nodes_.size()), static_cast<std::int32_t>(label)});
        const auto first = static_cast<std::int32_t>(nodes_.size());
        std::vector<HistorySet> sets(static_cast<std::size_t>(n), HistorySet(k_, order_));
        for (std::int64_t i = 0; i < n; ++i) {
            const TreeNode& from = nodes[i];
            Flat node{};
            node.value = static_cast<float>(from.value);
            if (from.test.is_leaf()) {
                node.if_true = -1;
                node.first_member = static_cast<std::int32_t>(member_starts_.size());
                for (std::int64_t m = 0; m <= order_; ++m) {
                    member_starts_.push_back(static_cast<std::int64_t>(members_.size()));
                    for (const std::int32_t h : sets[i].members(m)) members_.push_back(h);
                }
                member_starts_.push_back(static_cast<std::int64_t>(members_.size()));
            } else {
                node.if_true = first + from.if_true;
                node.if_false = first + from.if_false;
                const bool reads = from.test.id >= 0;
                node.slot = reads ? &data_.slot_of(from.test.id) : nullptr;
                if (reads) node.value_code = from.test.id - node.slot->first_id;
                sets[from.if_true] = reads ? sets[i] : sets[i].only(from.test.lag, from.test.label);
                sets[from.if_false] = reads ? sets[i] : sets[i].without(from.test.lag, from.test.label);
            }
            nodes_.push_back(node);
        }
    }

    // Adds the values of one label's trees to scores (positions, histories, labels). The splits of a tree are
    // replayed: all positions start at the root, and those that pass a test part from the others.
    void add_scores(std::int64_t label, CellOrder& order, float* scores) const {
        for (const Root& root : roots_) {
            if (root.label == label) replay(root.node, order, scores + label);
        }
    }

  private:
    struct Root {
        std::int32_t node, label;
    };
    struct Flat {
        const TreeData::Slot* slot;  // null at a leaf and at a test on a previous label
        std::int32_t value_code;
        std::int32_t if_true, if_false;  // -1 at a leaf
        std::int32_t first_member;
        float value;
    };

    void replay(std::int32_t root, CellOrder& order, float* scores) const {
        struct Part {
            std::int32_t node;
            std::int64_t begin, end;
        };
        std::vector<Part> open{{root, 0, data_.n_positions}};
        while (!open.empty()) {
            const Part part = open.back();
            open.pop_back();
            const Flat& node = nodes_[part.node];
            if (part.begin == part.end) continue;
            if (node.if_true < 0) {
                add_leaf(node, order.cells.data() + part.begin, order.cells.data() + part.end, scores);
            } else if (node.slot) {
                const std::int64_t middle = order.partition(data_, *node.slot, node.value_code, part.begin,
                                                            part.end, [](std::int64_t, std::int64_t) {});
                open.push_back({node.if_false, middle, part.end});
                open.push_back({node.if_true, part.begin, middle});
            } else {  // both sides speak of the same positions, and of different histories
                open.push_back({node.if_false, part.begin, part.end});
                open.push_back({node.if_true, part.begin, part.end});
            }
        }
    }

    void add_leaf(const Flat& leaf, const std::int32_t* begin, const std::int32_t* end, float* scores) const {
        const std::int64_t row = static_cast<std::int64_t>(n_histories_) * k_;
        for (const std::int32_t* c = begin; c < end; ++c) {
            const std::int32_t t = data_.position[*c];
            const std::int64_t* starts = member_starts_.data() + leaf.first_member + data_.depth[t];
            for (std::int64_t i = starts[0]; i < starts[1]; ++i)
                scores[t * row + members_[i] * k_] += leaf.value;
        }
    }

    const TreeData& data_;
    std::int64_t k_, order_;
    std::size_t n_histories_;
    std::vector<Root> roots_;
    std::vector<Flat> nodes_;
    std::vector<std::int64_t> member_starts_;
    std::vector<std::int32_t> members_;
};

}  // namespace hedgerow
