// The fast lane for sums: scaled, dense, order 0 and 1; equal to lattice.hpp to 1e-9 (double) or to 1e-5 in
// marginals and 1e-6 in log Z (float; log Z itself is summed in double).
//
//   forward    a[t] = (a[t-1] E) * S[t] / r[t-1],   r[t] = sum of a[t],   log Z = sum log r[t] + shifts
//   backward   b[t-1] = E (S[t] * b[t]) / q[t],     q[t] = sum of b[t]
//   marginals  P(y_t = y) = a[t,y] b[t,y] / sum,    P(h, y) = a[t-1,h] E[h,y] S[t,y] b[t,y] / sum
//
// E and S are exp(scores - shift). The shift is the largest score, or 0 if all scores are near 0, so nothing
// overflows. With edge scores, E[t] holds the whole score and S is 1. Dividing by the sum of the step before
// keeps the division off the critical path; the sum of a[t] is then the growth of that one step.
//
// table_chains.hpp computes them for several sequences at a time where all share E.
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
#include <initializer_list>

#include "lattice/fast_lane.hpp"
#include "lattice/narrow_chain.hpp"
#include "lattice/scaled_sums.hpp"
#include "lattice/table_chains.hpp"
#include "util/rounded_sum.hpp"

namespace hedgerow::HEDGEROW_ISA {

namespace {

// exp(scores - shift) of one sequence of order 1 with edge scores.
template <class Real>
class EdgeExponentials {
  public:
    EdgeExponentials(const Scores<Real>& scores, std::int64_t k) : scores_(scores), k_(k), block_(k * k) {
        if (is_plain(scores)) {
            choose_shift();
        } else if (scores_.table) {
            first_table_ = shift_of(scores_.table, k_);
            table_ = shift_of(scores_.table + k_, block_);
        }
    }

    // Whether the scores are one array, not a sum of several.
    static bool is_plain(const Scores<Real>& scores) { return !scores.state && !scores.table; }
    // Whether n scores need no shift at all.
    static bool are_near_zero(const Real* scores, std::int64_t n) {
        Real high, low;
        extremes(scores, n, &high, &low);
        return is_near_zero(high, low);
    }

    // to <- exp(scores of position t - shift). Returns the shift, or NaN if rounding may matter.
    double write_position(std::int64_t t, Real* to) const {
        const bool plain = is_plain(scores_);
        const std::int64_t n = t == 0 ? k_ : block_;
        const Real* from = plain ? scores_.edge + t * block_ : to;
        const double shifts = plain ? 0 : add_parts(t, n / k_, to);
        const Real shift = common_ ? shift_ : shift_of(from, n);
        if (!plain && !(shift >= -Safe<Real>::apart)) return NAN;
        exponentiate(from, n, shift, to);
        return shifts + static_cast<double>(shift);
    }

    // The same for all positions. Returns the sum of the shifts.
    double write_all(Real* to) const {
        if (common_) {  // this includes rows of the first position that are never read
            exponentiate(scores_.edge, scores_.length * block_, shift_, to);
            return static_cast<double>(shift_) * static_cast<double>(scores_.length);
        }
        double shifts = 0;
        for (std::int64_t t = 0; t < scores_.length; ++t) shifts += write_position(t, to + t * block_);
        return shifts;
    }

