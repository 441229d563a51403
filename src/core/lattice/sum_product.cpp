// The fast lane for sums: scaled, dense, order 0 and 1; equal to lattice.hpp to 1e-9 (double) or to 1e-5 in
// marginals and 1e-6 in log Z (float; log Z itself is summed in double).
//
//   forward    a[t] = (a[t-1] E) * S[t] / r[t-1],   r[t] = sum of a[t],   log Z = sum log r[t] + shifts
//   backward   b[t-1] = E (S[t] * b[t]) / q[t],     q[t] = sum of b[t]
//   marginals  P(y_t = y) = a[t,y] b[t,y] / sum,    P(h, y) = a[t-1,h] E[h,y] S[t,y] b[t,y] / sum
//
// E and S are exp(scores - shift) with a shift of at least the largest score, so nothing overflows. With edge
// scores, E[t] holds the whole score and S is 1. Dividing by the sum of the step before keeps the division
// off the critical path; the sum of a[t] is then the growth of that one step.
//
// Certificate. An underflow loses less than `tiny` of a product, so a path is lost only if its probability is
// below tiny / (sum of a[t] * b[t]). If that sum is at least `safe` at every t, all losses together are below
// the stated precision; otherwise the caller uses the logarithmic sweep. The forward sweep alone is certain
// if no a[t,y] is below `safe`, because then every loss is small compared with the value of its node;
// otherwise the backward sweep runs to certify the result.
//
// If a score is the sum of several parts, each part is shifted by its own largest number before the sum, so
// that a large number common to all labels does not cost the other parts digits. If the largest sum is still
// far below 0 (`apart`), rounding may matter, and the kernel returns false.
#include <cmath>
#include <memory>

#include "lattice/fast_lane.hpp"
#include "lattice/narrow_chain.hpp"
#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {

