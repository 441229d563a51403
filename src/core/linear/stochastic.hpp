// Learning from marginals, one sequence after the other: stochastic gradient steps on minus the
// log-likelihood plus each sequence's share of the penalty.
//
//   w <- (1 - rate decay) w + rate weight (gold - marginals),   rate = first / (1 + first decay n_seen)
//
// Weights are kept as scale * values, so that a decay costs one multiplication (the scale falls as 1 /
// n_seen, which no number of sequences makes too small), and summed as in weight_rows.hpp: the vector after
// step i counts i times, so that the mean forgets how it began.
#pragma once

#include <cstdint>
#include <vector>

#include "lattice/fast_lane.hpp"
#include "lattice/lattice.hpp"
#include "linear/features.hpp"

namespace hedgerow {

class StochasticLearner {
  public:
    // cells: those of the table, rising, that are n-grams with a weight.
    StochasticLearner(const Topology& topology, const Features& features, std::vector<std::int64_t> cells,
                      double rate, double decay);

    // Learns from the positions begin..end; returns minus the log-likelihood that they had before.
    double learn(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold,
                 double weight);

    // The same without learning.
    double loss(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold);

    // The sum of squares of the weights now.
    double squared_size() const;
    // The mean of the weights so far: features, then n-grams.
    void mean(double* weights) const;

  private:
    struct Entry {
        std::int32_t output;
        float value;
    };

    // An attribute of a position, and its features.
    struct Read {
        std::int64_t begin, end;
        float value;
        std::int32_t position;
    };

    void read(const Slots& slots, std::int64_t begin, std::int64_t end);
    void score(std::int64_t length);
    void fill_table();
    double infer(std::int64_t length);
    template <class Semiring>
    void infer_in_logs(std::int64_t length, Semiring& log_sum, double* log_z);
    double subtract_from_gold(std::int64_t length, const std::int32_t* gold);
    void absorb(double step);

    Topology topology_;
    Features features_;
    std::vector<Entry> entries_;  // of features
    std::vector<std::int64_t> cells_;
    std::vector<double> n_grams_;           // the values of cells_
    std::vector<double> sums_;              // of features, then n-grams
    std::vector<float> table_;              // of the weights now
    std::vector<double> n_gram_residuals_;  // by cell of the table
    std::vector<float> state_, residuals_, prepared_, work_;
    std::vector<Read> reads_;
    LogSum<double> log_sum_;
    LogSum<DoubleDouble> exact_log_sum_;
    double first_rate_, decay_;
    double scale_ = 1;
    double before_ = 0;  // what the vectors so far count together, in units of `values`
    double total_ = 0;   // and as they are
    std::int64_t n_seen_ = 0;
};

}  // namespace hedgerow
