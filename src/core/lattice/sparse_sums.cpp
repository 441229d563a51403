// Sums over paths with a sparse transition table: see sparse_table.hpp. The formulas are those of
// sum_product.cpp. With E(h,y) = usual(y) + excess(h,y), where only listed cells have an excess,
//
//   (a E)[y] = usual[y] Σ_h a[h] + Σ over listed h of excess[h,y] a[h]
//   (E v)[h] = Σ_y usual[y] v[y] + Σ over listed y of excess[h,y] v[y]
//
// Several sequences advance together: each has a lane of the vectors. What a lane gets does not depend on
// the others.
//
// An excess can be negative, and then most of the first term may cancel. Where less than `kept` of it is
// left, the sum is taken again over all cells. All sums are in double, so rounding costs less than 1e-9. The
// certificate against underflow is that of sum_product.cpp.
#include <cmath>

#include "lattice/fast_lane.hpp"
#include "lattice/scaled_sums.hpp"
#include "util/numeric.hpp"
#include "util/rounded_sum.hpp"

namespace hedgerow::HEDGEROW_ISA {
namespace {

constexpr double kKept = 1e-4;
static_assert(kLanes<double> <= kMostLanes);

// The numbers of all sequences at a position are together: row[y * N + lane].
template <class Real, int N>
class SparseChains {
    using V = Vec<double, N>;

  public:
    SparseChains(const SparseTransitions& table, const Scores<Real>* scores, std::int64_t n,
                 const SparseOut<Real>* out, double* work)
        : table_(table), scores_(scores), out_(out), n_(n), k_(table.n_labels), width_(k_ * N) {
        for (std::int64_t j = 0; j < n; ++j)
            length_ = scores[j].length > length_ ? scores[j].length : length_;
        forward_ = work;
        weighted_ = forward_ + length_ * width_;
        back_ = weighted_ + length_ * width_;
        next_ = back_ + width_;
        totals_ = next_ + width_;
        starts_ = totals_ + width_;
        inverses_ = starts_ + width_;
        counts_ = inverses_ + length_ * N;
        rows_ = reinterpret_cast<Real*>(counts_ + table.n_cells * N);
        row_width_ = padded<Real>(k_);
        for (int j = 0; j < N; ++j) possible_[j] = j < n;
    }
    static std::int64_t work_size(std::int64_t k, std::int64_t n_cells, std::int64_t length) {
        return ((2 * length + 4) * k + length + n_cells + padded<Real>(k)) * N;
    }

    void run(double* log_z, bool* is_safe) {
        forward();
        double low[N];
        store<N>(low, low_);
        bool is_done[N], are_done = true;  // the forward sweep may be all that a sequence needs
        for (std::int64_t j = 0; j < n_; ++j) {
            const auto steps = static_cast<double>(scores_[j].length - 1);
            log_z[j] = growths_[j].value() + (table_.shifts[0] + table_.shifts[1] * steps);
            const bool is_certain = low[j] >= static_cast<double>(Safe<Real>::value);
            is_done[j] = !possible_[j] || (is_certain && !out_[j].state && !out_[j].counts);
            is_safe[j] = possible_[j];
            are_done = are_done && is_done[j];
        }
        if (!are_done) backward();
        for (std::int64_t j = 0; j < n_; ++j) is_safe[j] = is_done[j] ? is_safe[j] : possible_[j];
        for (std::int64_t j = 0; j < n_; ++j)
            if (possible_[j] && out_[j].counts) add_counts(j);
    }

  private:
    bool is_active(std::int64_t j, std::int64_t t) const { return j < n_ && t < scores_[j].length; }
    // 1 in the lanes of sequences that are over, otherwise 0.
    V is_over(std::int64_t t) const {
        double over[N];
        for (int j = 0; j < N; ++j) over[j] = is_active(j, t) ? 0.0 : 1.0;
        return load<N>(over);
    }