namespace {

template <class Real>
struct Safe;
template <>
struct Safe<float> {
    static constexpr float value = 1e-20f;
    static constexpr float range = 16;  // scores of one sequence this close together share one shift
    static constexpr float apart = 64;  // times half a unit in the last place of 1: 4e-6
};
template <>
struct Safe<double> {
    static constexpr double value = 1e-270;
    static constexpr double range = 200;
    static constexpr double apart = 1e6;
};

// log Π x of many positive numbers. A logarithm is computed only when the product nears the end of the range.
class LogProduct {
  public:
    void times(double x) {
        if (x < 1e-100 || x > 1e100) return plus(std::log(x));
        product_ *= x;
        if (product_ < 1e-200 || product_ > 1e200) flush();
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
    }
    double sum_ = 0, product_ = 1;
};

template <class Real>
void set(Real* row, std::int64_t begin, std::int64_t end, Real value) {
    for (std::int64_t i = begin; i < end; ++i) row[i] = value;
}

// The largest of n numbers, and the lowest of those above minus infinity.
template <class Real>
void extremes(const Real* x, std::int64_t n, Real* largest, Real* lowest) {
    constexpr int N = kLanes<Real>;
    const Vec<Real, N> never = fill<Real, N>(-INFINITY), always = fill<Real, N>(INFINITY);
    Vec<Real, N> high = never, low = always;
    std::int64_t i = 0;
    for (; i + N <= n; i += N) {
        const Vec<Real, N> v = load<N>(x + i);
        high = larger<Real, N>(high, v);
        low = smaller<Real, N>(low, where_equal<Real, N>(v, never, always, v));
    }
    *largest = greatest<Real, N>(high);
    *lowest = least<Real, N>(low);
    for (; i < n; ++i) {
        *largest = x[i] > *largest ? x[i] : *largest;
        *lowest = x[i] < *lowest && x[i] != -INFINITY ? x[i] : *lowest;
    }
}

// to[i] <- exp(from[i] - shift). `to` has room for whole vectors; numbers after n are finite but undefined.
template <class Real>
void exponentiate(const Real* from, std::int64_t n, Real shift, Real* to) {
    constexpr int N = kLanes<Real>;
    std::int64_t i = 0;
    for (; i + N <= n; i += N) store<N>(to + i, exponential<Real, N>(load<N>(from + i) - shift));
    if (i == n) return;
    Real rest[N];
    set<Real>(rest, 0, N, -INFINITY);
    std::memcpy(rest, from + i, sizeof(Real) * (n - i));
    store<N>(to + i, exponential<Real, N>(load<N>(rest) - shift));
}

// The shift for n numbers: the largest, or 0 if all are minus infinity.
template <class Real>
Real shift_of(const Real* x, std::int64_t n) {
    Real largest, lowest;
    extremes(x, n, &largest, &lowest);
    return largest == -INFINITY ? 0 : largest;
}

// out[y] <- Σ_h a[h] rows[h,y], for W vectors of N lanes that stay in registers.
template <int N, int W, class Real>
inline void tile(const Real* a, const Real* rows, std::int64_t k, std::int64_t stride, Real* out) {
    Vec<Real, N> even[W], odd[W];
    for (int j = 0; j < W; ++j) even[j] = odd[j] = fill<Real, N>(0);
    std::int64_t h = 0;
    for (; h + 1 < k; h += 2) {
        for (int j = 0; j < W; ++j) even[j] += a[h] * load<N>(rows + h * stride + j * N);
        for (int j = 0; j < W; ++j) odd[j] += a[h + 1] * load<N>(rows + (h + 1) * stride + j * N);
    }
    if (h < k) {
        for (int j = 0; j < W; ++j) even[j] += a[h] * load<N>(rows + h * stride + j * N);
    }
    for (int j = 0; j < W; ++j) store<N>(out + j * N, even[j] + odd[j]);
}

template <int N, class Real>
inline void times_matrix(const Real* a, const Real* rows, std::int64_t k, std::int64_t stride, Real* out) {
    if constexpr (N == kLanes<Real>) {
        const std::int64_t width = padded<Real>(k);
        std::int64_t i = 0;
        for (; i + 4 * N <= width; i += 4 * N) tile<N, 4>(a, rows + i, k, stride, out + i);
        if (i + 2 * N <= width) {
            tile<N, 2>(a, rows + i, k, stride, out + i);
            i += 2 * N;
        }
        if (i < width) tile<N, 1>(a, rows + i, k, stride, out + i);
    } else {
        tile<N, 1>(a, rows, k, stride, out);
    }
}

// One sequence of order 1. Rows of K numbers are read as whole vectors of N lanes: forward and backward
// values are padded with zeros, and numbers beyond a row of scores are finite and multiplied by such a zero.
template <class Real, int N>
class Chain {
    using V = Vec<Real, N>;

  public:
    Chain(const Scores<Real>& scores, std::int64_t k, const Real* prepared, const double* shifts, Real* work)
        : scores_(scores),
          k_(k),
          width_((k + N - 1) / N * N),
          length_(scores.length),
          block_(scores.edge ? k * k : k),
          shifts_(shifts) {
        start_ = prepared;
        stride_ = padded<Real>(k);
        by_context_ = prepared + stride_;
        by_label_ = by_context_ + k * stride_;
        mask_ = work;
        forward_ = mask_ + width_;
        scratch_ = forward_ + length_ * width_;
        sums_ = scratch_ + 4 * width_;
        inverses_ = sums_ + k * width_;
        backward_ = inverses_ + padded<Real>(length_);
        exps_ = backward_ + (is_narrow(k, scores.edge) ? length_ * width_ : 0);
        set<Real>(mask_, 0, k, 1);
        set<Real>(mask_, k, width_, 0);
    }

    bool run(const Marginals<Real>& out, double* log_z) {
        return scores_.edge ? run_passes<true>(out, log_z) : run_passes<false>(out, log_z);
    }

    static std::int64_t work_size(std::int64_t k, std::int64_t length, bool per_position) {
        const std::int64_t width = padded<Real>(k), block = per_position ? k * k : k;
        const std::int64_t rows = (is_narrow(k, per_position) ? 2 : 1) * length + 5 + k;
        return rows * width + padded<Real>(length) + (keeps(length, block) ? length : 1) * block +
               2 * kLanes<Real>;
    }

  private:
    // Sequences of up to 2^20 scores store their exponentials for the backward sweep. Longer ones compute
    // them again, so that memory does not grow with length times K².
    static bool keeps(std::int64_t length, std::int64_t block) {
        return length * block <= (std::int64_t{1} << 20);
    }

