// Stochastic gradient descent on the negative log-likelihood of one sequence at a time, plus its share of the
// L2 penalty.
//
//   w <- (1 - rate decay) w + rate weight (gold - marginals),   rate = first / (1 + first decay n_seen)
//
// Weights are stored as scale * values, so that a decay costs one multiplication. The scale falls as
// 1 / n_seen, too slowly to underflow. Averages are computed as in weight_rows.hpp; the vector after step i
// has weight i, so that early vectors count little.
#pragma once

#include <cstdint>
#include <vector>

#include "lattice/fast_lane.hpp"
#include "lattice/forbidden.hpp"
#include "lattice/general_sums.hpp"
#include "lattice/topology.hpp"
#include "linear/features.hpp"

namespace hedgerow {

class StochasticLearner {
  public:
    // cells: the cells of the table that have a weight, in increasing order. With constraints the order of
    // the topology is at least 1: scores of order 0 then have weights in the first row only.
    StochasticLearner(const Topology& topology, const Features& features, std::vector<std::int64_t> cells,
                      Forbidden forbidden, double rate, double decay);

    // Learns from the sequence at positions begin..end. Returns its negative log-likelihood before the step.
    double learn(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold,
                 double weight);

    // The negative log-likelihood of the sequence.
    double loss(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold);

    // Σ w² of the current weights.
    double squared_size() const;
    // weights <- the mean of the weights so far: features, then n-grams.
    void mean(double* weights) const;

  private:
    struct Entry {
        std::int32_t output;
        float value;
    };

    // An attribute at a position, and the range of its features.
    struct Read {
        std::int64_t begin, end;
        float value;
        std::int32_t position;
    };

    void read(const Slots& slots, std::int64_t begin, std::int64_t end);
    void score(std::int64_t length);
    void fill_table();
    double infer(std::int64_t length);
    double subtract_from_gold(std::int64_t length, const std::int32_t* gold);
    void absorb(double step);

    Topology topology_;
    Features features_;
    std::vector<Entry> entries_;  // of features
    std::vector<std::int64_t> cells_;
    Forbidden forbidden_;
    std::vector<double> n_grams_;           // the values of cells_
    std::vector<double> sums_;              // of features, then n-grams
    std::vector<float> table_;              // of the weights now
    std::vector<double> n_gram_residuals_;  // by cell of the table
    std::vector<float> state_, residuals_, prepared_, work_;
    std::vector<Read> reads_;
    GeneralSums<float> general_sums_;
    double first_rate_, decay_;
    double scale_ = 1;
    double before_ = 0;  // Σ_i i scale_i: the weight of all vectors so far, in units of `values`
    double total_ = 0;   // Σ_i i
    std::int64_t n_seen_ = 0;
};

}  // namespace hedgerow
