// The best path of a sequence of order 1 with a table and many labels. The result is that of max_sum.cpp to
// the bit, but most label contexts are never looked at:
//
//   m[t,y] = max over h of (m[t-1,h] + (table[h,y] + state[t,y]))
//
// Labels are divided into tiles. For each tile and h, `bounds` has the largest table[h,y] of the tile. Two
// candidates for every y give a lower limit of m[t,y]: the best h at t-1, and the h with the largest
// table[h,y]. An h whose m[t-1,h] + bound is below the limits of all labels of a tile cannot win there.
#pragma once

#include <cmath>

#include "lattice/views.hpp"
#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {
namespace {

// The table in double and its bounds, in one array; the same for all sequences.
struct BoundedTable {
    static constexpr int N = kLanes<double>, kVectors = 4, kTile = kVectors * N;

    explicit BoundedTable(std::int64_t n_labels, const double* prepared)
        : k(n_labels), width((n_labels + kTile - 1) / kTile * kTile), n_tiles(width / kTile) {
        rows = prepared;
        bounds = rows + k * width;
        row_bounds = bounds + n_tiles * width;
        best_contexts = row_bounds + width;
        best_scores = best_contexts + width;
        largest = best_scores + width;
    }
    static std::int64_t size(std::int64_t n_labels) {
        const BoundedTable table(n_labels, nullptr);
        return table.largest - table.rows + 1;
    }

    std::int64_t k, width, n_tiles;
    const double* rows;           // [k, width]: by label context; padded with minus infinity
    const double* bounds;         // [n_tiles, width]: by label context
    const double* row_bounds;     // [width]: the largest of all tiles
    const double* best_contexts;  // [width]: by label, the first label context with its largest score
    const double* best_scores;    // [width]: that score
    const double* largest;        // [1]: the largest size of a score that is not minus infinity
};

template <class Real>
void bound_table(const Real* scores, std::int64_t k, double* prepared) {
    const BoundedTable table(k, prepared);
    const auto at = [&](const double* part) { return prepared + (part - prepared); };
    double *best_scores = at(table.best_scores), *best_contexts = at(table.best_contexts), largest = 0;
    for (double* x = prepared; x < table.largest; ++x) *x = -INFINITY;
    for (std::int64_t y = 0; y < table.width; ++y) best_contexts[y] = 0;
    for (std::int64_t h = 0; h < k; ++h) {
        const auto context = static_cast<double>(h);
        double row_bound = -INFINITY;
        for (std::int64_t first = 0; first < k; first += BoundedTable::kTile) {
            const std::int64_t n = k - first < BoundedTable::kTile ? k - first : BoundedTable::kTile;
            const Real* from = scores + (1 + h) * k + first;
            double *row = at(table.rows) + h * table.width + first, *tops = best_scores + first,
                   *contexts = best_contexts + first, bound = -INFINITY;
#pragma omp simd reduction(max : bound, largest)
            for (std::int64_t j = 0; j < n; ++j) {
                const double score = from[j], size = score == -INFINITY ? 0.0 : std::abs(score);
                row[j] = score;
                bound = score > bound ? score : bound;
                largest = size > largest ? size : largest;
                contexts[j] = score > tops[j] ? context : contexts[j];
                tops[j] = score > tops[j] ? score : tops[j];
            }
            at(table.bounds)[first / BoundedTable::kTile * table.width + h] = bound;
            row_bound = bound > row_bound ? bound : row_bound;
        }
        at(table.row_bounds)[h] = row_bound;
    }
    *at(table.largest) = largest;
}

template <class Real>
class PrunedPath {
    static constexpr int N = BoundedTable::N, kVectors = BoundedTable::kVectors, kTile = BoundedTable::kTile;
    using V = Vec<double, N>;

  public:
    // `work`: see work_size.
    PrunedPath(const Scores<Real>& scores, std::int64_t k, const double* prepared, double* work)
        : scores_(scores), table_(k, prepared), k_(k), values_(work) {
        state_ = values_ + scores.length * table_.width;
        limits_ = state_ + table_.width;
        contexts_ = reinterpret_cast<std::int32_t*>(limits_ + table_.width);
        left_ = contexts_ + table_.width;
    }
    static std::int64_t work_size(std::int64_t k, std::int64_t length) {
        return (length + 3) * BoundedTable(k, nullptr).width;
    }

    double run(std::int32_t* labels) {
        read_state(0);
        for (std::int64_t y = 0; y < table_.width; ++y)
            values_[y] = y < k_ ? static_cast<double>(scores_.table[y]) + state_[y] : -INFINITY;
        for (std::int64_t t = 1; t < scores_.length; ++t) step(t);
        return trace(labels);
    }

  private:
    double* row(std::int64_t t) { return values_ + t * table_.width; }

    void read_state(std::int64_t t) {
        for (std::int64_t y = 0; y < k_; ++y)
            state_[y] = scores_.state ? static_cast<double>(scores_.state[t * k_ + y]) : 0;
        for (std::int64_t y = k_; y < table_.width; ++y) state_[y] = -INFINITY;
    }