    static constexpr int kNarrow = 8;  // loops are unrolled for at most this many labels
    static bool is_narrow(std::int64_t k, bool per_position) {
        return per_position && k >= 2 && k <= kNarrow;
    }

    static constexpr std::int64_t kFlush = 256;  // positions summed in Real before they are added in double

    template <bool PerPosition>
    bool run_passes(const Marginals<Real>& out, double* log_z) {
        choose_shift();
        if (is_narrow(k_, PerPosition) && keeps(length_, block_) && (out.state || out.pair))
            return run_narrow<(N > 4 ? N / 2 : 2)>(out, log_z);
        bool certain = false;
        if (!forward<PerPosition>(log_z, &certain)) return false;
        return (certain && !out.state && !out.pair && !out.table) || backward<PerPosition>(out);
    }

    // Increases K up to the number of labels, so that loops over labels are unrolled.
    template <int K>
    bool run_narrow(const Marginals<Real>& out, double* log_z) {
        if constexpr (K <= N && K <= kNarrow) {
            if (K != k_) return run_narrow<K + 1>(out, log_z);
            const double shift = exponentiate_all<true>();
            if (std::isnan(shift)) return false;
            NarrowChain<Real, N, K> chain(exps_, length_, forward_, backward_, inverses_);
            LogProduct z;
            chain.sweep(z);
            *log_z = z.value() + shift;
            return chain.combine(out, Safe<Real>::value);
        }
        return false;
    }

    // One shift for the whole sequence if its scores are close together, otherwise one for each position.
    void choose_shift() {
        common_ = plain();
        if (!common_ && scores_.table) {
            first_table_ = shift_of(scores_.table, k_);
            table_ = shift_of(scores_.table + k_, block_);
        }
        if (!common_) return;
        const Real* x = scores_.edge ? scores_.edge : scores_.state;
        if (!x) return;
        Real high, low, first_high, first_low;
        const std::int64_t rest = scores_.edge ? block_ : 0;  // the first position has only row 0
        extremes(x + rest, length_ * block_ - rest, &high, &low);
        if (rest) {
            extremes(x, k_, &first_high, &first_low);
            high = first_high > high ? first_high : high;
            low = first_low < low ? first_low : low;
        }
        common_ = high - low <= Safe<Real>::range;
        shift_ = common_ ? high : 0;
    }
    // Whether the scores to exponentiate are one array, not a sum of several.
    bool plain() const { return !scores_.edge || (!scores_.state && !scores_.table); }

    // to <- exp(scores of position t - shift). Returns the shift, or NaN if rounding may matter.
    template <bool PerPosition>
    double exponentiate_at(std::int64_t t, Real* to) const {
        const std::int64_t n = PerPosition && t == 0 ? k_ : block_;
        const Real* from = to;
        double shifts = 0;
        if (plain()) {
            from = PerPosition     ? scores_.edge + t * block_
                   : scores_.state ? scores_.state + t * block_
                                   : nullptr;
            if (!from) set<Real>(to, 0, n, 0);
        } else {
            shifts = add_parts(t, n / k_, to);
        }
        if (!from) from = to;
        const Real shift = common_ ? shift_ : shift_of(from, n);
        if (!plain() && !(shift >= -Safe<Real>::apart)) return NAN;
        exponentiate(from, n, shift, to);
        return shifts + static_cast<double>(shift);
    }

    // to <- (edge - max edge) + (table - max table) + (state - max state). Returns the sum of the maxima.
    double add_parts(std::int64_t t, std::int64_t rows, Real* to) const {
        const Real* edge = scores_.edge + t * block_;
        const Real* table = scores_.table ? scores_.table + (t == 0 ? 0 : k_) : nullptr;
        const Real* state = scores_.state ? scores_.state + t * k_ : nullptr;
        const Real of_edge = shift_of(edge, rows * k_), of_table = t == 0 ? first_table_ : table_,
                   of_state = state ? shift_of(state, k_) : 0;
        for (std::int64_t h = 0; h < rows; ++h, to += k_) {
            for (std::int64_t y = 0; y < k_; ++y) to[y] = edge[h * k_ + y] - of_edge;
            for (std::int64_t y = 0; table && y < k_; ++y) to[y] += table[h * k_ + y] - of_table;
            for (std::int64_t y = 0; state && y < k_; ++y) to[y] += state[y] - of_state;
        }
        return static_cast<double>(of_edge) + static_cast<double>(of_table) + static_cast<double>(of_state);
    }

