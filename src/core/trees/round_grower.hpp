// A boosting round: trees for all labels, fitted to gold - marginals, and their values added to the scores.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "trees/group.hpp"
#include "trees/grower.hpp"
#include "trees/growth_rules.hpp"
#include "trees/multi_output_grower.hpp"
#include "trees/transposed_residuals.hpp"
#include "trees/tree_data.hpp"
#include "trees/tree_records.hpp"
#include "util/exchange.hpp"

namespace hedgerow {

// What a round learns from. IN: marginals (positions, label contexts, labels), gold labels by position,
// whether a position is in the sample (null: all are). IN/OUT: scores, of the shape of marginals.
struct RoundInput {
    const float* marginals;
    const std::int32_t* gold;
    float* scores;
    const std::uint8_t* in_sample;
    double step;  // every value of a tree is multiplied by it
    std::uint64_t seed;
    std::int64_t n_threads;
};

// Keeps its memory from round to round.
class RoundGrower {
  public:
    // weights: by position, at most 1; empty if all are 1. exchange: the group that grows the same trees, on
    // tree data that were built by the same group; null if this process grows them alone.
    RoundGrower(std::shared_ptr<const TreeData> data, std::int64_t n_labels, const GrowthRules& rules,
                std::vector<double> weights, std::shared_ptr<Exchange> exchange);

    const TreeData& data() const { return *data_; }
    const GrowthRules& rules() const { return rules_; }
    std::int64_t n_labels() const { return k_; }
    std::int64_t n_contexts() const { return residuals_.n_contexts(); }

    // Whether growing adds the values of the trees to the scores. It does not where some positions are left
    // out; then a Forest has to.
    bool adds_scores(bool samples) const;

    // One tree for each label.
    TreeRecords grow(const RoundInput& round);
    // A single tree with a value for each label; for trees of order 0, without missing values and subsets.
    TreeRecords grow_shared(const RoundInput& round);
    // A single tree of order 0, not Newton's: leaf = sum(targets) / (l2 + sum(weights)). IN: a target and a
    // weight for each position. OUT: values, what the tree adds to each position. Throws
    // std::invalid_argument if the sum of weights is not finite.
    TreeRecords fit(const double* targets, const double* weights, std::uint64_t seed, float* values) const;

    // Measures the phases of grow() from now on; times() has the seconds of all threads together.
    void measure();
    GrowthTimes times() const;
    // After grow(): how many positions its trees counted.
    std::int64_t n_counted() const;

  private:
    using Trees = std::vector<std::vector<TreeNode>>;  // by label

    void join_group();
    std::int64_t bytes_of_label() const;
    std::int64_t block_size(std::int64_t n_threads) const;
    void grow_block(const RoundInput& round, const std::vector<std::int64_t>& labels, Trees& trees);
    void grow_label(Grower& grower, const RoundInput& round, const std::vector<std::int64_t>& labels,
                    std::int64_t i, Trees& trees);
    Packing pack() const;
    const double* weights() const { return weights_.empty() ? nullptr : weights_.data(); }
    std::shared_ptr<Grower> lend_grower();

    std::shared_ptr<const TreeData> data_;
    std::int64_t k_;
    GrowthRules rules_;
    std::vector<double> weights_;
    std::shared_ptr<Exchange> exchange_;   // null if this process grows trees alone
    std::int64_t first_position_ = 0;      // of this member, among those of all members in order
    std::unique_ptr<GroupLayout> layout_;  // null likewise
    std::int64_t group_block_ = 0;         // labels of a block
    TransposedResiduals residuals_;
    Packing packing_;  // of the sums of grow()
    std::mutex growing_, lending_;
    std::vector<std::shared_ptr<Grower>> growers_;
    bool measures_ = false;
    std::deque<GrowthTimes> times_;  // by grower
    std::size_t n_lent_ = 0;
    std::vector<std::int64_t> label_order_;  // the order in which the trees of a round are grown
    std::vector<std::int64_t> n_counted_;    // by label: positions that its last tree counted
    std::unique_ptr<Group> shared_group_;    // null if this process grows trees alone
    std::unique_ptr<MultiOutputGrower> shared_;
    std::vector<float> shared_residuals_;
};

}  // namespace hedgerow
