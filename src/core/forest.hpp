// Trees compiled for evaluation, 512 positions at a time.
//
// Every test that occurs has a number. Reading a position's attributes sets its bit in the mask of each test
// that holds there; the splits of a tree then divide sets of positions, one operation for each side. Tests on
// previous labels are resolved when the forest is made: histories that a tree does not tell apart are a
// class, and each class has its leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "tree.hpp"
#include "tree_kernels.hpp"

namespace hedgerow {

// Where the ids of a slot lie. Tests on the values of a numeric slot are thresholds.
struct SlotIds {
    std::int32_t first, n_values;
    bool numeric;
};

class Forest {
  public:
    Forest(const std::vector<SlotIds>& slots, std::int64_t n_ids, std::int64_t n_labels, std::int64_t order,
           bool shared);

    // A tree for `label`, its nodes root first, children after their parents (checked by the caller).
    void add(std::int64_t label, const std::vector<TreeNode>& nodes);
    // A tree for all labels, with a row of values for each node; of order 0, and not beside trees for one
    // label.
    void add_shared(const std::vector<TreeNode>& nodes, const float* rows);
    // Call once after the last tree.
    void finish();

    std::int64_t n_labels() const { return k_; }
    std::int64_t order() const { return order_; }
    std::int64_t n_ids() const { return n_ids_; }
    std::int64_t n_histories() const { return n_histories_; }

    // What a thread needs to evaluate a chunk.
    struct Work {
        std::vector<PositionBits> masks;    // by test: where it holds
        std::vector<std::uint8_t> holds;    // by test: whether it holds anywhere
        std::vector<std::int32_t> touched;  // tests that hold somewhere
        std::vector<std::int32_t> depths;   // by position: how many labels go before it
        std::vector<PositionBits> sets;     // of a tree
        std::vector<float> sums;            // (512, width) or (histories of every length, 512)
    };
    Work make_work() const;

    // A position of the chunk: its number there, how many labels go before it; then each id it reads.
    void begin_position(Work& work, std::int64_t i, std::int64_t depth) const {
        work.depths[i] = static_cast<std::int32_t>(depth);
    }
    void read(Work& work, std::int64_t i, std::int32_t id) const {
        for (std::int32_t j = test_starts_[id]; j < test_starts_[id + 1]; ++j) {
            const std::int32_t test = tests_[j];
            if (!work.holds[test]) {
                work.holds[test] = 1;
                work.touched.push_back(test);
            }
            insert(work.masks[test], i);
        }
    }
    // Adds the values of all trees to scores (n positions, histories, labels), and makes `work` ready for the
    // next chunk.
    void add_scores(Work& work, std::int64_t n, float* scores) const;

  private:
    struct NamedTest {
        std::int32_t id;
        std::vector<std::int32_t> others;
        std::int32_t number;
    };
    std::int32_t number_of(const Test& test);
    struct Leaf {
        std::size_t node;
        std::int32_t set;
    };
    std::vector<Leaf> add_splits(const std::vector<TreeNode>& nodes);
    void add_class(const std::vector<Leaf>& leaves, const std::vector<TreeNode>& nodes, const Part& rows);
    void spread(const Work& work, std::int64_t n, std::int64_t label, float* scores) const;

    std::vector<SlotIds> slots_;
    std::int64_t n_ids_, k_, order_, n_histories_;
    std::vector<std::int64_t> n_before_;  // by depth: how many histories are shorter; then of all
    bool shared_;
    std::int64_t width_;  // of the rows of shared trees
    std::int64_t most_sets_ = 2;
    std::vector<std::vector<FlatTree>> trees_;  // by label; shared ones are all under the first
    std::vector<Division> splits_;
    std::vector<Part> parts_;
    std::vector<std::int32_t> entries_, rows_;
    std::vector<float> values_;
    std::vector<NamedTest> named_;
    std::vector<std::int32_t> simple_;  // by id: the number of the test on it alone, -1 if there is none
    std::vector<std::int32_t> test_starts_, tests_;  // by id: the tests that hold where it is read
};

}  // namespace hedgerow
