// Best-first growth of one tree for one label.
//
// The examples are all pairs (position, history). A split tests either what a window reads, the same for all
// histories, or a previous label, the same for all positions; so every node is a rectangle, positions ×
// histories. The residuals of a position are summed over the node's histories once, and histograms count
// positions: the trees are those of the expanded table, at a cost that does not grow with the histories.
//
// Positions that are left out (a sample, or residuals near zero) are divided with the others, for the tree's
// values are theirs too, but they are not counted.
//
// A position whose value is missing may go to both sides of a split, a part of it to each
// (grower_missing.cpp). Then positions that are left out are not divided: what the tree says of them has to
// be asked of the tree.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "trees/growth_rules.hpp"
#include "trees/histogram.hpp"
#include "trees/label_contexts.hpp"
#include "trees/partition.hpp"
#include "trees/slot_groups.hpp"
#include "trees/splitter.hpp"
#include "trees/tree.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

// Whether splits send parts of positions to both sides.
inline bool splits_positions(const TreeData& data, Missing missing) {
    return missing == Missing::weighting && data.has_missing();
}

// Splits the node of the greatest gain, of equals the first, until there are as many leaves as may be or
// nothing is gained. split(i, last) puts two children in the place of node i.
template <class Nodes, class Split>
void split_best_first(const Nodes& nodes, std::int64_t max_leaves, Split split) {
    for (std::int64_t leaves = 1; leaves < max_leaves; ++leaves) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < nodes.size(); ++i) {
            if (nodes[i].gain > nodes[best].gain) best = i;
        }
        if (!(nodes[best].gain > 0)) break;
        split(best, leaves + 1 == max_leaves);
    }
}

class Grower {
  public:
    // weights: how much each position counts, at most 1; null where all count 1.
    Grower(const TreeData& data, std::int64_t n_labels, const GrowthRules& rules, double weight_unit,
           const double* weights);

    // residuals: (cells, width) in units of 2^-30, at least K^order wide; of a cell with fewer than `order`
    // labels before it, the first K^depth of a row matter, and the others are 0. in_sample: by position, null
    // where all are. Returns the nodes, root first.
    const std::vector<TreeNode>& grow(const std::int32_t* residuals, std::int64_t width,
                                      const std::uint8_t* in_sample, std::uint64_t seed);

    // The same from what each cell brings, where that is no residual over histories; of order 0.
    const std::vector<TreeNode>& grow(const Sums* brought, std::uint64_t seed);

    // After grow(): how many positions it counted.
    std::int64_t n_counted() const { return static_cast<std::int64_t>(sums_[0].size()); }

    // After grow(): the tree's values times `step` as bits of floats (float_bits.hpp), by cell and label
    // context, in the place of the residuals. Where positions are split, they are added up as a Forest does,
    // to the bit.
    void put_values(double step, std::int32_t* to) const;

  private:
    struct DenseSlot {
        std::int64_t delta;
        std::int32_t first_entry;
    };
    using Members = std::vector<std::int32_t>;
    struct Histories {
        HistorySet set;
        std::vector<Members> members;    // by depth
        std::vector<std::uint8_t> has;   // by depth: whether there are members
        std::vector<double> n_examples;  // by depth: how many examples a position is; in Newton mode 1
        bool divisible = false;          // whether a test of a previous label can tell them apart

        Histories(const HistorySet& histories, std::int64_t order, bool newton) : set(histories) {
            for (std::int64_t m = 0; m <= order; ++m) {
                members.push_back(histories.members(m));
                has.push_back(!members.back().empty());
                n_examples.push_back(newton ? 1.0 : static_cast<double>(members.back().size()));
            }
            for (std::int64_t lag = 0; lag < order; ++lag) divisible |= histories.size(lag) > 1;
        }
    };

    // Sums of parts of positions.
    struct PartSums {
        double residual = 0, weight = 0, count = 0;
    };

