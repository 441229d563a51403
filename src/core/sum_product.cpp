// The fast lane for sums: scaled, dense, order 0 and 1; equal to lattice.hpp to 1e-9 (double) or to 1e-5 in
// marginals and 1e-6 in log Z (float; log Z itself is summed in double).
//
//   forward    a[t] = (a[t-1] E) * S[t] / r[t-1],   r[t] = sum of a[t],   log Z = sum log r[t] + shifts
//   backward   b[t-1] = E (S[t] * b[t]) / q[t],     q[t] = sum of b[t]
//   marginals  P(y_t = y) = a[t,y] b[t,y] / sum,    P(h, y) = a[t-1,h] E[h,y] S[t,y] b[t,y] / sum
//
// E and S are exp of (scores - their largest), so nothing overflows. Dividing by the sum of one step ago
// keeps the division off the critical path: the sum of a[t] is then the growth of that step alone.
//
// Certificate. What underflow can take from a product is below `tiny`, so a path is lost only if what it
// should have weighed is below tiny / (sum of a[t] * b[t]) of the whole. If that sum is at least `safe` at
// every t, all losses together are below the promised precision; if not, the caller uses the logarithmic
// sweep. Forward alone is certain when no a[t,y] fell below `safe`, for then every loss is small beside
// what the same node kept; otherwise the backward pass is run to certify.
#include <cmath>

#include "fast_lane.hpp"
#include "numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {

namespace {

template <class Real>
struct Safe;
template <>
struct Safe<float> {
    static constexpr float value = 1e-20f;
    static constexpr int logs_apart = 8;  // that many numbers above 1e-38 multiply safely in double
};
template <>
struct Safe<double> {
    static constexpr double value = 1e-270;
    static constexpr int logs_apart = 1;
};

// Products of many positive numbers without a log for each.
template <class Real>
class LogProduct {
  public:
    void times(Real x) {
        product_ *= x;
        if (++n_ == Safe<Real>::logs_apart) flush();
    }
    void plus(double log_x) { sum_ += log_x; }
    double value() {
        flush();
        return sum_;
    }

  private:
    void flush() {
        sum_ += std::log(product_);
        product_ = 1;
        n_ = 0;
    }
    double sum_ = 0, product_ = 1;
    int n_ = 0;
};

// row <- exp(row - max), padding included (it must hold minus infinity); returns max, or 0 if all are -inf.
template <class Real>
Real exponentiate(Real* row, std::int64_t width) {
    Vec<Real> top = load(row);
    for (std::int64_t i = kLanes<Real>; i < width; i += kLanes<Real>) top = larger<Real>(top, load(row + i));
    Real largest = top[0];
    for (int i = 1; i < kLanes<Real>; ++i) largest = top[i] > largest ? top[i] : largest;
    if (largest == -INFINITY) largest = 0;
    for (std::int64_t i = 0; i < width; i += kLanes<Real>) {
        store(row + i, exponential<Real>(load(row + i) - largest));
    }
    return largest;
}

template <class Real>
void fill_row(Real* row, std::int64_t begin, std::int64_t end, Real value) {
    for (std::int64_t i = begin; i < end; ++i) row[i] = value;
}

// out <- sum over h of a[h] rows[h], in tiles of W vectors that stay in registers.
template <class Real, int W>
inline void tile(const Real* a, const Real* rows, std::int64_t k, std::int64_t width, Real* out) {
    Vec<Real> even[W], odd[W];
    for (int j = 0; j < W; ++j) even[j] = odd[j] = fill<Real>(0);
    std::int64_t h = 0;
    for (; h + 1 < k; h += 2) {
        for (int j = 0; j < W; ++j) even[j] += a[h] * load(rows + h * width + j * kLanes<Real>);
        for (int j = 0; j < W; ++j) odd[j] += a[h + 1] * load(rows + (h + 1) * width + j * kLanes<Real>);
    }
    if (h < k) {
        for (int j = 0; j < W; ++j) even[j] += a[h] * load(rows + h * width + j * kLanes<Real>);
    }
    for (int j = 0; j < W; ++j) store(out + j * kLanes<Real>, even[j] + odd[j]);
}

template <class Real>
void times_matrix(const Real* a, const Real* rows, std::int64_t k, std::int64_t width, Real* out) {
    std::int64_t i = 0;
    for (; i + 4 * kLanes<Real> <= width; i += 4 * kLanes<Real>) tile<Real, 4>(a, rows + i, k, width, out + i);
    switch ((width - i) / kLanes<Real>) {
        case 1: return tile<Real, 1>(a, rows + i, k, width, out + i);
        case 2: return tile<Real, 2>(a, rows + i, k, width, out + i);
        case 3: return tile<Real, 3>(a, rows + i, k, width, out + i);
        default: return;
    }
}

// One sequence at hand: its scores, padded rows, and the two passes.
template <class Real>
class Chain {
  public:
    Chain(const Scores<Real>& scores, std::int64_t k, const Real* prepared, const double* shifts, Real* work)
        : scores_(scores), k_(k), width_(padded<Real>(k)), length_(scores.length), shifts_(shifts) {
        start_ = prepared;
        by_history_ = prepared + width_;
        by_label_ = prepared + width_ + k * width_;
        forward_ = work;
        state_ = forward_ + length_ * width_;
        scratch_ = state_ + (scores.edge ? 0 : length_ * width_);
        edges_ = scratch_ + 4 * width_;
    }

