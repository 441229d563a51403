// Residuals as whole numbers, whose sums are exact in any order.
#pragma once

#include <cstdint>

namespace hedgerow {

// Probabilities of outputs, and the output that is gold at each position; negative where there is none.
struct OutputAnswers {
    const float* probabilities;  // (positions, width)
    const std::int32_t* gold;    // (positions)
    std::int64_t width;
    const std::int64_t* starts;  // of the sequences, and the end
    std::int64_t n_sequences;
};

// OUT: residuals(t, y) = factors[i] (probability of y at t - [y is gold at t]), rounded to whole numbers, for
// the positions t of each sequence i. The factors are at most 2^25, so the sum of 32 residuals fits 32 bits.
void whole_residuals(const OutputAnswers& answers, const double* factors, std::int32_t* residuals,
                     std::int64_t n_threads);

}  // namespace hedgerow
