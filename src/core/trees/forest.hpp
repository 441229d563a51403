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

#include "data/attribute_reader.hpp"
#include "trees/fractional_kernels.hpp"
#include "trees/replay_kernels.hpp"
#include "trees/tree.hpp"
#include "trees/tree_records.hpp"
#include "util/aligned_vector.hpp"

namespace hedgerow {

class Forest {
  public:
    // For columns and a window like those of `attributes`. shared: the trees have a value for each label.
    Forest(const AttributeView& attributes, std::int64_t n_labels, std::int64_t order, bool shared);

    // Adds all trees; throws std::invalid_argument if they are damaged. Call it once.
    void compile(const TreeRecordsView& trees);

    std::int64_t n_labels() const { return k_; }
    std::int64_t n_contexts() const { return n_contexts_; }
    // Whether the attributes have the same numbers as those the forest was made for.
    bool reads(const AttributeView& attributes) const {
        return attributes.n_ids == n_ids_ && slot_ids(attributes) == slots_;
    }

    // Adds the values of all trees to scores (positions, label contexts, labels).
    void add_scores(const AttributeView& attributes, float* scores, std::int64_t n_threads) const;

  private:
    // The attribute ids of a slot. Tests of the values of a numeric slot are thresholds.
    struct SlotIds {
        std::int32_t first, n_values;
        bool numeric;
        bool operator==(const SlotIds&) const = default;
    };
    static std::vector<SlotIds> slot_ids(const AttributeView& attributes);
    // What the trees test of a slot.
    struct SlotTests {
        bool any = false, by_id = false;  // any test; tests in test_of_, for values or for padding
        std::vector<Threshold> thresholds;
    };

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

    // The sequence of a position.
    struct Span {
        std::int64_t begin, end;
    };
    struct Work;
    Work make_work(std::int64_t n_positions) const;
    void begin(Work& work, std::int64_t n) const;
    void read_chunk(const AttributeView& attributes, std::int64_t first, std::int64_t last, Work& work) const;
    void set_tests(Work& work, std::int64_t i, std::int32_t id) const;
    void read_ids(const Slot& slot, std::int64_t s, std::int64_t first, Work& work) const;
    void read_bins(const Slot& slot, std::int64_t s, std::int64_t first, Work& work) const;
    void clear_sums(Work& work) const;
    MissingRules missing_rules(const Work& work) const;
    void add_trees(Work& work, float* scores) const;
    void add_tree(Work& work, const Replay& replay, const FlatTree& tree) const;
    void add_fractions(Work& work, const Replay& replay, const FlatTree& tree) const;
    void spread(const Work& work, std::int64_t label, float* scores) const;

    std::vector<SlotIds> slots_;
    std::int64_t n_ids_, k_, order_, n_contexts_;
    // By depth: how many label contexts are shorter; then the number of all.
    std::vector<std::int64_t> n_before_;
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
    std::vector<SlotTests> slot_tests_;
    std::vector<std::int32_t> simple_;  // by id: the number of the test on it alone, -1 if there is none
    // By id: the test that holds where it is read, or none, or ~ where several begin in tests_; none ends
    // them.
    static constexpr std::int32_t kNoTest = std::numeric_limits<std::int32_t>::min();
    std::vector<std::int32_t> test_of_, tests_;
};

}  // namespace hedgerow
