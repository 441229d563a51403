// Marginals of one sequence of order 1 with edge scores and few labels: a row of K numbers fits one vector,
// and loops over labels are unrolled. Each step depends on the one before it, so the latency of a step
// decides the speed: the forward and the backward sweep, and those of a second sequence, run in the same
// loop, in registers, and the marginals are combined afterwards. The formulas and the certificate are those
// of sum_product.cpp.
#pragma once

#include "lattice/scaled_sums.hpp"
#include "lattice/views.hpp"
#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {
namespace {

// exps: [length, K, K], readable for one vector beyond its end.
template <class Real, int N, int K>
class NarrowChain {
    static_assert(K <= N && N <= 2 * K, "numbers written beyond a row end within the next row");
    using V = Vec<Real, N>;

  public:
    NarrowChain() = default;
    NarrowChain(const Real* exps, std::int64_t length, Real* work)
        : exps_(exps),
          length_(length),
          forward_(work),
          backward_(forward_ + length * N),
          inverses_(backward_ + length * N) {}
    static std::int64_t work_size(std::int64_t length) { return (2 * N + 1) * length; }

    // Both sweeps of one sequence, or of two. Afterwards log_growth() is log Z less the shifts.
    void sweep() {
        Steps steps(*this);
        for (std::int64_t t = 0; t < length_; ++t) steps.go(t);
        log_growth_ = steps.growths.value();
    }
    static void sweep(NarrowChain& first, NarrowChain& second) {
        Steps of_first(first), of_second(second);
        const std::int64_t both = first.length_ < second.length_ ? first.length_ : second.length_;
        for (std::int64_t t = 0; t < both; ++t) {
            of_first.go(t);
            of_second.go(t);
        }
        for (std::int64_t t = both; t < first.length_; ++t) of_first.go(t);
        for (std::int64_t t = both; t < second.length_; ++t) of_second.go(t);
        first.log_growth_ = of_first.growths.value();
        second.log_growth_ = of_second.growths.value();
    }
    double log_growth() const { return log_growth_; }

    // After sweep(): writes the marginals. Returns false if the sums do not reach `safe`. Rows are written as
    // whole vectors, and the next row overwrites the excess; only the last position is written exactly.
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
    // What the next step of the sweeps needs: step t goes forward to t, and backward from length - 1 - t.
    struct Steps {
        NarrowChain& chain;
        V a, b = ones();
        Real inverse = 1;
        LogProduct growths{};

        explicit Steps(NarrowChain& of) : chain(of), a(load<N>(of.exps_)) {}
        void go(std::int64_t t) {
            const std::int64_t s = chain.length_ - 1 - t;
            if (t > 0) a = step_forward(a, chain.exps_ + t * K * K) * inverse;
            store<N>(chain.forward_ + t * N, a);
            const Real growth = total_of(a);
            growths.times(growth);
            inverse = chain.inverses_[t] = 1 / growth;
            store<N>(chain.backward_ + s * N, b);
            b = step_backward(b, chain.exps_ + s * K * K) * (1 / total_of(b));
        }
    };

    static V ones() {
        V v = fill<Real, N>(0);
        for (int y = 0; y < K; ++y) set_lane<Real, N>(v, y, 1);
        return v;
    }
    // Σ of the first K numbers; the others are undefined.
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
        for (int h = 0; h < K; ++h) set_lane<Real, N>(next, h, total_of(load<N>(e + h * K) * b));
        return next;
    }

    static void write(Real* to, V row, bool last) {
        if (!last) return store<N>(to, row);
        for (int y = 0; y < K; ++y) to[y] = row[y];
    }

    // The first position has one label context, 0; the rows of the others hold undefined numbers.
    // a[t] was divided by the sum of a[t-1], but a[t-1] was not, so it is multiplied by that inverse here.
    // The inverse is multiplied first, because the product of inverse and share may overflow.
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

    const Real* exps_ = nullptr;
    std::int64_t length_ = 0;
    Real *forward_ = nullptr, *backward_ = nullptr, *inverses_ = nullptr;
    double log_growth_ = 0;
};

}  // namespace
}  // namespace hedgerow::HEDGEROW_ISA