    struct Node {
        std::int32_t tree;      // its index in the tree
        std::size_t layer;      // which copy of the positions it divides
        Range counted, others;  // its parts of that copy
        std::shared_ptr<const Histories>
            of;  // the histories it speaks of; shared by nodes that differ in positions
        Sums total;
        bool has_parts = false;  // of positions: it has some that are not there as a whole
        double gain = 0;
        Test best;
        Split::Side of_missing = Split::Side::unknown;
        std::vector<std::int32_t> entries;     // of the best test on what is read
        std::vector<Sums> by_label;            // see label_entry
        std::vector<PartSums> in_parts;        // the same, before rounding, where there are parts
        double n = 0;                          // examples, parts as parts; only if splits part positions
        std::unique_ptr<Histogram> histogram;  // only where it saves counting
    };

    using Children = std::pair<Node, Node>;
    // A test on what is read that decides for another one where a value is missing.
    struct Surrogate {
        const TreeData::Slot* slot;
        std::int32_t code;
        bool opposite;
        double rate;  // of positions where it says what the other one does
    };

    const std::vector<TreeNode>& grow_root(const std::uint8_t* in_sample, std::uint64_t seed);
    Range select(const std::uint8_t* in_sample);
    Node make_node(std::size_t layer, Range counted, Range others, std::shared_ptr<const Histories> of);
    void load(const Node& root);
    void load_both(Node& yes, Node& no);
    template <class Bring>
    void share_out(Node& yes, Node& no, Bring bring);
    void sum_up(Node& node) const;
    void study(Node& node);
    void study_root(Node& root);
    void count(const Node& node, Histogram& histogram, bool marking);
    void restore_usual(const Node& node, const TreeData::Slot& slot, Histogram& histogram,
                       bool marking) const;
    template <class Entry, class Add>
    void count_listed(const Node& node, const std::vector<std::int64_t>& starts,
                      const std::vector<Entry>& list, Add add) const;
    void count_grouped(const Node& node, Histogram& histogram);
    template <bool marking, bool mapped>
    void count_as(const Node& node, Histogram& histogram) const;
    void count_histories(Node& node);
    std::int64_t count_narrow(Node& node, const std::int32_t* cells, std::int64_t n);
    void count_histories_of_parts(Node& node);
    void count_narrow_parts(Node& node);
    void leave_labels_in_parts(Node& parent, const Node& small, Node& large);
    void round_labels(Node& node) const;
    template <class Column, class Real, class Put>
    void add_labels(const Node& node, std::int64_t m, const Column* columns, std::vector<Real>& by_label,
                    Put put) const;
    void find_best(Node& node, const Histogram& histogram, bool marked);
    void consider_histories(Node& node);
    void consider_label_sets(Node& node, std::int64_t lag);
    void split(std::size_t i, bool last);
    Children divide_positions(Node& parent);
    Children divide_histories(Node& parent);
    // What becomes of missing values: grower_missing.cpp.
    Children share_missing(Node& parent, const TreeData::Slot& slot);
    std::pair<std::int64_t, bool> bring_smaller_side(const Node& parent, const TreeData::Slot& slot);
    template <class Side>
    std::pair<std::int64_t, bool> bring_smaller_side(const Node& parent, const TreeData::Slot& slot,
                                                     Side side);
    void move_parts(Node& small, Node& large, bool small_is_yes, double share);
    std::vector<const Node*> leaves_by_level() const;
    double count_examples(const Node& node, Range range) const;
    double examples(const Node& node, std::int64_t i) const {
        const std::int32_t c = layers_[node.layer].cells[i];
        return counts(c) * parts_[node.layer][i] * node.of->n_examples[data_.depth_at[c]];
    }
    void exchange(std::size_t layer, std::int64_t i, std::int64_t j) {
        std::swap(sums_[layer][i], sums_[layer][j]);
        if (splits_positions_) std::swap(parts_[layer][i], parts_[layer][j]);
    }
    Children divide_by_surrogates(Node& parent, const TreeData::Slot& slot);
    std::vector<Surrogate> find_surrogates(const Node& parent, const TreeData::Slot& slot, Range missing);
    void consider_surrogates(const TreeData::Slot& slot, std::size_t s, const Histogram& votes, bool marked,
                             const Sums& total, std::vector<Surrogate>& found) const;
    bool surrogate_says(const std::vector<Surrogate>& surrogates, std::int32_t c, bool otherwise) const;
    double share_of_yes(const Node& yes, const Node& no) const;
    void study_divided_positions(Node& parent, Node& yes, Node& no);
    void study_divided_histories(Node& parent, Node& yes, Node& no);
    void leave_labels(Node& parent, Node& no) const;
    std::size_t new_layer();
    std::unique_ptr<Histogram> take_histogram();