    bool run(const Marginals<Real>& out, double* log_z) {
        bool certain = false;
        const bool alive = scores_.edge ? forward<true>(log_z, &certain) : forward<false>(log_z, &certain);
        if (!alive) return false;
        if (!out.state && !out.pair && certain) return true;
        return scores_.edge ? backward<true>(out) : backward<false>(out);
    }

    // Sequences up to this many edge numbers keep their exponentials between the passes; longer ones make
    // them again, so that memory does not grow with length times K².
    static constexpr std::int64_t kKeep = std::int64_t{1} << 19;
    static std::int64_t work_size(std::int64_t k, std::int64_t length, bool per_position) {
        const std::int64_t width = padded<Real>(k);
        const std::int64_t kept = length * k * width <= kKeep ? length : 1;
        return length * width * (per_position ? 1 : 2) + 4 * width + (per_position ? kept * k * width : 0);
    }

  private:
    bool keeps() const { return length_ * k_ * width_ <= kKeep; }

    // exp of the K x K scores into position t, shifted by their common largest, which is returned.
    Real edges_into(std::int64_t t, Real* block) const {
        const std::int64_t rows = t == 0 ? 1 : k_;
        Vec<Real> top = fill<Real>(-INFINITY);
        for (std::int64_t h = 0; h < rows; ++h) {
            Real* row = block + h * width_;
            const Real* edge = scores_.edge + (t * k_ + h) * k_;
            if (scores_.state && scores_.table) {
                const Real *state = scores_.state + t * k_, *table = scores_.table + (t == 0 ? 0 : 1 + h) * k_;
                for (std::int64_t y = 0; y < k_; ++y) row[y] = edge[y] + table[y] + state[y];
            } else if (scores_.state || scores_.table) {
                const Real* other =
                    scores_.state ? scores_.state + t * k_ : scores_.table + (t == 0 ? 0 : 1 + h) * k_;
                for (std::int64_t y = 0; y < k_; ++y) row[y] = edge[y] + other[y];
            } else {
                std::memcpy(row, edge, sizeof(Real) * k_);
            }
            fill_row<Real>(row, k_, width_, -INFINITY);
            for (std::int64_t i = 0; i < width_; i += kLanes<Real>) top = larger<Real>(top, load(row + i));
        }
        Real largest = top[0];
        for (int i = 1; i < kLanes<Real>; ++i) largest = top[i] > largest ? top[i] : largest;
        if (largest == -INFINITY) largest = 0;
        for (std::int64_t i = 0; i < rows * width_; i += kLanes<Real>) {
            store(block + i, exponential<Real>(load(block + i) - largest));
        }
        return largest;
    }

    Real state_into(std::int64_t t, Real* row) const {
        if (scores_.state) {
            std::memcpy(row, scores_.state + t * k_, sizeof(Real) * k_);
        } else {
            fill_row<Real>(row, 0, k_, 0);
        }
        fill_row<Real>(row, k_, width_, -INFINITY);
        return exponentiate(row, width_);
    }

