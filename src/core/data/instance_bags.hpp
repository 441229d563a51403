// Instance bags: the positions just before or after each position, and the noisy-or over them.
//
// The bag of position t is t + 1 .. t + u, or with `back` t - u .. t - 1, cut off at the ends of the
// sequence. With q_s = 1 / (1 + exp(-G_s)) the probability that position s has a pattern, the probability
// that some position of the bag has the pattern is
//
//     p_t = 1 - prod over its positions s of (1 - q_s) = 1 - exp(-sum of softplus(G_s)),
//
// where softplus(G) = log(1 + exp G) = -log(1 - q).
#pragma once

#include <cstdint>

namespace hedgerow {

struct InstanceBags {
    const std::int64_t* starts;  // of the sequences, and the end
    std::int64_t n_sequences;
    std::int64_t size;  // u
    bool back;          // bags before their positions
};

// OUT: sums_t = sum over s in bag(t) of values_s, for each position t.
void sum_over_bags(const InstanceBags& bags, const double* values, double* sums, std::int64_t n_threads);

// IN: scores G. OUT: p and rest = 1 - p of each bag, both to full precision.
void noisy_or(const InstanceBags& bags, const double* scores, double* p, double* rest,
              std::int64_t n_threads);

}  // namespace hedgerow
