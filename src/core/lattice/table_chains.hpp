// Sums of several sequences of order 1 that share a transition table. The sequences advance together, so that
// the table, which may be larger than the nearest caches, is read once for all of them. What a sequence gets
// does not depend on the others. The formulas and the certificate are those of sum_product.cpp.
#pragma once

#include "lattice/fast_lane.hpp"
#include "lattice/scaled_sums.hpp"
#include "lattice/views.hpp"
#include "util/rounded_sum.hpp"

namespace hedgerow::HEDGEROW_ISA {
namespace {

// The exponentiated table, padded with zeros: the start row, rows by label context, rows by label, and both
// again as panels.
template <class Real>
struct TableRows {
    std::int64_t k, stride;
    const Real *start, *rows;
    Matrix<Real> by_context, by_label;
    const double* shifts;

    TableRows(std::int64_t n_labels, const Real* prepared, const double* shifts_of)
        : k(n_labels),
          stride(padded<Real>(n_labels)),
          start(prepared),
          rows(prepared + stride),
          by_context(Matrix<Real>::of_panels(rows + 2 * k * stride, k)),
          by_label(Matrix<Real>::of_panels(by_context.first + Matrix<Real>::size_of_panels(k), k)),
          shifts(shifts_of) {}
    static std::int64_t size(std::int64_t k) {
        return (1 + 2 * k) * padded<Real>(k) + 2 * Matrix<Real>::size_of_panels(k);
    }
};

// One of the sequences. Rows of K numbers are read as whole vectors of N lanes: forward and backward values
// are padded with zeros, and numbers beyond a row of scores are finite and multiplied by such a zero.
template <class Real, int N>
class TableChain {
    using V = Vec<Real, N>;

  public:
    // `work`: see work_size. Computes the exponentials.
    void start(const TableRows<Real>& table, const Scores<Real>& scores, const Marginals<Real>& out,
               Real* work) {
        table_ = &table;
        scores_ = scores;
        out_ = out;
        k_ = table.k;
        width_ = (k_ + N - 1) / N * N;
        length_ = scores.length;
        mask_ = work;
        forward_ = mask_ + width_;
        weighted_ = forward_ + length_ * width_;
        back_ = weighted_ + length_ * width_;
        spare_ = back_ + width_;
        inverses_ = spare_ + width_;
        shares_ = inverses_ + padded<Real>(length_);
        exps_ = shares_ + padded<Real>(length_);
        set<Real>(mask_, 0, k_, 1);
        set<Real>(mask_, k_, width_, 0);
        set<Real>(exps_, (keeps() ? length_ : 1) * k_, (keeps() ? length_ : 1) * k_ + 2 * kSumLanes<Real>, 0);
        choose_shift();
        exponentiate_all();
    }
    static std::int64_t work_size(std::int64_t k, std::int64_t length) {
        return (2 * length + 3) * padded<Real>(k) + 2 * padded<Real>(length) +
               (length * k <= kKept ? length : 1) * k + 2 * kSumLanes<Real>;
    }

    std::int64_t length() const { return length_; }
    // After the forward sweep: whether that is all, or the backward sweep must run.
    bool is_done() const {
        return !is_possible_ || (is_certain() && !out_.state && !out_.pair && !out_.table);
    }
    bool is_safe() const { return is_possible_; }
    double log_z() {
        const double* shifts = table_->shifts;
        const double of_table = shifts[0] + shifts[1] * static_cast<double>(length_ - 1);
        return growths_.value() + (shift_sum_ + of_table);
    }

    // a[t] = (a[t-1] E) S[t] / r[t-1]: the product of the first two, then finish_forward.
    Product<Real> forward_product(std::int64_t t) { return {row(t - 1), row(t)}; }
    void finish_forward(std::int64_t t) {
        const Real* exps = keeps() ? exps_ + t * k_ : exps_;
        if (!keeps()) shift_sum_ += exponentiate_at(t, exps_);
        Real* a = row(t);
        const Real* before = t == 0 ? table_->start : a;
        V sum = fill<Real, N>(0);
        for (std::int64_t i = 0; i < width_; i += N) {
            const V scaled = load<N>(before + i) * load<N>(exps + i) * inverse_;
            store<N>(a + i, scaled);
            sum += scaled;
            low_ = smaller<Real, N>(low_, scaled + (Real(1) + load<N>(mask_ + i) * Real(-1)));
        }
        const Real growth = total<Real, N>(sum);
        if (!(growth > 0)) is_possible_ = false;
        inverse_ = inverses_[t] = 1 / growth;
        if (is_possible_) growths_.times(growth);
    }

