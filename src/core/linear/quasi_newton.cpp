#include "linear/quasi_newton.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "util/ordered_sum.hpp"

namespace hedgerow {
namespace {

// out += factor * what over [begin, end)
void add(const float* what, double factor, std::int64_t begin, std::int64_t end, double* out) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) out[i] += factor * static_cast<double>(what[i]);
}

// out += factor * what (if not null); returns the dot product of `with` and out.
double add_and_dot(const OrderedSum& sums, const float* what, double factor, const float* with, double* out) {
    return sums.sum([&](std::int64_t begin, std::int64_t end) {
        if (what) add(what, factor, begin, end, out);
        return OrderedSum::dot_of(with, out, begin, end);
    });
}

}  // namespace

bool QuasiNewton::forget() {
    const bool any = !pairs_.empty();
    pairs_.clear();
    return any;
}

void QuasiNewton::remember(const double* step, const double* change, std::int64_t n_threads) {
    const OrderedSum sums(n_, n_threads);
    const double curvature = sums.dot(step, change);
    const double size = std::sqrt(sums.dot(step, step) * sums.dot(change, change));
    if (!(curvature > 1e-10 * size)) return;
    Pair pair;
    if (static_cast<std::int64_t>(pairs_.size()) == memory_) {
        pair = std::move(pairs_.front());
        pairs_.erase(pairs_.begin());
    }
    pair.step.resize(static_cast<std::size_t>(n_));
    pair.change.resize(static_cast<std::size_t>(n_));
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i) {
            pair.step[i] = static_cast<float>(step[i]);
            pair.change[i] = static_cast<float>(change[i]);
        }
    });
    pair.curvature = sums.dot(pair.step.data(), pair.change.data());
    if (pair.curvature > 0) pairs_.push_back(std::move(pair));
}

// out <- H gradient, by the two-loop recursion over the pairs p, with c_p = s_p y_p:
//
//     q = gradient;  newest to oldest:  a_p = s_p q / c_p,  q -= a_p y_p
//     q *= c_m / (y_m y_m), of the newest pair
//     oldest to newest:  q += (a_p - y_p q / c_p) s_p
//
// An update of q and the next product with q share one pass over memory.
void QuasiNewton::times(const double* gradient, double* out, std::int64_t n_threads) const {
    const OrderedSum sums(n_, n_threads);
    const auto m = static_cast<std::int64_t>(pairs_.size());
    std::vector<double> a(static_cast<std::size_t>(m) + 1, 0.0);
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        std::copy(gradient + begin, gradient + end, out + begin);
    });
    for (std::int64_t p = m - 1; p >= 0; --p) {
        const float* last = p + 1 < m ? pairs_[p + 1].change.data() : nullptr;
        a[p] = add_and_dot(sums, last, -a[p + 1], pairs_[p].step.data(), out) / pairs_[p].curvature;
    }
    if (m > 0) {
        const float* change = pairs_.back().change.data();
        const double scale = pairs_.back().curvature / sums.dot(change, change);
        sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
            add(pairs_[0].change.data(), -a[0], begin, end, out);
            for (std::int64_t i = begin; i < end; ++i) out[i] *= scale;
        });
    }
    double factor = 0;
    for (std::int64_t p = 0; p < m; ++p) {
        const float* last = p > 0 ? pairs_[p - 1].step.data() : nullptr;
        const double product = add_and_dot(sums, last, factor, pairs_[p].change.data(), out);
        factor = a[p] - product / pairs_[p].curvature;
    }
    if (m == 0) return;
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        add(pairs_.back().step.data(), factor, begin, end, out);
    });
}

}  // namespace hedgerow
