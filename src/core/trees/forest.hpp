// Trees compiled for evaluation, 512 positions at a time.
//
// Every test that occurs has a number. Reading the attributes of a position sets its bit in the mask of each
// test that holds there. The splits of a tree then divide sets of positions, one operation for each side.
// Tests of previous labels are resolved at compile time: label contexts that a tree does not distinguish are
// a class, and each class has its leaves. Chunks with missing values use fractional_kernels.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trees/fractional_kernels.hpp"
#include "trees/tree.hpp"
#include "trees/tree_kernels.hpp"
#include "trees/tree_records.hpp"
#include "util/aligned_vector.hpp"

namespace hedgerow {

// The attribute ids of a slot. Tests of the values of a numeric slot are thresholds.
struct SlotIds {
    std::int32_t first, n_values;
    bool numeric;
};

class Forest {
  public:
    Forest(const std::vector<SlotIds>& slots, std::int64_t n_ids, std::int64_t n_labels, std::int64_t order,
           bool shared);

    // Adds all trees; throws std::invalid_argument if they are damaged. Call it once.
    void compile(const TreeRecordsView& trees);

    std::int64_t n_labels() const { return k_; }
    std::int64_t order() const { return order_; }
    std::int64_t n_ids() const { return n_ids_; }
    std::int64_t n_contexts() const { return n_contexts_; }

    // The memory of a thread that evaluates chunks.
    class Work {
        friend Forest;
        std::uint64_t* mask(std::int64_t test) { return masks_.data() + test * n_words_; }

        std::int64_t n_, n_words_;
        AlignedVector<std::uint64_t> masks_;    // by test: the positions where it holds
        AlignedVector<std::uint64_t> sets_;     // of a tree
        std::vector<std::int32_t> depths_;      // by position: how many labels precede it
        AlignedVector<std::uint64_t> missing_;  // by slot: the positions whose value is missing
        bool any_missing_ = true;               // true at first, so that missing_ is cleared
        AlignedVector<float> weights_;          // of a tree; allocated when needed
        AlignedVector<float> sums_;             // (512, width) or (label contexts of every length, 512)
    };
    Work make_work(std::int64_t n_positions) const;  // in all chunks together

    // Starts a chunk of n positions. Then, for each position: put_depth() with the number of labels before
    // it, read() for each attribute, miss() for each slot whose value is missing.
    void begin(Work& work, std::int64_t n) const;
    void put_depth(Work& work, std::int64_t i, std::int64_t depth) const {
        work.depths_[i] = static_cast<std::int32_t>(depth);
    }
    void read(Work& work, std::int64_t i, std::int32_t id) const {
        const std::int32_t test = test_of_[id];
        if (test >= 0) {
            insert(work.mask(test), i);
        } else if (test != kNoTest) {
            for (const std::int32_t* t = tests_.data() + ~test; *t != kNoTest; ++t) insert(work.mask(*t), i);
        }
    }
    void miss(Work& work, std::int64_t i, std::int64_t slot) const {
        insert(work.missing_.data() + slot * work.n_words_, i);
        work.any_missing_ = true;
    }
    // Adds the values of all trees to scores (positions of the chunk, label contexts, labels).
    void add_scores(Work& work, float* scores) const;

  private:
    // A tree for `label`, its nodes root first, children after their only parent.
    void add(std::int64_t label, const std::vector<TreeNode>& nodes);
    // A tree for all labels, with a row of values for each node.
    void add_shared(const std::vector<TreeNode>& nodes, const float* rows);
    void finish();

    struct NamedTest {
        std::int32_t attribute;
        std::vector<std::int32_t> alternatives;
        std::int32_t number;
    };
    std::int32_t number_of(const Test& test);
    std::int32_t slot_of(std::int32_t id) const;
    void add_missing_rule(const TreeNode& node);
    struct Reached {  // a node, and the set of positions that reach it
        std::int32_t at, set;
    };
    std::vector<Reached> add_splits(const std::vector<TreeNode>& nodes);
    std::vector<std::vector<std::int32_t>> leaves_by_context(const std::vector<TreeNode>& nodes,
                                                             const std::vector<Reached>& leaves) const;
    void add_class(const std::vector<Reached>& leaves, const std::vector<TreeNode>& nodes, const Part& rows);
    void clear_sums(Work& work) const;
    MissingRules missing_rules(const Work& work) const {
        return {missing_rules_.data(), surrogates_.data(), work.missing_.data()};
    }
    void add_tree(Work& work, const Replay& replay, const FlatTree& tree) const;
    void add_fractions(Work& work, const Replay& replay, const FlatTree& tree) const;
    void spread(const Work& work, std::int64_t label, float* scores) const;

    std::vector<SlotIds> slots_;
    std::int64_t n_ids_, k_, order_, n_contexts_;
    std::vector<std::int64_t>
        n_before_;  // by depth: how many label contexts are shorter; then the number of all
    bool shared_;
    std::int64_t width_;  // of a row of values, in trees for all labels
    std::int64_t most_sets_ = 2;
    std::vector<std::vector<FlatTree>> trees_;  // by label; trees for all labels are under the first
    std::vector<CompiledSplit> splits_;
    std::vector<MissingRule> missing_rules_;  // by split
    bool splits_positions_ = false;           // whether a split can send fractions to both sides
    std::vector<Surrogate> surrogates_;
    std::vector<Part> parts_;
    std::vector<std::int32_t> entries_, rows_;
    AlignedVector<float> values_;
    std::vector<NamedTest> named_;
    std::vector<std::int32_t> simple_;  // by id: the number of the test on it alone, -1 if there is none
    // By id: the test that holds where it is read, or none, or ~ where several begin in tests_; none ends
    // them.
    static constexpr std::int32_t kNoTest = std::numeric_limits<std::int32_t>::min();
    std::vector<std::int32_t> test_of_, tests_;
};

}  // namespace hedgerow