    // The largest size of a number in a row that is not minus infinity.
    double size_of(const double* x) const {
        const V never = fill<double, N>(-INFINITY), zero = fill<double, N>(0);
        V size = zero;
        for (std::int64_t i = 0; i < table_.width; i += N) {
            const V one = load<N>(x + i), finite = where_equal<double, N>(one, never, zero, one);
            size = larger<double, N>(size, larger<double, N>(finite, finite * -1.0));
        }
        return greatest<double, N>(size);
    }

    void step(std::int64_t t) {
        const double* before = row(t - 1);
        double* m = row(t);
        read_state(t);
        // Ten times the largest error of the sums below.
        const double margin = 1e-14 * (size_of(before) + size_of(state_) + *table_.largest);
        start(before, first_best(before), m);
        double lowest = INFINITY;
        for (std::int64_t tile = 0; tile < table_.n_tiles; ++tile) {
            limits_[tile] = limit(m + tile * kTile, state_ + tile * kTile) - margin;
            lowest = limits_[tile] >= lowest ? lowest : limits_[tile];
        }
        const std::int64_t n = list_contexts(before, lowest);
        for (std::int64_t tile = 0; tile < table_.n_tiles; ++tile) finish(tile, before, n, m + tile * kTile);
    }

    // m[y] <- the better of two candidates.
    void start(const double* before, std::int64_t top, double* m) const {
        const double* scores = table_.rows + top * table_.width;
        for (std::int64_t y = 0; y < table_.width; ++y) {
            const double own = before[static_cast<std::int64_t>(table_.best_contexts[y])];
            const double one = before[top] + (scores[y] + state_[y]);
            const double other = own + (table_.best_scores[y] + state_[y]);
            m[y] = one > other ? one : other;
        }
    }
    // The lowest m[y] - state[y]: what m[t-1,h] + table[h,y] must reach somewhere in a tile. A label that the
    // state forbids needs no candidate.
    static double limit(const double* m, const double* state) {
        const V never = fill<double, N>(-INFINITY), always = fill<double, N>(INFINITY);
        V lowest = always;
        for (int j = 0; j < kTile; j += N) {
            const V s = load<N>(state + j), needed = load<N>(m + j) + s * -1.0;
            lowest = smaller<double, N>(lowest, where_equal<double, N>(s, never, always, needed));
        }
        return least<double, N>(lowest);
    }

    // Label contexts that may win in some tile. Returns how many; a comparison with NaN keeps one.
    std::int64_t list_contexts(const double* before, double lowest) {
        std::int64_t n = 0;
        for (std::int64_t h = 0; h < k_; ++h) {
            contexts_[n] = static_cast<std::int32_t>(h);
            n += !(before[h] + table_.row_bounds[h] < lowest);
        }
        return n;
    }

    void finish(std::int64_t tile, const double* before, std::int64_t n, double* m) {
        const double *bounds = table_.bounds + tile * table_.width, *rows = table_.rows + tile * kTile;
        const double lowest = limits_[tile];
        V best[kVectors], state[kVectors];
        for (int j = 0; j < kVectors; ++j) best[j] = load<N>(m + j * N);
        for (int j = 0; j < kVectors; ++j) state[j] = load<N>(state_ + tile * kTile + j * N);
        std::int64_t n_left = 0;
        for (std::int64_t i = 0; i < n; ++i) {  // no branch: nobody could predict it
            const std::int32_t h = contexts_[i];
            left_[n_left] = h;
            n_left += !(before[h] + bounds[h] < lowest);
        }
        for (std::int64_t i = 0; i < n_left; ++i) {
            const double *scores = rows + left_[i] * table_.width, value = before[left_[i]];
            for (int j = 0; j < kVectors; ++j)
                best[j] = larger<double, N>(best[j], value + (load<N>(scores + j * N) + state[j]));
        }
        for (int j = 0; j < kVectors; ++j) store<N>(m + j * N, best[j]);
    }

    // Going back, the first h that gives m[t,y] is found again. Rounding never turns an order round, so the
    // largest table[h,y] shows which h to look at.
    double trace(std::int32_t* labels) {
        const std::int64_t last = scores_.length - 1;
        std::int64_t y = first_best(row(last));
        const double best = row(last)[y];
        for (std::int64_t t = last; t >= 0; --t) {
            labels[t] = static_cast<std::int32_t>(y);
            if (t == 0) break;
            const double* before = row(t - 1);
            const double value = row(t)[y];
            const double state = scores_.state ? scores_.state[t * k_ + y] : 0;
            const double most = table_.best_scores[y] + state;
            const double* scores = table_.rows + y;
            std::int64_t h = 0;
            while (h + 1 < k_ &&
                   (before[h] + most < value || before[h] + (scores[h * table_.width] + state) != value))
                ++h;
            y = h;
        }
        return best;
    }

    std::int64_t first_best(const double* values) const {
        V largest = load<N>(values);
        for (std::int64_t i = N; i < table_.width; i += N)
            largest = larger<double, N>(largest, load<N>(values + i));
        const double best = greatest<double, N>(largest);
        std::int64_t y = 0;
        while (y + 1 < k_ && values[y] != best) ++y;
        return y;
    }

    Scores<Real> scores_;
    BoundedTable table_;
    std::int64_t k_;
    double *values_, *state_, *limits_;
    std::int32_t *contexts_, *left_;  // label contexts that may win in some tile; in one
};

}  // namespace
}  // namespace hedgerow::HEDGEROW_ISA