    template <bool PerPosition>
    double exponentiate_all() const {
        if (!keeps(length_, block_)) return 0;
        const Real* whole = PerPosition ? scores_.edge : scores_.state;
        // This includes rows of the first position that are never read.
        if (common_ && plain() && whole) {
            exponentiate(whole, length_ * block_, shift_, exps_);
            return static_cast<double>(shift_) * static_cast<double>(length_);
        }
        double shifts = 0;
        for (std::int64_t t = 0; t < length_; ++t)
            shifts += exponentiate_at<PerPosition>(t, exps_ + t * block_);
        return shifts;
    }

    // The exponentials of position t: stored, or computed again.
    template <bool PerPosition>
    const Real* exps_at(std::int64_t t, double* shift) const {
        if (keeps(length_, block_)) return exps_ + t * block_;
        *shift += exponentiate_at<PerPosition>(t, exps_);
        return exps_;
    }

    template <bool PerPosition>
    bool forward(double* log_z, bool* certain) {
        LogProduct z;
        double shift = exponentiate_all<PerPosition>();
        V low = fill<Real, N>(1);
        Real inverse = 1;
        for (std::int64_t t = 0; t < length_; ++t) {
            Real* a = forward_ + t * width_;
            const Real* exps = exps_at<PerPosition>(t, &shift);
            if (std::isnan(shift)) return false;
            if (t > 0) {
                times_matrix<N>(a - width_, PerPosition ? exps : by_context_, k_, PerPosition ? k_ : stride_,
                                a);
            } else if (!PerPosition) {
                std::memcpy(a, start_, sizeof(Real) * width_);
            }
            V sum = fill<Real, N>(0);
            for (std::int64_t i = 0; i < width_; i += N) {
                const V before = PerPosition && t == 0 ? load<N>(exps + i) : load<N>(a + i);
                const V mask = load<N>(mask_ + i);
                const V scaled = before * (PerPosition ? mask : load<N>(exps + i)) * inverse;
                store<N>(a + i, scaled);
                sum += scaled;
                low = smaller<Real, N>(low, scaled + (Real(1) + mask * Real(-1)));
            }
            const Real growth = total<Real, N>(sum);
            if (!(growth > 0)) return false;
            inverse = inverses_[t] = 1 / growth;
            z.times(growth);
        }
        *certain = least<Real, N>(low) >= Safe<Real>::value;
        if (!PerPosition) shift += shifts_[0] + shifts_[1] * static_cast<double>(length_ - 1);
        *log_z = z.value() + shift;
        return true;
    }

    template <bool PerPosition>
    bool backward(const Marginals<Real>& out) {
        Real *b = scratch_, *next = scratch_ + width_;
        std::memcpy(b, mask_, sizeof(Real) * width_);
        double unused = 0;
        if (out.table) set<Real>(sums_, 0, k_ * width_, 0);
        for (std::int64_t t = length_ - 1; t >= 0; --t) {
            V joint = fill<Real, N>(0), sum = fill<Real, N>(0);
            for (std::int64_t i = 0; i < width_; i += N) {
                joint += load<N>(forward_ + t * width_ + i) * load<N>(b + i);
                sum += load<N>(b + i);
            }
            const Real whole = total<Real, N>(joint), growth = total<Real, N>(sum);
            if (!(whole >= Safe<Real>::value * (growth > 1 ? growth : 1))) return false;
            if (out.state) write_state(t, b, 1 / whole, out);
            const Real* exps = exps_at<PerPosition>(t, &unused);
            if constexpr (PerPosition) {
                hand_back_edges(t, exps, b, 1 / whole, 1 / growth, next, out);
            } else {
                Real* v = scratch_ + 2 * width_;
                for (std::int64_t i = 0; i < width_; i += N)
                    store<N>(v + i, load<N>(exps + i) * load<N>(b + i));
                if (out.pair) table_pairs(t, v, 1 / whole, out);
                if (out.table) add_pairs(t, v, 1 / whole, out);
                times_matrix<N>(v, by_label_, k_, stride_, next);
                const Real scale = 1 / growth;
                for (std::int64_t i = 0; i < width_; i += N) store<N>(next + i, load<N>(next + i) * scale);
            }
            Real* swap = b;
            b = next;
            next = swap;
        }
        return true;
    }