    // weighted[t] <- exp(state - its largest), 0 for sequences that are over.
    void read_state(std::int64_t t) {
        for (int j = 0; j < N; ++j) {
            Real* row = rows_ + j * row_width_;
            if (!is_active(j, t)) {
                set<Real>(row, 0, k_, 0);
            } else if (!scores_[j].state) {
                set<Real>(row, 0, k_, 1);
            } else {
                const Real *state = scores_[j].state + t * k_, shift = shift_of(state, k_);
                exponentiate(state, k_, shift, row);
                growths_[j].plus(static_cast<double>(shift));
            }
        }
        double* to = weighted_ + t * width_;
        for (std::int64_t y = 0; y < k_; ++y)
            for (int j = 0; j < N; ++j) to[y * N + j] = static_cast<double>(rows_[j * row_width_ + y]);
    }

    void forward() {
        V inverse = fill<double, N>(1), whole = fill<double, N>(0);
        for (std::int64_t t = 0; t < length_; ++t) {
            double* a = forward_ + t * width_;
            const double* s = weighted_ + t * width_;
            read_state(t);
            if (t == 0)
                for (std::int64_t y = 0; y < k_; ++y) store<N>(a + y * N, fill<double, N>(table_.start[y]));
            else
                reach(a - width_, whole, a);
            const V over = is_over(t);
            V sum = fill<double, N>(0);
            for (std::int64_t i = 0; i < width_; i += N) {
                const V scaled = load<N>(a + i) * load<N>(s + i) * inverse;
                store<N>(a + i, scaled);
                sum += scaled;
                low_ = smaller<double, N>(low_, scaled + over);
            }
            whole = sum;
            double growth[N];
            store<N>(growth, sum);
            for (int j = 0; j < N; ++j) {
                if (is_active(j, t) && growth[j] > 0) {
                    growths_[j].times(growth[j]);
                } else {
                    possible_[j] = possible_[j] && !is_active(j, t);
                    growth[j] = 1;
                }
                inverses_[t * N + j] = 1 / growth[j];
            }
            inverse = load<N>(inverses_ + t * N);
        }
    }

    // to[y] <- Σ_h a[h] E(h,y). whole: Σ_h a[h].
    void reach(const double* a, V whole, double* to) const {
        V worst = fill<double, N>(0);
        for (std::int64_t i = 0; i < k_; ++i) {
            const std::int64_t y = table_.by_label.order[i];
            const V base = whole * table_.base[y];
            const V sum = add(table_.by_label, y, a, base);
            store<N>(to + y * N, sum);
            worst = smaller<double, N>(worst, sum + base * -kKept);
        }
        if (least<double, N>(worst) >= 0) return;
        for (std::int64_t y = 0; y < k_; ++y)
            correct(table_.by_label, y, a, whole * table_.base[y], to,
                    [&](std::int64_t) { return table_.base[y]; });
    }
    // to[h] <- Σ_y E(h,y) v[y].
    void reach_back(const double* v, double* to) const {
        V base = fill<double, N>(0), worst = base;
        for (std::int64_t y = 0; y < k_; ++y) base += load<N>(v + y * N) * table_.base[y];
        for (std::int64_t i = 0; i < k_; ++i) {
            const std::int64_t h = table_.by_context.order[i];
            const V sum = add(table_.by_context, h, v, base);
            store<N>(to + h * N, sum);
            worst = smaller<double, N>(worst, sum + base * -kKept);
        }
        if (least<double, N>(worst) >= 0) return;
        for (std::int64_t h = 0; h < k_; ++h)
            correct(table_.by_context, h, v, base, to, [&](std::int64_t y) { return table_.base[y]; });
    }
    // Sums a row again over all cells, in the lanes where too little of `base` is left.
    template <class Usual>
    void correct(const SparseCells& cells, std::int64_t row, const double* x, V base, double* to,
                 Usual usual) const {
        const V left = load<N>(to + row * N) + base * -kKept;
        if (least<double, N>(left) >= 0) return;
        double lefts[N], sums[N];
        V sum = fill<double, N>(0);
        std::int32_t c = cells.firsts[row];
        for (std::int64_t other = 0; other < k_; ++other) {
            const bool listed = c < cells.firsts[row + 1] && cells.others[c] == other;
            sum += load<N>(x + other * N) * (listed ? cells.exps[c] : usual(other));
            c += listed;
        }
        store<N>(lefts, left);
        store<N>(sums, sum);
        for (int j = 0; j < N; ++j) to[row * N + j] = lefts[j] < 0 ? sums[j] : to[row * N + j];
    }
    V add(const SparseCells& cells, std::int64_t row, const double* x, V sum) const {
        for (std::int32_t c = cells.firsts[row]; c < cells.firsts[row + 1]; ++c)
            sum += load<N>(x + cells.others[c] * N) * cells.excess[c];
        return sum;
    }

