// Linear scores in double precision: slower than Scorer, for fits that must follow those of another library.
#pragma once

#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/features.hpp"

namespace hedgerow {

class DoubleScorer {
  public:
    // The arrays of the features must outlive the scorer.
    DoubleScorer(const Features& features, const double* weights)
        : features_(features), weights_(weights, weights + features.n()) {}

    // OUT: scores (positions first..last, width), as of Scorer.
    void score(const AttributeView& attributes, std::int64_t first, std::int64_t last, std::int64_t skip,
               double* scores, std::int64_t n_threads) const;

  private:
    Features features_;
    std::vector<double> weights_;
};

}  // namespace hedgerow
