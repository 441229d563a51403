// Marginals of one sequence of order 1 with scores for each position and few labels, so few that rows of K
// numbers fit one vector and loops over labels are unrolled. Each step waits for the one before it, so what
// counts is how long a step takes: both directions go on together, in registers, and what combines them waits
// for nothing. The formulas and the certificate are those of sum_product.cpp.
#pragma once

#include "lattice/views.hpp"
#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {

// exps: (length, K, K), readable for a vector beyond its end. forward, backward and inverses are work space:
// a row of N numbers for each position, and one number. False if `safe` is not reached.
template <class Real, int N, int K>
class NarrowChain {
    static_assert(K <= N && N <= 2 * K, "what is written beyond a row ends in the next one");
    using V = Vec<Real, N>;

  public:
    NarrowChain(const Real* exps, std::int64_t length, Real* forward, Real* backward, Real* inverses)
        : exps_(exps), length_(length), forward_(forward), backward_(backward), inverses_(inverses) {}

    // Product is a running product of the growths, whose logs sum up to log Z.
    template <class Product>
    void sweep(Product& growths) {
        Real inverse = 1, back_inverse = 1;
        V a = load<N>(exps_), b = ones();
        for (std::int64_t t = 0, s = length_ - 1; t < length_; ++t, --s) {
            if (t > 0) a = step_forward(a, exps_ + t * K * K) * inverse;
            store<N>(forward_ + t * N, a);
            const Real growth = total_of(a);
            growths.times(growth);
            inverse = inverses_[t] = 1 / growth;
            store<N>(backward_ + s * N, b);
            back_inverse = 1 / total_of(b);
            b = step_backward(b, exps_ + s * K * K) * back_inverse;
        }
    }

    // After sweep(). Vectors are written whole: what is beyond a row is written again by the next one, and
    // the last position has no next one.
    bool combine(const Marginals<Real>& out, Real safe) const {
        for (std::int64_t t = 0; t < length_; ++t) {
            const V a = load<N>(forward_ + t * N), b = load<N>(backward_ + t * N);
            const V joint = a * b;
            const Real whole = total_of(joint), growth = total_of(b);
            if (!(whole >= safe * (growth > 1 ? growth : 1))) return false;
            const bool last = t + 1 == length_;
            const Real share = 1 / whole;
            if (out.state) write(out.state + t * K, joint * share, last);
            if (out.pair) write_pairs(t, b, share, out.pair + t * K * K, last);
        }
        return true;
    }

  private:
    static V ones() {
        V v = fill<Real, N>(0);
        for (int y = 0; y < K; ++y) v[y] = 1;
        return v;
    }
    // What lies beyond the K numbers of a row does not count.
    static Real total_of(V v) {
        Real sum = v[0];
        for (int y = 1; y < K; ++y) sum += v[y];
        return sum;
    }
    static V step_forward(V a, const Real* e) {
        V next = load<N>(e) * a[0];
        for (int h = 1; h < K; ++h) next += load<N>(e + h * K) * a[h];
        return next;
    }
    static V step_backward(V b, const Real* e) {
        V next = fill<Real, N>(0);
        for (int h = 0; h < K; ++h) next[h] = total_of(load<N>(e + h * K) * b);
        return next;
    }

    static void write(Real* to, V row, bool last) {
        if (!last) return store<N>(to, row);
        for (int y = 0; y < K; ++y) to[y] = row[y];
    }

    // The first position has one label context, 0; the rows of the others hold undefined numbers.
    // a[t] was divided by the sum of a[t-1], but a[t-1] itself was not; that comes first, for the product of
    // share and inverse may be beyond the range.
    void write_pairs(std::int64_t t, V b, Real share, Real* to, bool last) const {
        const Real* e = exps_ + t * K * K;
        if (t == 0) {
            write(to, load<N>(e) * b * share, last);
            for (int h = 1; h < K; ++h) write(to + h * K, fill<Real, N>(0), last);
            return;
        }
        const V weights = load<N>(forward_ + (t - 1) * N) * inverses_[t - 1] * share;
        for (int h = 0; h < K; ++h) write(to + h * K, load<N>(e + h * K) * b * weights[h], last);
    }

    const Real* exps_;
    std::int64_t length_;
    Real *forward_, *backward_, *inverses_;
};

}  // namespace hedgerow::HEDGEROW_ISA
