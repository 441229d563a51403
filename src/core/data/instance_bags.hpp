// Bags of positions that go before or after each position, and the noisy-or over them.
//
// The bag of position t is t + 1 .. t + u, or where it looks back t - u .. t - 1, as far as the sequence
// goes. With q_s = 1 / (1 + exp(-G_s)) the probability that position s shows a pattern, the bag shows it with
//
//     p_t = 1 - prod over its positions s of (1 - q_s) = 1 - exp(-sum of softplus(G_s)),
//
// where softplus(G) = log(1 + exp G) = -log(1 - q).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hedgerow {

// IN: n values of a sequence, the size u of bags. OUT: for each position the sum over its bag.
//
// The sequence is cut into blocks of u: a bag is the end of one block and the beginning of the next, whose
// sums are there already. So every size costs the same, nothing is subtracted, and sums of what is not
// negative are not negative. back: the sequence is read from its end.
inline void sum_bags(const double* values, std::int64_t n, std::int64_t u, bool back,
                     std::vector<double>& from_begin, double* sums) {
    u = std::min(u, n);
    const auto place = [n, back](std::int64_t i) { return back ? n - 1 - i : i; };
    from_begin.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        from_begin[i] = (i % u == 0 ? 0.0 : from_begin[i - 1]) + values[place(i)];
    double to_end = 0;  // of the block of position i, from it on
    for (std::int64_t i = n - 1; i >= 0; --i) {
        // The bag of i - 1 begins at i, and ends at `last`.
        to_end = (i % u == u - 1 ? 0.0 : to_end) + values[place(i)];
        const std::int64_t last = std::min(i + u - 1, n - 1);
        if (i > 0) sums[place(i - 1)] = to_end + (last / u > i / u ? from_begin[last] : 0.0);
    }
    if (n > 0) sums[place(n - 1)] = 0;
}

// log(1 + exp x), for any x.
inline double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

// IN: scores G of a sequence. OUT: p and 1 - p of each bag, each to full precision.
inline void noisy_or(const double* scores, std::int64_t n, std::int64_t u, bool back,
                     std::vector<double>& terms, std::vector<double>& room, double* p, double* rest) {
    terms.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) terms[i] = softplus(scores[i]);
    sum_bags(terms.data(), n, u, back, room, p);
    for (std::int64_t i = 0; i < n; ++i) {
        rest[i] = std::exp(-p[i]);
        p[i] = -std::expm1(-p[i]);
    }
}

}  // namespace hedgerow
