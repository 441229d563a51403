// Limited-memory BFGS: a guess at the inverse Hessian from the last few steps and what they did to the
// gradient, on top of a diagonal. Sums are made in fixed pieces, so that threads do not change them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace hedgerow {

class QuasiNewton {
  public:
    QuasiNewton(std::int64_t n, std::int64_t memory) : n_(n), memory_(memory) {}

    std::int64_t n() const { return n_; }
    // Starts again from the diagonal; false if that is where it is.
    bool forget() {
        const bool any = !pairs_.empty();
        pairs_.clear();
        return any;
    }

    // A step and the change of the gradient along it; of no use, and left out, unless the function curves
    // upward along it.
    void remember(const double* step, const double* change, std::int64_t n_threads) {
        double curvature = 0, length = 0, turn = 0;
        const auto all = sums<3>(n_threads, [&](std::int64_t i, double* sum) {
            sum[0] += step[i] * change[i];
            sum[1] += step[i] * step[i];
            sum[2] += change[i] * change[i];
        });
        curvature = all[0], length = all[1], turn = all[2];
        if (!(curvature > 1e-10 * std::sqrt(length * turn)) || !(turn > 0)) return;
        Pair pair;
        if (static_cast<std::int64_t>(pairs_.size()) == memory_) {
            pair = std::move(pairs_.front());
            pairs_.erase(pairs_.begin());
        }
        pair.step.resize(static_cast<std::size_t>(n_));
        pair.change.resize(static_cast<std::size_t>(n_));
        pieces(n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
            for (std::int64_t i = begin; i < end; ++i) {
                pair.step[i] = static_cast<float>(step[i]);
                pair.change[i] = static_cast<float>(change[i]);
            }
        });
        pair.curvature = sums<1>(n_threads, [&](std::int64_t i, double* sum) {
            sum[0] += static_cast<double>(pair.step[i]) * pair.change[i];
        })[0];
        if (pair.curvature > 0) pairs_.push_back(std::move(pair));
    }

    // out <- the guess at the inverse Hessian, times `gradient`. inverse_diagonal: what it is without pairs.
    void times(const double* gradient, const double* inverse_diagonal, double* out, std::int64_t n_threads) {
        const auto m = static_cast<std::int64_t>(pairs_.size());
        std::vector<double> share(static_cast<std::size_t>(m) + 1, 0.0);
        pieces(n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
            std::copy(gradient + begin, gradient + end, out + begin);
        });
        for (std::int64_t p = m - 1; p >= 0; --p) {  // each pass adds the last pair and asks for the next
            share[p] = ask(pairs_[p].step, p + 1 < m ? &pairs_[p + 1].change : nullptr,
                           p + 1 < m ? -share[p + 1] : 0.0, out, n_threads) /
                       pairs_[p].curvature;
        }
        if (m > 0) add(pairs_[0].change, -share[0], out, n_threads);
        double scale = 1;
        if (m > 0) {  // the diagonal, scaled to the last pair
            const Pair& last = pairs_.back();
            const double turn = sums<1>(n_threads, [&](std::int64_t i, double* sum) {
                sum[0] += inverse_diagonal[i] * last.change[i] * last.change[i];
            })[0];
            scale = last.curvature / turn;
        }
        pieces(n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
            for (std::int64_t i = begin; i < end; ++i) out[i] *= scale * inverse_diagonal[i];
        });
        double back = 0;
        for (std::int64_t p = 0; p < m; ++p) {
            const double asked =
                ask(pairs_[p].change, p > 0 ? &pairs_[p - 1].step : nullptr, back, out, n_threads);
            back = share[p] - asked / pairs_[p].curvature;
        }
        if (m > 0) add(pairs_.back().step, back, out, n_threads);
    }

  private:
    static constexpr std::int64_t kPiece = 1 << 14;
    struct Pair {
        std::vector<float> step, change;
        double curvature = 0;
    };

    template <class Work>
    void pieces(std::int64_t n_threads, Work work) const {
        const std::int64_t n = (n_ + kPiece - 1) / kPiece;
        parallel_for(n, n < 4 ? 1 : n_threads, [&] {
            return [&](std::int64_t c) { work(c * kPiece, std::min(n_, (c + 1) * kPiece), c); };
        });
    }

    // Several sums over all i of what add(i, sums) adds.
    template <int N, class Add>
    std::vector<double> sums(std::int64_t n_threads, Add add) const {
        std::vector<double> parts(static_cast<std::size_t>((n_ + kPiece - 1) / kPiece) * N);
        pieces(n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t c) {
            double sum[N] = {};
            for (std::int64_t i = begin; i < end; ++i) add(i, sum);
            std::copy(sum, sum + N, parts.begin() + c * N);
        });
        std::vector<double> whole(N, 0.0);
        for (std::size_t i = 0; i < parts.size(); ++i) whole[i % N] += parts[i];
        return whole;
    }

    // out += factor * also (if any); returns the sum of with * out.
    double ask(const std::vector<float>& with, const std::vector<float>* also, double factor, double* out,
               std::int64_t n_threads) const {
        std::vector<double> parts(static_cast<std::size_t>((n_ + kPiece - 1) / kPiece));
        pieces(n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t c) {
            double sum[4] = {};
            if (also) {
                const float* more = also->data();
#pragma omp simd
                for (std::int64_t i = begin; i < end; ++i) out[i] += factor * static_cast<double>(more[i]);
            }
            std::int64_t i = begin;
            for (; i + 4 <= end; i += 4) {
                for (int j = 0; j < 4; ++j) sum[j] += static_cast<double>(with[i + j]) * out[i + j];
            }
            for (; i < end; ++i) sum[0] += static_cast<double>(with[i]) * out[i];
            parts[c] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        });
        double whole = 0;
        for (const double part : parts) whole += part;
        return whole;
    }

    void add(const std::vector<float>& what, double factor, double* out, std::int64_t n_threads) const {
        pieces(n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
            for (std::int64_t i = begin; i < end; ++i) out[i] += factor * static_cast<double>(what[i]);
        });
    }

    std::int64_t n_, memory_;
    std::vector<Pair> pairs_;  // oldest first
};

}  // namespace hedgerow
