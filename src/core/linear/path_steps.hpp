// Passive-aggressive learning (Crammer et al. 2006) and AROW (Crammer et al. 2009) of first-order models, one
// sequence at a time. Where the best path is not gold,
//
//     d    = features of gold - features of the best path
//     cost = (number of wrong labels)^loss_power - w d
//     step = min(largest_step, cost / (slack + Σ_f v_f d_f²))
//     w_f += sample weight * step * v_f * d_f
//
// Passive-aggressive learning has variances v_f = 1. Those of AROW shrink: 1 / v_f += d_f² / slack.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/features.hpp"

namespace hedgerow {

struct PathStepRules {
    double loss_power;    // 0: each wrong path costs 1; 1: each wrong label costs 1
    double slack;         // at least 0; above 0 if variances shrink
    double largest_step;  // infinity for no limit
    bool shrinks;         // whether variances shrink
};

class PathStepLearner {
  public:
    // The weights are those of the features, then those of `cells`: label pairs, numbered as in the
    // transition table (topology.hpp). variance: the initial v_f. averaged: keep the sums that mean weights
    // need.
    PathStepLearner(const Features& features, std::vector<std::int64_t> cells, const PathStepRules& rules,
                    double variance, bool averaged);

    // Learns from the sequence at positions begin..end. Returns the cost; 0 if the best path was gold.
    double learn(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold,
                 double weight);

    // Counts n more sequences whose best paths are gold.
    void stay(std::int64_t n) { n_vectors_ += n; }

    std::int64_t n_weights() const { return static_cast<std::int64_t>(values_.size()); }
    // to <- the current weights; if averaged, the mean of the weights at the start and after each sequence.
    void copy_weights(double* to) const;

  private:
    // An attribute at a position, and the range of its features.
    struct Read {
        std::int64_t begin, end;
        double value;
        std::int64_t position;
    };

    void read(const Slots& slots, std::int64_t begin, std::int64_t end);
    void find_best_path(std::int64_t length);
    void find_difference(std::int64_t length, const std::int32_t* gold);
    void add_state(const Read& read, std::int32_t label, double amount);
    void add_cell(std::int32_t previous, std::int32_t label, double amount);
    void add(std::int64_t f, double amount);
    double variance(std::int64_t f) const { return variances_.empty() ? 1.0 : variances_[f]; }
    void take_step(double step);

    Features features_;
    std::vector<std::int64_t> cells_;
    PathStepRules rules_;
    std::vector<std::int64_t> weight_of_cell_;  // -1 for a cell without a weight
    std::vector<double> values_, sums_;         // as in weight_rows.hpp
    std::vector<double> variances_;             // empty unless they shrink
    std::vector<double> table_;                 // transition table
    std::int64_t n_vectors_ = 1;                // weight vectors so far; the first is 0

    std::vector<Read> reads_;  // of the sequence
    std::vector<double> state_, work_;
    std::vector<std::int32_t> path_;
    std::vector<double> difference_;       // d; 0 except at `differing_`
    std::vector<std::int64_t> differing_;  // each weight at most once
    std::vector<std::uint8_t> is_listed_;  // whether a weight is in `differing_`
};

}  // namespace hedgerow