    void backward() {
        bool counts = false;
        for (std::int64_t j = 0; j < n_; ++j) counts = counts || out_[j].counts;
        for (std::int64_t i = 0; i < width_; ++i) back_[i] = totals_[i] = starts_[i] = 0;
        for (std::int64_t i = 0; counts && i < table_.n_cells * N; ++i) counts_[i] = 0;
        for (std::int64_t t = length_ - 1; t >= 0; --t) {
            for (std::int64_t j = 0; j < n_; ++j)
                for (std::int64_t y = 0; scores_[j].length == t + 1 && y < k_; ++y) back_[y * N + j] = 1;
            const V share = visit(t);
            double* v = weighted_ + t * width_;
            for (std::int64_t i = 0; i < width_; i += N) store<N>(v + i, load<N>(v + i) * load<N>(back_ + i));
            if (t == 0) return;
            if (counts) count(t, share);
            reach_back(v, next_);
            for (std::int64_t i = 0; i < width_; i += N) store<N>(back_ + i, load<N>(next_ + i) * scale_);
        }
    }

    // Marginals of position t. Returns 1 / Σ a b; scale_ <- 1 / Σ b.
    V visit(std::int64_t t) {
        const double* a = forward_ + t * width_;
        V joint = fill<double, N>(0), sum = joint;
        for (std::int64_t i = 0; i < width_; i += N) {
            joint += load<N>(a + i) * load<N>(back_ + i);
            sum += load<N>(back_ + i);
        }
        double whole[N], growth[N];
        store<N>(whole, joint);
        store<N>(growth, sum);
        for (int j = 0; j < N; ++j) {
            constexpr auto safe = static_cast<double>(Safe<Real>::value);
            if (is_active(j, t) && !(whole[j] >= safe * (growth[j] > 1 ? growth[j] : 1)))
                possible_[j] = false;
            whole[j] = is_active(j, t) && possible_[j] ? 1 / whole[j] : 0;
            growth[j] = is_active(j, t) && growth[j] > 0 ? 1 / growth[j] : 0;
        }
        const V share = load<N>(whole);
        scale_ = load<N>(growth);
        double* totals = t == 0 ? starts_ : totals_;
        for (std::int64_t i = 0; i < width_; i += N) {
            const V marginal = load<N>(a + i) * load<N>(back_ + i) * share;
            store<N>(next_ + i, marginal);
            store<N>(totals + i, load<N>(totals + i) + marginal);
        }
        for (std::int64_t y = 0; y < k_; ++y)
            for (int j = 0; j < N; ++j) rows_[j * row_width_ + y] = static_cast<Real>(next_[y * N + j]);
        for (std::int64_t j = 0; j < n_; ++j)
            if (out_[j].state && is_active(j, t))
                std::memcpy(out_[j].state + t * k_, rows_ + j * row_width_, sizeof(Real) * k_);
        return share;
    }