    void write_state(std::int64_t t, const Real* b, Real scale, const Marginals<Real>& out) const {
        Real* p = scratch_ + 3 * width_;
        for (std::int64_t i = 0; i < width_; i += N) {
            store<N>(p + i, load<N>(forward_ + t * width_ + i) * load<N>(b + i) * scale);
        }
        write_row(out.state + t * k_, p);
    }
    void write_row(Real* to, const Real* row) const {
        for (std::int64_t y = 0; y < k_; ++y) to[y] = row[y];
    }

    // a[t-1,h] / sum of a[t-1], at most 1. a[t] was divided by that sum, but a[t-1] was not. The inverse is
    // multiplied first, because its product with a share may overflow.
    Real normal_before(std::int64_t t, std::int64_t h) const {
        return forward_[(t - 1) * width_ + h] * inverses_[t - 1];
    }

    void start_pairs(const Real* first, const Real* second, Real scale, const Marginals<Real>& out) const {
        set<Real>(out.pair, k_, k_ * k_, 0);
        for (std::int64_t y = 0; y < k_; ++y) out.pair[y] = first[y] * second[y] * scale;
    }

    void table_pairs(std::int64_t t, const Real* v, Real share, const Marginals<Real>& out) const {
        if (t == 0) return start_pairs(start_, v, share, out);
        Real* row = scratch_ + 3 * width_;
        for (std::int64_t h = 0; h < k_; ++h) {
            const Real weight = normal_before(t, h) * share;
            for (std::int64_t i = 0; i < width_; i += N) {
                store<N>(row + i, load<N>(by_context_ + h * stride_ + i) * load<N>(v + i) * weight);
            }
            write_row(out.pair + (t * k_ + h) * k_, row);
        }
    }

    // table[1 + h, y] += weight Σ_t P(h, y at t) = weight E[h,y] Σ_t a[t-1,h] v[t,y] / sum: the loop sums
    // over t, and E is multiplied at the end.
    void add_pairs(std::int64_t t, const Real* v, Real share, const Marginals<Real>& out) {
        if (t == 0) {
            for (std::int64_t y = 0; y < k_; ++y) out.table[y] += out.weight * start_[y] * v[y] * share;
        } else {
            for (std::int64_t h = 0; h < k_; ++h) {
                const Real weight = normal_before(t, h) * share;
                Real* row = sums_ + h * width_;
                for (std::int64_t i = 0; i < width_; i += N)
                    store<N>(row + i, load<N>(row + i) + load<N>(v + i) * weight);
            }
        }
        if (t % kFlush != 0) return;
        // The table is changed only at the first position, the last one visited: until then the certificate
        // may fail.
        if (t > 0 && !flushed_) flushed_.reset(new double[static_cast<std::size_t>(k_ * k_)]());
        for (std::int64_t h = 0; h < k_; ++h) {
            for (std::int64_t y = 0; y < k_; ++y) {
                const double sum = static_cast<double>(by_context_[h * stride_ + y]) * sums_[h * width_ + y];
                double* kept = flushed_ ? flushed_.get() + h * k_ + y : nullptr;
                if (t > 0) {
                    *kept += sum;
                } else {
                    out.table[(1 + h) * k_ + y] += out.weight * (kept ? *kept + sum : sum);
                }
            }
        }
        set<Real>(sums_, 0, k_ * width_, 0);
    }