    template <bool PerPosition>
    bool forward(double* log_z, bool* certain) {
        LogProduct<Real> z;
        Vec<Real> low = fill<Real>(1);
        Real least = 1, inverse = 1;
        for (std::int64_t t = 0; t < length_; ++t) {
            Real* a = forward_ + t * width_;
            const Real* before = a - width_;
            if constexpr (PerPosition) {
                Real* block = edges_ + (keeps() ? t : 0) * k_ * width_;
                z.plus(edges_into(t, block));
                if (t == 0) {
                    std::memcpy(a, block, sizeof(Real) * width_);
                } else {
                    times_matrix(before, block, k_, width_, a);
                }
            } else {
                Real* s = state_ + t * width_;
                z.plus(state_into(t, s) + shifts_[t == 0 ? 0 : 1]);
                if (t == 0) {
                    std::memcpy(a, start_, sizeof(Real) * width_);
                } else {
                    times_matrix(before, by_history_, k_, width_, a);
                }
                for (std::int64_t i = 0; i < width_; i += kLanes<Real>) store(a + i, load(a + i) * load(s + i));
            }
            Vec<Real> sum = fill<Real>(0);
            for (std::int64_t i = 0; i < width_; i += kLanes<Real>) {
                const Vec<Real> scaled = load(a + i) * inverse;
                store(a + i, scaled);
                sum += scaled;
                if (i + kLanes<Real> <= k_) {
                    low = smaller<Real>(low, scaled);
                } else {
                    for (std::int64_t y = i; y < k_; ++y) least = a[y] < least ? a[y] : least;
                }
            }
            const Real growth = total<Real>(sum);
            if (!(growth > 0)) return false;
            inverse = 1 / growth;
            z.times(growth);
        }
        for (int i = 0; i < kLanes<Real>; ++i) least = low[i] < least ? low[i] : least;
        *certain = least >= Safe<Real>::value;
        *log_z = z.value();
        return true;
    }

    template <bool PerPosition>
    bool backward(const Marginals<Real>& out) {
        Real *b = scratch_, *v = scratch_ + width_, *next = scratch_ + 2 * width_, *p = scratch_ + 3 * width_;
        fill_row<Real>(b, 0, k_, 1);
        fill_row<Real>(b, k_, width_, 0);
        for (std::int64_t t = length_ - 1; t >= 0; --t) {
            const Real* a = forward_ + t * width_;
            Vec<Real> joint = fill<Real>(0), sum = fill<Real>(0);
            for (std::int64_t i = 0; i < width_; i += kLanes<Real>) {
                const Vec<Real> both = load(a + i) * load(b + i);
                store(p + i, both);
                joint += both;
                sum += load(b + i);
            }
            const Real whole = total<Real>(joint), growth = total<Real>(sum);
            if (!(whole >= Safe<Real>::value * (growth > 1 ? growth : 1))) return false;
            const Real share = 1 / whole;
            if (out.state) {
                for (std::int64_t i = 0; i < width_; i += kLanes<Real>) store(p + i, load(p + i) * share);
                std::memcpy(out.state + t * k_, p, sizeof(Real) * k_);
            }
            if constexpr (PerPosition) {
                Real* block = edges_ + (keeps() ? t : 0) * k_ * width_;
                if (!keeps()) edges_into(t, block);
                hand_back_edges(t, block, b, share, 1 / growth, next, p, out);
            } else {
                const Real* s = state_ + t * width_;
                for (std::int64_t i = 0; i < width_; i += kLanes<Real>) store(v + i, load(s + i) * load(b + i));
                if (out.pair) table_pairs(t, v, share, p, out);
                times_matrix(v, by_label_, k_, width_, next);
                for (std::int64_t i = 0; i < width_; i += kLanes<Real>) {
                    store(next + i, load(next + i) * (1 / growth));
                }
            }
            Real* swap = b;
            b = next;
            next = swap;
        }
        return true;
    }

    // a[t] was divided by the sum of a[t-1] already; a[t-1] itself was not: hence `share` times that inverse.
    Real inverse_before(std::int64_t t) const {
        const Real* a = forward_ + (t - 1) * width_;
        Vec<Real> sum = fill<Real>(0);
        for (std::int64_t i = 0; i < width_; i += kLanes<Real>) sum += load(a + i);
        return 1 / total<Real>(sum);
    }

    void write_start_pairs(const Real* v, Real scale, const Marginals<Real>& out) const {
        fill_row<Real>(out.pair, 0, k_ * k_, 0);
        for (std::int64_t y = 0; y < k_; ++y) out.pair[y] = v[y] * scale;
    }

    void table_pairs(std::int64_t t, const Real* v, Real share, Real* row, const Marginals<Real>& out) const {
        if (t == 0) {
            for (std::int64_t y = 0; y < k_; ++y) row[y] = v[y] * start_[y];
            return write_start_pairs(row, share, out);
        }
        const Real* before = forward_ + (t - 1) * width_;
        const Real scale = share * inverse_before(t);
        for (std::int64_t h = 0; h < k_; ++h) {
            const Real weight = before[h] * scale;
            for (std::int64_t i = 0; i < width_; i += kLanes<Real>) {
                store(row + i, load(by_history_ + h * width_ + i) * load(v + i) * weight);
            }
            std::memcpy(out.pair + (t * k_ + h) * k_, row, sizeof(Real) * k_);
        }
    }

