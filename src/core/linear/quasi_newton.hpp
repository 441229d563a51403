// Limited-memory BFGS: a guess at the inverse Hessian from the last few steps and what they did to the
// gradient, on top of a multiple of the identity. Sums are made in fixed pieces, so that threads do not
// change them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "util/ordered_sum.hpp"

namespace hedgerow {

class QuasiNewton {
  public:
    QuasiNewton(std::int64_t n, std::int64_t memory) : n_(n), memory_(memory) {}

    std::int64_t n() const { return n_; }
    // Starts again from the identity; false if that is where it is.
    bool forget() {
        const bool any = !pairs_.empty();
        pairs_.clear();
        return any;
    }

    // A step and the change of the gradient along it; of no use, and left out, unless the function curves
    // upward along it.
    void remember(const double* step, const double* change, std::int64_t n_threads) {
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

    // out <- the guess at the inverse Hessian, times `gradient`.
    void times(const double* gradient, double* out, std::int64_t n_threads) {
        const OrderedSum sums(n_, n_threads);
        const auto m = static_cast<std::int64_t>(pairs_.size());
        std::vector<double> share(static_cast<std::size_t>(m) + 1, 0.0);
        sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
            std::copy(gradient + begin, gradient + end, out + begin);
        });
        for (std::int64_t p = m - 1; p >= 0; --p) {  // each pass adds the last pair and asks for the next
            const float* last = p + 1 < m ? pairs_[p + 1].change.data() : nullptr;
            share[p] =
                add_and_ask(sums, last, -share[p + 1], pairs_[p].step.data(), out) / pairs_[p].curvature;
        }
        if (m > 0) {  // the identity, scaled to the last pair
            const float* change = pairs_.back().change.data();
            const double scale = pairs_.back().curvature / sums.dot(change, change);
            sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
                add(pairs_[0].change.data(), -share[0], begin, end, out);
                for (std::int64_t i = begin; i < end; ++i) out[i] *= scale;
            });
        }
        double back = 0;
        for (std::int64_t p = 0; p < m; ++p) {
            const float* last = p > 0 ? pairs_[p - 1].step.data() : nullptr;
            const double asked = add_and_ask(sums, last, back, pairs_[p].change.data(), out);
            back = share[p] - asked / pairs_[p].curvature;
        }
        if (m == 0) return;
        sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
            add(pairs_.back().step.data(), back, begin, end, out);
        });
    }

  private:
    struct Pair {
        std::vector<float> step, change;
        double curvature = 0;
    };

    static void add(const float* what, double factor, std::int64_t begin, std::int64_t end, double* out) {
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i) out[i] += factor * static_cast<double>(what[i]);
    }

    // out += factor * what (if any); returns the sum of with * out.
    static double add_and_ask(const OrderedSum& sums, const float* what, double factor, const float* with,
                              double* out) {
        return sums.sum([&](std::int64_t begin, std::int64_t end) {
            if (what) add(what, factor, begin, end, out);
            return OrderedSum::dot_of(with, out, begin, end);
        });
    }

    std::int64_t n_, memory_;
    std::vector<Pair> pairs_;  // oldest first
};

}  // namespace hedgerow