    void start_backward() { std::memcpy(back_, mask_, sizeof(Real) * width_); }
    // Marginals of position t; then v[t] = S[t] b[t], and b[t-1] = E v[t] / q[t]: the product, and
    // finish_backward.
    void visit(std::int64_t t) {
        V joint = fill<Real, N>(0), sum = fill<Real, N>(0);
        for (std::int64_t i = 0; i < width_; i += N) {
            joint += load<N>(row(t) + i) * load<N>(back_ + i);
            sum += load<N>(back_ + i);
        }
        const Real whole = total<Real, N>(joint), growth = total<Real, N>(sum);
        if (!(whole >= Safe<Real>::value * (growth > 1 ? growth : 1))) is_possible_ = false;
        shares_[t] = 1 / whole;
        back_scale_ = 1 / growth;
        if (out_.state) write_state(t);
        const Real* exps = keeps() ? exps_ + t * k_ : exps_;
        if (!keeps()) exponentiate_at(t, exps_);
        for (std::int64_t i = 0; i < width_; i += N)
            store<N>(v(t) + i, load<N>(exps + i) * load<N>(back_ + i));
        if (out_.pair) write_pairs(t);
    }
    Product<Real> backward_product(std::int64_t t) { return {v(t), back_}; }
    void finish_backward() {
        for (std::int64_t i = 0; i < width_; i += N) store<N>(back_ + i, load<N>(back_ + i) * back_scale_);
    }

    // After the backward sweep:
    // table[1 + h, y] += weight Σ_t P(h, y at t) = weight E[h,y] Σ_t a[t-1,h] v[t,y] / sum.
    void add_pairs() {
        const Real* first = v(0);
        for (std::int64_t y = 0; y < k_; ++y)
            out_.table[y] += rounded(out_.weight * table_->start[y] * first[y] * shares_[0], out_.rounder);
        for (std::int64_t t = 1; t < length_; ++t) {
            for (std::int64_t i = 0; i < width_; i += N)
                store<N>(row(t - 1) + i, load<N>(row(t - 1) + i) * inverses_[t - 1] * shares_[t]);
        }
        std::int64_t h = 0;
        for (; h + kPairRows <= k_; h += kPairRows) add_pair_rows<kPairRows>(h);
        for (; h < k_; ++h) add_pair_rows<1>(h);
    }

  private:
    static constexpr std::int64_t kFlush = 256;  // positions summed in Real before they are added in double
    static constexpr int kPairRows = 4;

    // Sequences of up to this many scores store their exponentials for the backward sweep.
    static constexpr std::int64_t kKept = std::int64_t{1} << 20;
    bool keeps() const { return length_ * k_ <= kKept; }

    Real* row(std::int64_t t) { return forward_ + t * width_; }
    Real* v(std::int64_t t) { return weighted_ + t * width_; }
    bool is_certain() const { return least<Real, N>(low_) >= Safe<Real>::value; }

    // One shift for the whole sequence if its scores are close together, otherwise one for each position.
    void choose_shift() {
        if (!scores_.state) return;
        Real high, low;
        extremes(scores_.state, length_ * k_, &high, &low);
        common_ = high - low <= Safe<Real>::range;
        shift_ = common_ ? high : 0;
    }
    // to <- exp(scores of position t - shift). Returns the shift.
    double exponentiate_at(std::int64_t t, Real* to) const {
        const Real* from = to;
        if (scores_.state) {
            from = scores_.state + t * k_;
        } else {
            set<Real>(to, 0, k_, 0);
        }
        const Real shift = common_ ? shift_ : shift_of(from, k_);
        exponentiate(from, k_, shift, to);
        return static_cast<double>(shift);
    }
    void exponentiate_all() {
        if (!keeps()) return;
        if (common_ && scores_.state) {
            exponentiate(scores_.state, length_ * k_, shift_, exps_);
            shift_sum_ = static_cast<double>(shift_) * static_cast<double>(length_);
            return;
        }
        for (std::int64_t t = 0; t < length_; ++t) shift_sum_ += exponentiate_at(t, exps_ + t * k_);
    }

    void write_row(Real* to) const {
        for (std::int64_t y = 0; y < k_; ++y) to[y] = spare_[y];
    }
    void write_state(std::int64_t t) {
        for (std::int64_t i = 0; i < width_; i += N)
            store<N>(spare_ + i, load<N>(row(t) + i) * load<N>(back_ + i) * shares_[t]);
        write_row(out_.state + t * k_);
    }
    // a[t] was divided by the sum of a[t-1], but a[t-1] was not. The inverse is multiplied first, because its
    // product with a share may overflow.
    void write_pairs(std::int64_t t) {
        const Real* now = v(t);
        Real* to = out_.pair + t * k_ * k_;
        if (t == 0) {
            set<Real>(to, k_, k_ * k_, 0);
            for (std::int64_t y = 0; y < k_; ++y) to[y] = table_->start[y] * now[y] * shares_[0];
            return;
        }
        for (std::int64_t h = 0; h < k_; ++h) {
            const Real weight = row(t - 1)[h] * inverses_[t - 1] * shares_[t];
            for (std::int64_t i = 0; i < width_; i += N) {
                const V edge = load<N>(table_->rows + h * table_->stride + i);
                store<N>(spare_ + i, edge * load<N>(now + i) * weight);
            }
            write_row(to + h * k_);
        }
    }