  private:
    static bool is_near_zero(Real high, Real low) {
        return high <= Safe<Real>::range / 2 && low >= -Safe<Real>::range / 2;
    }
    // One shift for the whole sequence if its scores are close together, otherwise one for each position. No
    // shift near zero: then several sequences can be exponentiated at once.
    void choose_shift() {
        Real high, low, first_high, first_low;
        extremes(scores_.edge + block_, (scores_.length - 1) * block_, &high, &low);
        extremes(scores_.edge, k_, &first_high, &first_low);  // the first position has only row 0
        high = first_high > high ? first_high : high;
        low = first_low < low ? first_low : low;
        common_ = high - low <= Safe<Real>::range;
        shift_ = common_ && !is_near_zero(high, low) ? high : 0;
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

    Scores<Real> scores_;
    std::int64_t k_, block_;
    bool common_ = false;
    Real shift_ = 0, first_table_ = 0, table_ = 0;
};

// Sequences of up to 2^20 edge scores store their exponentials for the backward sweep. Longer ones compute
// them again, so that memory does not grow with length times K².
bool keeps_exponentials(std::int64_t length, std::int64_t k) {
    return length * k * k <= (std::int64_t{1} << 20);
}

// One sequence of order 1 with edge scores; table_chains.hpp has those without. Rows of K numbers are read as
// whole vectors of N lanes, as there.
template <class Real, int N>
class EdgeChain {
    using V = Vec<Real, N>;

  public:
    EdgeChain(const Scores<Real>& scores, std::int64_t k, Real* work)
        : exponentials_(scores, k),
          k_(k),
          width_((k + N - 1) / N * N),
          length_(scores.length),
          keeps_(keeps_exponentials(scores.length, k)) {
        mask_ = work;
        forward_ = mask_ + width_;
        scratch_ = forward_ + length_ * width_;
        inverses_ = scratch_ + 3 * width_;
        exps_ = inverses_ + padded<Real>(length_);
        set<Real>(mask_, 0, k, 1);
        set<Real>(mask_, k, width_, 0);
    }

    bool run(const Marginals<Real>& out, double* log_z) {
        bool certain = false;
        if (!forward(log_z, &certain)) return false;
        return (certain && !out.state && !out.pair) || backward(out);
    }

    static std::int64_t work_size(std::int64_t k, std::int64_t length) {
        return (length + 4) * padded<Real>(k) + padded<Real>(length) +
               (keeps_exponentials(length, k) ? length : 1) * k * k + 2 * kSumLanes<Real>;
    }

  private:
    // The exponentials of position t: stored, or computed again.
    const Real* exps_at(std::int64_t t, double* shift) const {
        if (keeps_) return exps_ + t * k_ * k_;
        *shift += exponentials_.write_position(t, exps_);
        return exps_;
    }