    void hand_back_edges(std::int64_t t, const Real* exps, const Real* b, Real share, Real scale, Real* next,
                         const Marginals<Real>& out) const {
        if (t == 0) {
            if (out.pair) start_pairs(exps, b, share, out);
            return;
        }
        Real* row = scratch_ + 3 * width_;
        for (std::int64_t h = 0; h < k_; ++h) {
            const Real weight = out.pair ? normal_before(t, h) * share : 0;
            V sum = fill<Real, N>(0);
            for (std::int64_t i = 0; i < width_; i += N) {
                const V u = load<N>(exps + h * k_ + i) * load<N>(b + i);
                sum += u;
                if (out.pair) store<N>(row + i, u * weight);
            }
            next[h] = total<Real, N>(sum) * scale;
            if (out.pair) write_row(out.pair + (t * k_ + h) * k_, row);
        }
        set<Real>(next, k_, width_, 0);
    }

    Scores<Real> scores_;
    std::int64_t k_, width_, length_, block_, stride_;
    const double* shifts_;
    const Real *start_, *by_context_, *by_label_;
    Real *mask_, *forward_, *scratch_, *sums_, *inverses_, *backward_, *exps_;
    bool common_ = false;
    Real shift_ = 0, first_table_ = 0, table_ = 0;
    // Sums of pairs of a long sequence. No vector: see numeric.hpp.
    std::unique_ptr<double[]> flushed_;
};

// Order 0: positions are independent, P(y_t = y) = exp(score[t,y]) / Σ_y' exp(score[t,y']).
template <class Real>
bool independent(const Scores<Real>& scores, std::int64_t k, const Marginals<Real>& out, Real* row,
                 double* log_z) {
    LogProduct z;
    for (std::int64_t t = 0; t < scores.length; ++t) {
        set<Real>(row, 0, k, 0);
        const Real* const parts[] = {scores.edge ? scores.edge + t * k : nullptr, scores.table,
                                     scores.state ? scores.state + t * k : nullptr};
        for (const Real* part : parts) {
            if (!part) continue;
            const Real of_part = shift_of(part, k);
            for (std::int64_t y = 0; y < k; ++y) row[y] += part[y] - of_part;
            z.plus(of_part);
        }
        const Real shift = shift_of(row, k);
        if (!(shift >= -Safe<Real>::apart)) return false;
        exponentiate(row, k, shift, row);
        Real whole = 0;
        for (std::int64_t y = 0; y < k; ++y) whole += row[y];
        if (!(whole > 0)) return false;
        z.plus(shift);
        z.times(whole);
        const Real scale = 1 / whole;
        Real* const wanted[] = {out.state, out.pair};
        for (Real* to : wanted) {
            for (std::int64_t y = 0; to && y < k; ++y) to[t * k + y] = row[y] * scale;
        }
        for (std::int64_t y = 0; out.table && y < k; ++y) out.table[y] += out.weight * row[y] * scale;
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
    return order == 0 ? padded<Real>(k) : Chain<Real, kLanes<Real>>::work_size(k, length, per_position);
}

// prepared: the start row, exp of the table by label context, and the same by label, padded with zeros.
template <class Real>
void prepare(const Real* table, std::int64_t k, Real* prepared, double* shifts) {
    const std::int64_t width = padded<Real>(k);
    set<Real>(prepared, 0, (1 + 2 * k) * width, 0);
    const Real start = shift_of(table, k), shift = shift_of(table + k, k * k);
    for (std::int64_t h = 0; h <= k; ++h) {
        Real* row = prepared + h * width;
        exponentiate(table + h * k, k, h == 0 ? start : shift, row);
        set<Real>(row, k, width, 0);
    }
    Real* by_label = prepared + (1 + k) * width;
    for (std::int64_t h = 0; h < k; ++h) {
        for (std::int64_t y = 0; y < k; ++y) by_label[y * width + h] = prepared[(1 + h) * width + y];
    }
    shifts[0] = start;
    shifts[1] = shift;
}

template <class Real>
bool sum_product(const Scores<Real>& scores, std::int64_t k, std::int64_t order, const Real* prepared,
                 const double* shifts, const Marginals<Real>& out, Real* work, double* log_z) {
    if (order == 0) return independent(scores, k, out, work, log_z);
    return with_lanes<Real>(k, [&](auto lanes) {
        return Chain<Real, decltype(lanes)::value>(scores, k, prepared, shifts, work).run(out, log_z);
    });
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