    void hand_back_edges(std::int64_t t, const Real* block, const Real* b, Real share, Real scale, Real* next,
                         Real* row, const Marginals<Real>& out) const {
        if (t == 0) {
            for (std::int64_t y = 0; y < k_; ++y) row[y] = block[y] * b[y];
            if (out.pair) write_start_pairs(row, share, out);
            return;
        }
        const Real* before = forward_ + (t - 1) * width_;
        const Real pair_scale = out.pair ? share * inverse_before(t) : 0;
        for (std::int64_t h = 0; h < k_; ++h) {
            Vec<Real> sum = fill<Real>(0);
            const Real weight = before[h] * pair_scale;
            for (std::int64_t i = 0; i < width_; i += kLanes<Real>) {
                const Vec<Real> u = load(block + h * width_ + i) * load(b + i);
                sum += u;
                store(row + i, u * weight);
            }
            next[h] = total<Real>(sum) * scale;
            if (out.pair) std::memcpy(out.pair + (t * k_ + h) * k_, row, sizeof(Real) * k_);
        }
        fill_row<Real>(next, k_, width_, 0);
    }

    Scores<Real> scores_;
    std::int64_t k_, width_, length_;
    const double* shifts_;
    const Real *start_, *by_history_, *by_label_;
    Real *forward_, *state_, *scratch_, *edges_;
};

// Order 0: positions are independent.
template <class Real>
bool independent(const Scores<Real>& scores, std::int64_t k, const Marginals<Real>& out, Real* row,
                 double* log_z) {
    const std::int64_t width = padded<Real>(k);
    LogProduct<Real> z;
    for (std::int64_t t = 0; t < scores.length; ++t) {
        fill_row<Real>(row, 0, k, 0);
        if (scores.edge) {
            for (std::int64_t y = 0; y < k; ++y) row[y] += scores.edge[t * k + y];
        }
        if (scores.table) {
            for (std::int64_t y = 0; y < k; ++y) row[y] += scores.table[y];
        }
        if (scores.state) {
            for (std::int64_t y = 0; y < k; ++y) row[y] += scores.state[t * k + y];
        }
        fill_row<Real>(row, k, width, -INFINITY);
        z.plus(exponentiate(row, width));
        Vec<Real> sum = fill<Real>(0);
        for (std::int64_t i = 0; i < width; i += kLanes<Real>) sum += load(row + i);
        const Real whole = total<Real>(sum);
        if (!(whole > 0)) return false;
        z.times(whole);
        for (std::int64_t y = 0; y < k; ++y) {
            const Real p = row[y] / whole;
            if (out.state) out.state[t * k + y] = p;
            if (out.pair) out.pair[t * k + y] = p;
        }
    }
    *log_z = z.value();
    return true;
}

template <class Real>
std::int64_t table_size(std::int64_t k) {
    return (1 + 2 * k) * padded<Real>(k);
}

template <class Real>
std::int64_t work_size(std::int64_t k, std::int64_t order, std::int64_t length, bool per_position) {
    return order == 0 ? padded<Real>(k) : Chain<Real>::work_size(k, length, per_position);
}

// prepared: the start row, exp of the table by history, and the same by label; each with its shift.
template <class Real>
void prepare(const Real* table, std::int64_t k, Real* prepared, double* shifts) {
    const std::int64_t width = padded<Real>(k);
    for (std::int64_t h = 0; h <= k; ++h) {
        Real* row = prepared + h * width;
        std::memcpy(row, table + h * k, sizeof(Real) * k);
        fill_row<Real>(row, k, width, -INFINITY);
    }
    shifts[0] = exponentiate(prepared, width);
    shifts[1] = exponentiate(prepared + width, k * width);
    Real* by_label = prepared + (1 + k) * width;
    fill_row<Real>(by_label, 0, k * width, 0);
    for (std::int64_t h = 0; h < k; ++h) {
        for (std::int64_t y = 0; y < k; ++y) by_label[y * width + h] = prepared[(1 + h) * width + y];
    }
}

template <class Real>
bool sum_product(const Scores<Real>& scores, std::int64_t k, std::int64_t order, const Real* prepared,
                 const double* shifts, const Marginals<Real>& out, Real* work, double* log_z) {
    if (order == 0) return independent(scores, k, out, work, log_z);
    return Chain<Real>(scores, k, prepared, shifts, work).run(out, log_z);
}

}  // namespace

template <class Real>
void offer_sum_product(FastLane<Real>& lane) {
    lane.table_size = table_size<Real>;
    lane.work_size = work_size<Real>;
    lane.prepare = prepare<Real>;
    lane.sum_product = sum_product<Real>;
}
template void offer_sum_product(FastLane<float>&);
template void offer_sum_product(FastLane<double>&);

}  // namespace hedgerow::HEDGEROW_ISA