    // Σ_t of R label contexts. Blocks of kFlush positions are summed in registers, last position first.
    template <int R>
    void add_pair_rows(std::int64_t h) {
        for (std::int64_t i = 0; i < width_; i += N) {
            double kept[R][N] = {};
            for (std::int64_t t = length_ - 1; t >= 1;) {
                V sums[R];
                for (int r = 0; r < R; ++r) sums[r] = fill<Real, N>(0);
                for (bool last = false; !last && t >= 1; --t) {
                    const V now = load<N>(v(t) + i);
                    for (int r = 0; r < R; ++r) sums[r] += now * row(t - 1)[h + r];
                    last = t % kFlush == 0;
                }
                for (int r = 0; r < R; ++r) {
                    Real block[N];
                    store<N>(block, sums[r]);
                    const Real* edge = table_->rows + (h + r) * table_->stride + i;
                    for (int j = 0; j < N; ++j) kept[r][j] += static_cast<double>(edge[j]) * block[j];
                }
            }
            const std::int64_t n = i + N <= k_ ? N : k_ - i;
            for (int r = 0; r < R; ++r) {
                double* to = out_.table + (1 + h + r) * k_ + i;
                for (std::int64_t j = 0; j < n; ++j) to[j] += rounded(out_.weight * kept[r][j], out_.rounder);
            }
        }
    }

    const TableRows<Real>* table_ = nullptr;
    Scores<Real> scores_{};
    Marginals<Real> out_{};
    std::int64_t k_ = 0, width_ = 0, length_ = 0;
    Real *mask_ = nullptr, *forward_ = nullptr, *weighted_ = nullptr, *back_ = nullptr, *spare_ = nullptr,
         *inverses_ = nullptr, *shares_ = nullptr, *exps_ = nullptr;
    bool common_ = true, is_possible_ = true;
    Real shift_ = 0, inverse_ = 1, back_scale_ = 1;
    double shift_sum_ = 0;
    LogProduct growths_;
    V low_ = fill<Real, N>(1);
};

// Runs n sequences, the longest first. OUT: log_z and is_safe, for each sequence.
template <class Real, int N>
class TableChains {
  public:
    TableChains(const TableRows<Real>& table, const Scores<Real>* scores, std::int64_t n,
                const Marginals<Real>* out, Real* work)
        : table_(table), n_(n) {
        for (std::int64_t i = 0; i < n; ++i) {
            chains_[i].start(table, scores[i], out[i], work);
            work += TableChain<Real, N>::work_size(table.k, scores[i].length);
        }
    }

    void run(double* log_z, bool* is_safe) {
        for (std::int64_t i = 0; i < n_; ++i) running_[i] = chains_ + i;
        forward(n_);
        std::int64_t n = 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            log_z[i] = chains_[i].log_z();
            if (!chains_[i].is_done()) running_[n++] = chains_ + i;
        }
        backward(n);
        for (std::int64_t i = 0; i < n_; ++i) is_safe[i] = chains_[i].is_safe();
    }
    // After run(): the pairs of one sequence.
    void add_pairs(std::int64_t i) { chains_[i].add_pairs(); }

  private:
    void forward(std::int64_t n) {
        Product<Real> rows[kTogether];
        for (std::int64_t t = 0; n > 0; ++t) {
            for (std::int64_t i = 0; i < n && t > 0; ++i) rows[i] = running_[i]->forward_product(t);
            if (t > 0) multiply<N>(rows, n, table_.by_context);
            for (std::int64_t i = 0; i < n; ++i) running_[i]->finish_forward(t);
            while (n > 0 && running_[n - 1]->length() == t + 1) --n;
        }
    }
    void backward(std::int64_t n) {
        Product<Real> rows[kTogether];
        for (std::int64_t i = 0; i < n; ++i) running_[i]->start_backward();
        for (std::int64_t step = 1; n > 0; ++step) {  // counted from the end of each sequence
            for (std::int64_t i = 0; i < n; ++i) running_[i]->visit(running_[i]->length() - step);
            while (n > 0 && running_[n - 1]->length() == step) --n;
            for (std::int64_t i = 0; i < n; ++i)
                rows[i] = running_[i]->backward_product(running_[i]->length() - step);
            multiply<N>(rows, n, table_.by_label);
            for (std::int64_t i = 0; i < n; ++i) running_[i]->finish_backward();
        }
    }

    const TableRows<Real>& table_;
    std::int64_t n_;
    TableChain<Real, N> chains_[kTogether];
    TableChain<Real, N>* running_[kTogether];
};

}  // namespace
}  // namespace hedgerow::HEDGEROW_ISA