    // Whether counting the node costs enough for its histogram to be kept.
    bool is_large(const Node& node) const {
        return 4 * static_cast<double>(node.counted.size()) * reads_ >= map_->n_places();
    }
    // Whether counting in groups saves more than adding up their tables costs; never where entries are
    // marked.
    bool groups_pay(const Node& node) const {
        return is_large(node) &&
               static_cast<double>(node.counted.size()) * groups_.saved() > groups_.n_places();
    }
    const Objective& objective() const { return objective_; }
    // Whether the weight of a whole position is the number of its examples.
    bool additive() const { return !objective().newton && !weights_; }
    std::int64_t one_example() const { return static_cast<std::int64_t>(objective().weight_unit); }
    // What a position brings to a node where it has n examples.
    Sums brought(std::int64_t residual, std::int64_t n, std::int32_t c) const {
        return additive() ? one_position(residual, n * one_example())
                          : objective().position(residual, n, counts(c));
    }
    // The same of a part of it; `counted` is 1 where the part counts as the position, or 0.
    Sums brought(std::int64_t residual, std::int64_t n, std::int32_t c, double part,
                 std::int64_t counted) const {
        Sums sums = objective().position(residual, n, counts(c) * part);
        sums.packed -= (1 - counted) << kCountShift;
        return sums;
    }
    // Whether the test that a node splits on holds at a cell.
    bool holds(const Node& node, const TreeData::Slot& slot, std::int32_t c) const {
        if (node.entries.size() == 1) return data_.holds(slot, node.entries[0] - slot.first_entry, c);
        bool in = false;
        data_.read(slot, c, [&](std::int32_t code) { in = in_set_[code] != 0; });
        return in;
    }
    double counts(std::int32_t c) const { return weights_ ? weights_[data_.position[c]] : 1.0; }
    const std::int32_t* row(std::int32_t c) const { return residuals_ + c * width_; }
    std::int64_t label_entry(std::int64_t lag, std::int64_t v) const { return 2 * (lag * (k_ + 1) + v); }

    const TreeData& data_;
    const SlotGroups& groups_;
    std::int64_t k_, order_, width_ = 1;
    GrowthRules rules_;
    Objective objective_;
    std::int64_t trim_;  // influence_trim in units of residuals
    const double* weights_;
    std::vector<DenseSlot> dense_;  // slots that read one code
    double reads_ = 0;              // entries counted for a position, on average
    bool splits_positions_;
    const std::int32_t* residuals_ = nullptr;
    const Sums* brought_ = nullptr;  // by cell, in place of residuals
    std::uint64_t seed_ = 0;
    Splitter splitter_;
    EntryMap all_, some_;  // of all entries; and of those that the tree can use
    const EntryMap* map_;
    std::vector<TreeNode> tree_;
    std::vector<Node> nodes_;
    // A split on histories copies its positions: each copy is a layer.
    std::vector<CellOrder> layers_;
    std::vector<std::vector<Sums>> sums_;
    std::vector<std::vector<float>> parts_;  // how much of each position is there; only if splits part them
    std::size_t n_layers_ = 0;
    std::vector<std::unique_ptr<Histogram>> spare_;
    Histogram scratch_, root_;   // zero between uses
    std::vector<Sums> grouped_;  // the same
    std::vector<std::int64_t> by_label_, columns_, n_cells_;
    std::vector<double> part_by_label_, part_columns_;
    std::vector<std::uint8_t> in_set_;
    std::vector<std::int32_t> places_, missed_;
    std::vector<Sums> votes_;
    std::vector<std::int32_t> others_;
};

}  // namespace hedgerow