    // counts[h,y] += a[t-1,h] v[t,y] / (sum of a[t-1] times Σ a b); E(h,y) follows in add_counts.
    void count(std::int64_t t, V share) {
        const double *a = forward_ + (t - 1) * width_, *v = weighted_ + t * width_;
        const V factor = load<N>(inverses_ + (t - 1) * N) * share;
        const SparseCells& cells = table_.by_context;
        for (std::int64_t i = 0; i < k_; ++i) {
            const std::int64_t h = cells.order[i];
            const V from = load<N>(a + h * N) * factor;
            for (std::int32_t c = cells.firsts[h]; c < cells.firsts[h + 1]; ++c)
                store<N>(counts_ + c * N, load<N>(counts_ + c * N) + from * load<N>(v + cells.others[c] * N));
        }
    }

    // What all other cells of a label have together is what is left of the label's marginals.
    void add_counts(std::int64_t j) {
        const SparseOut<Real>& out = out_[j];
        const SparseCells& cells = table_.by_context;
        for (std::int64_t y = 0; y < k_; ++y)
            out.counts[y] += rounded(out.weight * starts_[y * N + j], out.rounder);
        for (std::int64_t c = 0; c < table_.n_cells; ++c) {
            const double count = cells.exps[c] * counts_[c * N + j];
            out.counts[k_ + c] += rounded(out.weight * count, out.rounder);
            totals_[cells.others[c] * N + j] -= count;
        }
        for (std::int64_t y = 0; y < k_; ++y) {
            const double left = totals_[y * N + j];
            out.counts[k_ + table_.n_cells + y] += rounded(out.weight * (left > 0 ? left : 0), out.rounder);
        }
    }

    const SparseTransitions& table_;
    const Scores<Real>* scores_;
    const SparseOut<Real>* out_;
    std::int64_t n_, k_, width_, length_ = 0;
    double *forward_, *weighted_, *back_, *next_, *totals_, *starts_, *inverses_, *counts_;
    Real* rows_;  // of the state scores, or of the marginals, of a position
    std::int64_t row_width_;
    LogProduct growths_[N];
    bool possible_[N];
    V low_ = fill<double, N>(1), scale_ = fill<double, N>(1);
};

template <class Real>
void sparse_sums(const SparseTransitions& table, const Scores<Real>* scores, std::int64_t n,
                 const SparseOut<Real>* out, double* work, double* log_z, bool* is_safe) {
    if (n == 1) return SparseChains<Real, 1>(table, scores, n, out, work).run(log_z, is_safe);
    SparseChains<Real, kLanes<double>>(table, scores, n, out, work).run(log_z, is_safe);
}

template <class Real>
std::int64_t sparse_work_size(std::int64_t k, std::int64_t n_cells, std::int64_t length, std::int64_t n) {
    if (n == 1) return SparseChains<Real, 1>::work_size(k, n_cells, length);
    return SparseChains<Real, kLanes<double>>::work_size(k, n_cells, length);
}

// x <- exp(x).
void exponentials(double* x, std::int64_t n) {
    constexpr int N = kLanes<double>;
    std::int64_t i = 0;
    for (; i + N <= n; i += N) store<N>(x + i, exponential<double, N>(load<N>(x + i)));
    for (; i < n; ++i) {
        const Vec<double, N> one = exponential<double, N>(fill<double, N>(x[i]));
        x[i] = one[0];
    }
}

}  // namespace

template <class Real>
void offer_sparse_sums(FastLane<Real>& lane) {
    lane.sparse_sums = sparse_sums<Real>;
    lane.sparse_work_size = sparse_work_size<Real>;
    lane.sparse_together = kLanes<double>;
    lane.exponentials = exponentials;
}
template void offer_sparse_sums(FastLane<float>&);
template void offer_sparse_sums(FastLane<double>&);

}  // namespace hedgerow::HEDGEROW_ISA