    bool forward(double* log_z, bool* certain) {
        LogProduct z;
        double shift = keeps_ ? exponentials_.write_all(exps_) : 0;
        V low = fill<Real, N>(1);
        Real inverse = 1;
        for (std::int64_t t = 0; t < length_; ++t) {
            Real* a = forward_ + t * width_;
            const Real* exps = exps_at(t, &shift);
            if (std::isnan(shift)) return false;
            const Product<Real> step{a - width_, a};
            if (t > 0) multiply<N>(&step, 1, Matrix<Real>::of_rows(exps, k_));
            V sum = fill<Real, N>(0);
            for (std::int64_t i = 0; i < width_; i += N) {
                const V mask = load<N>(mask_ + i);
                const V scaled = load<N>((t == 0 ? exps : a) + i) * mask * inverse;
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
        *log_z = z.value() + shift;
        return true;
    }

    bool backward(const Marginals<Real>& out) {
        Real *b = scratch_, *next = scratch_ + width_;
        std::memcpy(b, mask_, sizeof(Real) * width_);
        double unused = 0;
        for (std::int64_t t = length_ - 1; t >= 0; --t) {
            V joint = fill<Real, N>(0), sum = fill<Real, N>(0);
            for (std::int64_t i = 0; i < width_; i += N) {
                joint += load<N>(forward_ + t * width_ + i) * load<N>(b + i);
                sum += load<N>(b + i);
            }
            const Real whole = total<Real, N>(joint), growth = total<Real, N>(sum);
            if (!(whole >= Safe<Real>::value * (growth > 1 ? growth : 1))) return false;
            if (out.state) write_state(t, b, 1 / whole, out);
            hand_back(t, exps_at(t, &unused), b, 1 / whole, 1 / growth, next, out);
            Real* swap = b;
            b = next;
            next = swap;
        }
        return true;
    }

    void write_state(std::int64_t t, const Real* b, Real scale, const Marginals<Real>& out) const {
        Real* p = scratch_ + 2 * width_;
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

    void hand_back(std::int64_t t, const Real* exps, const Real* b, Real share, Real scale, Real* next,
                   const Marginals<Real>& out) const {
        if (t == 0) {
            if (out.pair) start_pairs(exps, b, share, out);
            return;
        }
        Real* row = scratch_ + 2 * width_;
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

    EdgeExponentials<Real> exponentials_;
    std::int64_t k_, width_, length_;
    bool keeps_;
    Real *mask_, *forward_, *scratch_, *inverses_, *exps_;
};

// Marginals of sequences with edge scores and K labels, few enough to unroll loops. Sequences whose scores
// follow each other and need no shift are exponentiated at once.
template <class Real, int N, int K>
void narrow_sums(const Scores<Real>* scores, std::int64_t n, const Marginals<Real>* out, Real* work,
                 double* log_z, bool* is_safe) {
    using Chain = NarrowChain<Real, N, K>;
    std::int64_t n_positions = 0;
    bool together = true;
    for (std::int64_t i = 0; i < n; ++i) {
        together = together && EdgeExponentials<Real>::is_plain(scores[i]) &&
                   scores[i].edge == scores[0].edge + n_positions * K * K;
        n_positions += scores[i].length;
    }
    const std::int64_t n_scores = n_positions * K * K;
    together = together && EdgeExponentials<Real>::are_near_zero(scores[0].edge, n_scores);
    Real *exps = work, *rest = work + n_scores + 2 * kSumLanes<Real>;
    if (together) exponentiate(scores[0].edge, n_scores, Real(0), exps);
    Chain chains[kTogether];
    for (std::int64_t i = 0; i < n; ++i) {
        log_z[i] = together ? 0 : EdgeExponentials<Real>(scores[i], K).write_all(exps);
        chains[i] = Chain(exps, scores[i].length, rest);
        exps += scores[i].length * K * K;
        rest += Chain::work_size(scores[i].length);
    }
    for (std::int64_t i = 0; i < n; i += 2)
        i + 1 < n ? Chain::sweep(chains[i], chains[i + 1]) : chains[i].sweep();
    for (std::int64_t i = 0; i < n; ++i) {
        is_safe[i] = !std::isnan(log_z[i]) && chains[i].combine(out[i], Safe<Real>::value);
        log_z[i] += chains[i].log_growth();
    }
}

constexpr int kNarrow = 8;  // loops are unrolled for at most this many labels

// Sequences with edge scores.
template <class Real, int N, int K = (N > 4 ? N / 2 : 2)>
void edge_sums(const Scores<Real>* scores, std::int64_t n, std::int64_t k, const Marginals<Real>* out,
               Real* work, double* log_z, bool* is_safe) {
    bool is_narrow = k >= 2 && k <= kNarrow && (out->state || out->pair);
    for (std::int64_t i = 0; i < n; ++i) is_narrow = is_narrow && keeps_exponentials(scores[i].length, k);
    if constexpr (K <= N && K <= kNarrow) {
        if (is_narrow && K == k) return narrow_sums<Real, N, K>(scores, n, out, work, log_z, is_safe);
        if (is_narrow) return edge_sums<Real, N, K + 1>(scores, n, k, out, work, log_z, is_safe);
    }
    for (std::int64_t i = 0; i < n; ++i)
        is_safe[i] = EdgeChain<Real, N>(scores[i], k, work).run(out[i], log_z + i);
}

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
        for (std::int64_t y = 0; out.table && y < k; ++y)
            out.table[y] += rounded(out.weight * row[y] * scale, out.rounder);
    }
    *log_z = z.value();
    return true;
}

template <class Real>
std::int64_t work_size(std::int64_t k, std::int64_t order, std::int64_t length, bool per_position) {
    if (order == 0) return padded<Real>(k);
    constexpr int N = kSumLanes<Real>;
    if (!per_position) return TableChain<Real, N>::work_size(k, length);
    // Exponentials, both sweeps and their inverses of a narrow chain, if that is more.
    const std::int64_t narrow = (k * k + 2 * padded<Real>(k) + 1) * length + 2 * N;
    const std::int64_t size = EdgeChain<Real, N>::work_size(k, length);
    return k <= kNarrow && narrow > size ? narrow : size;
}

template <class Real>
void prepare(const Real* table, std::int64_t k, Real* prepared, double* shifts) {
    const TableRows<Real> to(k, prepared, shifts);
    set<Real>(prepared, 0, TableRows<Real>::size(k), 0);
    const Real start = shift_of(table, k), shift = shift_of(table + k, k * k);
    for (std::int64_t h = 0; h <= k; ++h) {
        Real* row = prepared + h * to.stride;
        exponentiate(table + h * k, k, h == 0 ? start : shift, row);
        set<Real>(row, k, to.stride, 0);
    }
    Real* by_label = prepared + (1 + k) * to.stride;
    for (std::int64_t h = 0; h < k; ++h) {
        for (std::int64_t y = 0; y < k; ++y) by_label[y * to.stride + h] = to.rows[h * to.stride + y];
    }
    Real* panels = prepared + (to.by_context.first - prepared);
    for (const Real* rows : {to.rows, static_cast<const Real*>(by_label)}) {
        for (std::int64_t y = 0; y < to.stride; y += kSumLanes<Real>) {
            Real* column = panels + y / kPanel<Real> * k * kPanel<Real> + y % kPanel<Real>;
            for (std::int64_t h = 0; h < k; ++h)
                std::memcpy(column + h * kPanel<Real>, rows + h * to.stride + y,
                            sizeof(Real) * kSumLanes<Real>);
        }
        panels += Matrix<Real>::size_of_panels(k);
    }
    shifts[0] = start;
    shifts[1] = shift;
}

template <class Real>
void sum_products(const Scores<Real>* scores, std::int64_t n, std::int64_t k, const Real* prepared,
                  const double* shifts, const Marginals<Real>* out, Real* work, double* log_z,
                  bool* is_safe) {
    if (scores->edge) {
        return with_lanes<Real, kSumLanes<Real>>(k, [&](auto lanes) {
            edge_sums<Real, decltype(lanes)::value>(scores, n, k, out, work, log_z, is_safe);
        });
    }
    const TableRows<Real> table(k, prepared, shifts);
    with_lanes<Real, kSumLanes<Real>>(k, [&](auto lanes) {
        TableChains<Real, decltype(lanes)::value> chains(table, scores, n, out, work);
        chains.run(log_z, is_safe);
        for (std::int64_t i = 0; i < n; ++i) {
            if (out[i].table && is_safe[i]) chains.add_pairs(i);
        }
    });
}

template <class Real>
bool sum_product(const Scores<Real>& scores, std::int64_t k, std::int64_t order, const Real* prepared,
                 const double* shifts, const Marginals<Real>& out, Real* work, double* log_z) {
    if (order == 0) return independent(scores, k, out, work, log_z);
    bool is_safe = false;
    sum_products(&scores, 1, k, prepared, shifts, &out, work, log_z, &is_safe);
    return is_safe;
}

}  // namespace

template <class Real>
void offer_sum_product(FastLane<Real>& lane) {
    lane.table_size = TableRows<Real>::size;
    lane.work_size = work_size<Real>;
    lane.prepare = prepare<Real>;
    lane.sum_product = sum_product<Real>;
    lane.sum_products = sum_products<Real>;
}
template void offer_sum_product(FastLane<float>&);
template void offer_sum_product(FastLane<double>&);

}  // namespace hedgerow::HEDGEROW_ISA
