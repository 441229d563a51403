// The fast lane for the best path: dense, order 0 and 1, in double and in the same order of operations as
// lattice.hpp with the Max semiring, so that both find the same path, ties included.
//
//   m[t,y] = max over h of (m[t-1,h] + score(t,h,y))
//
// No back pointers are stored: going back, the maximum over h is computed again, for the winning label only.
#include <cmath>

#include "lattice/fast_lane.hpp"
#include "lattice/pruned_path.hpp"
#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {

namespace {

template <class Real, int N>
class BestPath {
  public:
    BestPath(const Scores<Real>& scores, std::int64_t k, std::int64_t order, double* work)
        : scores_(scores), k_(k), width_((k + N - 1) / N * N), order_(order), values_(work) {
        row_ = values_ + scores.length * width_;
        table_ = row_ + width_;
    }

    double run(std::int32_t* labels) {
        if (uses_table_alone()) {
            for (std::int64_t h = 0; h < k_; ++h) widen(scores_.table + (1 + h) * k_, table_ + h * width_);
        }
        score_row(0, 0, values_);
        for (std::int64_t t = 1; t < scores_.length; ++t)
            step(t, values_ + (t - 1) * width_, values_ + t * width_);
        return trace(labels);
    }

  private:
    bool uses_context() const { return order_ == 1 && (scores_.edge || scores_.table); }
    bool uses_table_alone() const { return order_ == 1 && scores_.table && !scores_.edge; }

    void widen(const Real* from, double* row) const {
        for (std::int64_t y = 0; y < k_; ++y) row[y] = from ? from[y] : 0;
        for (std::int64_t y = k_; y < width_; ++y) row[y] = -INFINITY;
    }

    // (edge + table) + state, as ScoreReader adds them.
    double score(std::int64_t t, std::int64_t h, std::int64_t y) const {
        double sum = 0;
        if (scores_.edge) sum += scores_.edge[(order_ == 0 ? t : t * k_ + h) * k_ + y];
        if (scores_.table) sum += scores_.table[(order_ == 0 || t == 0 ? 0 : 1 + h) * k_ + y];
        if (scores_.state) sum += scores_.state[t * k_ + y];
        return sum;
    }
    void score_row(std::int64_t t, std::int64_t h, double* row) const {
        for (std::int64_t y = 0; y < k_; ++y) row[y] = score(t, h, y);
        for (std::int64_t y = k_; y < width_; ++y) row[y] = -INFINITY;
    }

    // m[y] <- max_h (before[h] + (table[h,y] + state[y])), for W vectors that stay in registers.
    template <int W>
    void tile(const double* before, const double* table, const double* state, double* m) const {
        Vec<double, N> best[W], s[W];
        for (int j = 0; j < W; ++j) best[j] = fill<double, N>(-INFINITY);
        for (int j = 0; j < W; ++j) s[j] = load<N>(state + j * N);
        for (std::int64_t h = 0; h < k_; ++h) {
            for (int j = 0; j < W; ++j) {
                best[j] =
                    larger<double, N>(best[j], before[h] + (load<N>(table + h * width_ + j * N) + s[j]));
            }
        }
        for (int j = 0; j < W; ++j) store<N>(m + j * N, best[j]);
    }

    void step(std::int64_t t, const double* before, double* m) const {
        if (uses_table_alone()) {
            widen(scores_.state ? scores_.state + t * k_ : nullptr, row_);
            std::int64_t i = 0;
            for (; i + 4 * N <= width_; i += 4 * N) tile<4>(before, table_ + i, row_ + i, m + i);
            for (; i < width_; i += N) tile<1>(before, table_ + i, row_ + i, m + i);
        } else if (uses_context()) {
            for (std::int64_t i = 0; i < width_; i += N) store<N>(m + i, fill<double, N>(-INFINITY));
            for (std::int64_t h = 0; h < k_; ++h) {
                score_row(t, h, row_);
                for (std::int64_t i = 0; i < width_; i += N) {
                    store<N>(m + i, larger<double, N>(load<N>(m + i), before[h] + load<N>(row_ + i)));
                }
            }
        } else {  // the best label context is the same for every label
            score_row(t, 0, row_);
            const double best = before[first_best(before)];
            for (std::int64_t i = 0; i < width_; i += N) store<N>(m + i, load<N>(row_ + i) + best);
        }
    }

    double trace(std::int32_t* labels) const {
        const std::int64_t last = scores_.length - 1;
        std::int64_t y = first_best(values_ + last * width_);
        const double best = values_[last * width_ + y];
        for (std::int64_t t = last; t >= 0; --t) {
            labels[t] = static_cast<std::int32_t>(y);
            if (t == 0) break;
            for (std::int64_t h = 0; h < k_; ++h) row_[h] = values_[(t - 1) * width_ + h] + score(t, h, y);
            y = first_best(row_);
        }
        return best;
    }

    std::int64_t first_best(const double* row) const {
        std::int64_t best = 0;
        for (std::int64_t y = 1; y < k_; ++y) best = row[y] > row[best] ? y : best;
        return best;
    }

    Scores<Real> scores_;
    std::int64_t k_, width_, order_;
    double *values_, *row_, *table_;
};

template <class Real>
void max_sum(const Scores<Real>& scores, std::int64_t k, std::int64_t order, std::int32_t* labels,
             double* work, double* score) {
    *score = with_lanes<double>(k, [&](auto lanes) {
        return BestPath<Real, decltype(lanes)::value>(scores, k, order, work).run(labels);
    });
}

std::int64_t max_work_size(std::int64_t k, std::int64_t length) {
    return (length + 1 + k) * padded<double>(k);
}

template <class Real>
void pruned_max_sum(const Scores<Real>& scores, std::int64_t k, const double* prepared, std::int32_t* labels,
                    double* work, double* score) {
    *score = PrunedPath<Real>(scores, k, prepared, work).run(labels);
}

}  // namespace

template <class Real>
void offer_max_sum(FastLane<Real>& lane) {
    lane.max_sum = max_sum<Real>;
    lane.max_work_size = max_work_size;
    lane.bounded_table_size = BoundedTable::size;
    lane.bound_table = bound_table<Real>;
    lane.pruned_max_sum = pruned_max_sum<Real>;
    lane.pruned_work_size = PrunedPath<Real>::work_size;
}
template void offer_max_sum(FastLane<float>&);
template void offer_max_sum(FastLane<double>&);

}  // namespace hedgerow::HEDGEROW_ISA
