// Linear scores in double precision: slower than Scorer, for fits that must follow those of another library.
#pragma once

#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/features.hpp"

namespace hedgerow {

class DoubleScorer {
  public:
    DoubleScorer(const Features& features, const double* weights);

    // OUT: scores (positions first..last, width), as of Scorer.
    void score(const AttributeView& attributes, std::int64_t first, std::int64_t last, std::int64_t skip,
               double* scores, std::int64_t n_threads) const;

  private:
    struct Feature {
        double weight;
        std::int32_t output;
    };
    std::int64_t width_;
    std::vector<std::int64_t> starts_;  // of the features of each attribute, and the end
    std::vector<Feature> features_;     // those whose weight is not 0
};

}  // namespace hedgerow
