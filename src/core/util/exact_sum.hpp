// The sum of doubles without rounding, in whole numbers. It does not depend on the order of the doubles, and
// the sums of parts can be added.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

// The sum over j of limbs[j] * 2^(lowest + j). A limb has room for the sum of 2^36 doubles.
struct ExactSum {
    std::vector<std::int64_t> limbs;
    std::int64_t lowest = 0;
};

// The sum of n finite doubles, or with weights the sum of the products weight * value, each rounded to a
// double. A value with the weight 0 counts for nothing, even if it is infinite. weights: null for none.
// Throws std::invalid_argument if a summed number is not finite.
ExactSum exact_sum(const double* values, const double* weights, std::int64_t n);

}  // namespace hedgerow
