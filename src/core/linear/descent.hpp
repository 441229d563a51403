// Minimising with the penalty l1 * sum |w| + l2 * sum w^2 by OWL-QN (Andrew & Gao 2007): |w| has no
// derivative at 0, so the gradient is replaced by a pseudo-gradient, and a step stays within the orthant of
// its start.
#pragma once

#include <cstdint>

#include "util/ordered_sum.hpp"

namespace hedgerow {

// Returns l1 sum |w| + l2 sum w^2; gradient += 2 l2 w, the derivative of the smooth part.
double penalize(const double* weights, double l1, double l2, double* gradient, const OrderedSum& sums);

// out <- the pseudo-gradient of f(w) + l1 sum |w|, with g the gradient of f:
//
//     g + l1 for w > 0,   g - l1 for w < 0,   g - clamp(g, -l1, l1) for w = 0
void pseudo_gradient(const double* weights, const double* gradient, double l1, double* out,
                     const OrderedSum& sums);

// direction_i <- 0 wherever direction_i slope_i >= 0: only descent remains.
void keep_descent(double* direction, const double* slope, const OrderedSum& sums);

// step <- length * direction; reached <- weights + step. within: the step stays in its orthant, a weight that
// would change its sign becomes 0.
void take_step(const double* weights, const double* direction, double length, bool within, double* reached,
               double* step, const OrderedSum& sums);

}  // namespace hedgerow
