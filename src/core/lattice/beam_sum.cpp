// The fast lane for sums under a beam, order 1: scaled as in sum_product.cpp, but only the labels that are
// kept are multiplied. Equal to lattice.hpp with the same beam to 1e-9 (double) or 1e-5 in marginals (float),
// except where rounding decides which of two labels is kept.
//
//   forward    r[y] = (sum over kept h of a[t-1,h] E[h,y]) S[t,y];   the best r are kept, and a[t] = r / g[t]
//   backward   b[t-1,h] ~ sum over kept y of E[h,y] S[t,y] b[t,y],   made to sum to one
//   marginals  P(y_t = y) = a[t,y] b[t,y] / w[t],                    w[t] = sum of a[t] b[t]
//              P(h, y) = a[t-1,h] E[h,y] S[t,y] b[t,y] / (w[t] g[t])
//
// g[t] is the sum of the kept r, log Z = sum of log g[t] and shifts. E and S are exp of (scores - their
// largest). With edge scores, E[t] holds the whole score and S is 1.
//
// Certificate. The choice of labels is certain if the smallest kept number is far above the error of an
// underflow (`kept`); with a bound, also the smallest number that counts. The sums are certain if w[t] g[t]
// is (`safe`), as in sum_product.cpp. Otherwise the caller uses the logarithmic sweep; no table has been
// changed by then.
#include <bit>
#include <cmath>
#include <cstring>

#include "lattice/fast_lane.hpp"
#include "lattice/selection.hpp"
#include "util/numeric.hpp"
#include "util/rounded_sum.hpp"

namespace hedgerow::HEDGEROW_ISA {

namespace {

template <class Real>
struct Certain;
template <>
struct Certain<float> {
    static constexpr float kept = 1e-28f, safe = 1e-20f, apart = 64;
};
template <>
struct Certain<double> {
    static constexpr double kept = 1e-140, safe = 1e-140, apart = 1e6;
};

template <class Real>
class BeamChain {
    static constexpr int N = kSumLanes<Real>;
    using V = Vec<Real, N>;

  public:
    BeamChain(const Scores<Real>& scores, std::int64_t k, const Beam& beam, const Real* prepared,
              const double* shifts, const BeamWork<Real>& work)
        : scores_(scores),
          k_(k),
          width_(padded<Real>(k)),
          room_(padded<Real>(beam.most(k) + 1)),
          beam_(beam),
          prepared_(prepared),
          shifts_(shifts) {
        const std::int64_t all = scores.length * room_;
        values_ = work.numbers;
        inputs_ = values_ + all;
        backward_ = inputs_ + all;
        growth_ = backward_ + all;
        shift_ = growth_ + scores.length;
        edge_shift_ = shift_ + scores.length;
        state_shift_ = edge_shift_ + scores.length;
        terms_ = state_shift_ + scores.length;
        row_ = terms_ + 2 * room_;
        rows_ = row_ + 2 * width_;
        labels_ = work.places;
        counts_ = labels_ + all;
        offsets_ = counts_ + scores.length;
        for (std::int64_t t = 0; t < scores.length; ++t) edge_shift_[t] = state_shift_[t] = 0;
        if (several_parts() && scores.table) {
            first_table_shift_ = shift_of(scores.table, k);
            table_shift_ = shift_of(scores.table + k, k * k);
        }
    }

    bool run(const Marginals<Real>& out, double* log_z) {
        if (!forward(log_z)) return false;
        if (!out.state && !out.pair && !out.table) return true;
        if (!backward()) return false;
        for (std::int64_t t = 0; t < scores_.length; ++t) write(t, out);
        return true;
    }

    static BeamSize size(std::int64_t k, const Beam& beam, std::int64_t length, bool per_position) {
        const std::int64_t most = beam.most(k) + 1, width = padded<Real>(k), room = padded<Real>(most);
        return {(3 * length + 2) * room + 4 * length + (2 + (per_position ? most : 0)) * width,
                (length + 1) * room + length};
    }

  private:
    // The kept labels before position t. The first position has one source without a label.
    struct Sources {
        std::int64_t n;
        const Real* values;
        const std::int32_t* labels;

        std::int64_t context(std::int64_t j) const { return labels ? labels[j] : 0; }
        std::int64_t row(std::int64_t j) const { return labels ? 1 + labels[j] : 0; }
    };
    Sources before(std::int64_t t) const {
        static constexpr Real one = 1;
        if (t == 0) return {1, &one, nullptr};
        return {counts_[t - 1], values_ + (t - 1) * room_, labels_ + (t - 1) * room_};
    }

    bool forward(double* log_z) {
        double sum = scores_.edge ? 0 : shifts_[0] + shifts_[1] * static_cast<double>(scores_.length - 1);
        for (std::int64_t t = 0; t < scores_.length; ++t) {
            if (scores_.edge) {
                if (!reach_by_edges(t)) return false;
            } else {
                reach_by_table(t);
            }
            if (!(beam_.bound > 0 ? keep_mass(t) : keep_best(t))) return false;
            sum += std::log(static_cast<double>(growth_[t])) + static_cast<double>(shift_[t]) +
                   static_cast<double>(edge_shift_[t]) + static_cast<double>(state_shift_[t]) +
                   static_cast<double>(table_shift(t));
        }
        *log_z = sum;
        return true;
    }

    void reach_by_table(std::int64_t t) {
        Real* inputs = row_ + width_;
        if (scores_.state) {
            std::memcpy(inputs, scores_.state + t * k_, sizeof(Real) * k_);
        } else {
            for (std::int64_t y = 0; y < k_; ++y) inputs[y] = 0;
        }
        for (std::int64_t i = k_; i < width_; ++i) inputs[i] = -INFINITY;
        shift_[t] = exponentiate(inputs, width_, largest(inputs, width_));
        const Sources from = before(t);
        for (std::int64_t j = 0; j < from.n; ++j)
            offsets_[j] = static_cast<std::int32_t>(from.row(j) * width_);
        multiply(from.n, from.values, prepared_);
        for (std::int64_t i = 0; i < width_; i += N)
            store<N>(row_ + i, load<N>(row_ + i) * load<N>(inputs + i));
    }

    // Returns false if the parts of the scores differ so much that rounding of their sum may matter.
    bool reach_by_edges(std::int64_t t) {
        const Sources from = before(t);
        shift_parts(t, from);
        Real most = -INFINITY;
        for (std::int64_t j = 0; j < from.n; ++j) {
            Real* row = rows_ + j * width_;
            offsets_[j] = static_cast<std::int32_t>(j * width_);
            for (std::int64_t i = k_; i < width_; ++i) row[i] = -INFINITY;
            add_scores(t, from.context(j), from.row(j), row, k_, [](std::int64_t y) { return y; });
            const Real highest = largest(row, width_);
            most = highest > most ? highest : most;
        }
        if (several_parts() && !(most >= -Certain<Real>::apart)) return false;
        shift_[t] = exponentiate(rows_, from.n * width_, most);
        multiply(from.n, from.values, rows_);
        for (std::int64_t i = 0; i < width_; ++i) row_[width_ + i] = 1;
        return true;
    }

    bool several_parts() const { return scores_.edge && (scores_.state || scores_.table); }

    // If scores have several parts, each part is shifted by its largest number, as in sum_product.cpp.
    void shift_parts(std::int64_t t, const Sources& from) {
        if (!several_parts()) return;
        Real most = -INFINITY;
        for (std::int64_t j = 0; j < from.n; ++j) {
            const Real highest = largest(scores_.edge + (t * k_ + from.context(j)) * k_, k_);
            most = highest > most ? highest : most;
        }
        edge_shift_[t] = most == -INFINITY ? 0 : most;
        if (scores_.state) state_shift_[t] = shift_of(scores_.state + t * k_, k_);
    }
    static Real shift_of(const Real* x, std::int64_t n) {
        const Real most = largest(x, n);
        return most == -INFINITY ? 0 : most;
    }
    Real table_shift(std::int64_t t) const { return t == 0 ? first_table_shift_ : table_shift_; }

    // x <- exp(x - shift). Returns the shift used: 0 if every score is minus infinity.
    static Real exponentiate(Real* x, std::int64_t n, Real shift) {
        if (shift == -INFINITY) shift = 0;
        for (std::int64_t i = 0; i < n; i += N) store<N>(x + i, exponential<Real, N>(load<N>(x + i) - shift));
        return shift;
    }

    template <class Label>
    void add_scores(std::int64_t t, std::int64_t context, std::int64_t row, Real* to, std::int64_t n,
                    Label label) const {
        const Real* edge = scores_.edge + (t * k_ + context) * k_;
        const Real* table = scores_.table ? scores_.table + row * k_ : nullptr;
        const Real* state = scores_.state ? scores_.state + t * k_ : nullptr;
        const Real of_edge = edge_shift_[t], of_table = table_shift(t), of_state = state_shift_[t];
        if (table && state) {  // in one loop: the usual case
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t y = label(i);
                to[i] = (edge[y] - of_edge) + (table[y] - of_table) + (state[y] - of_state);
            }
            return;
        }
        for (std::int64_t i = 0; i < n; ++i) to[i] = edge[label(i)] - of_edge;
        for (std::int64_t i = 0; table && i < n; ++i) to[i] += table[label(i)] - of_table;
        for (std::int64_t i = 0; state && i < n; ++i) to[i] += state[label(i)] - of_state;
    }

    // to[y] <- Σ_j values[j] rows[offsets[j] + y], for W vectors that stay in registers.
    template <int W>
    void tile(std::int64_t n, const Real* values, const Real* rows, Real* to) const {
        V sum[W];
        for (int w = 0; w < W; ++w) sum[w] = fill<Real, N>(0);
        for (std::int64_t j = 0; j < n; ++j) {
            const Real value = values[j];
            for (int w = 0; w < W; ++w) sum[w] += value * load<N>(rows + offsets_[j] + w * N);
        }
        for (int w = 0; w < W; ++w) store<N>(to + w * N, sum[w]);
    }
    void multiply(std::int64_t n, const Real* values, const Real* rows) {
        std::int64_t i = 0;
        for (; i + 8 * N <= width_; i += 8 * N) tile<8>(n, values, rows + i, row_ + i);
        for (; i + 2 * N <= width_; i += 2 * N) tile<2>(n, values, rows + i, row_ + i);
        if (i < width_) tile<1>(n, values, rows + i, row_ + i);
    }

    bool keep_best(std::int64_t t) {
        constexpr Real least = Certain<Real>::kept;
        const std::int64_t certain = count_from(row_, width_, least);
        if (certain < beam_.size) return false;
        const std::int64_t also = beam_.keep ? beam_.keep[t] : -1;
        if (also >= 0 && !(row_[also] >= least)) return false;
        const Cut<Real> best = certain == beam_.size ? Cut<Real>{least, least, 0}
                                                     : cut(row_, width_, beam_.size, least, middle<Real>);
        write_kept(t, take(row_, width_, best, also, labels_ + t * room_));
        return true;
    }

    // The same for a beam with a bound.
    bool keep_mass(std::int64_t t) {
        const std::int64_t also = beam_.keep ? beam_.keep[t] : -1;
        if (also >= 0 && !(row_[also] >= Certain<Real>::kept)) return false;
        Real from;
        const std::int64_t n = take_mass(row_, width_, k_, static_cast<Real>(beam_.allowance()), also,
                                         labels_ + t * room_, offsets_, &from);
        if (!(from >= Certain<Real>::kept)) return false;
        write_kept(t, n);
        return true;
    }

    void write_kept(std::int64_t t, std::int64_t n) {
        std::int32_t* labels = labels_ + t * room_;
        Real *values = values_ + t * room_, *inputs = inputs_ + t * room_;
        counts_[t] = static_cast<std::int32_t>(n);
        for (std::int64_t i = n; i < padded<Real>(n); ++i) labels[i] = 0;
        Real growth = 0;
        for (std::int64_t i = 0; i < n; ++i) growth += values[i] = row_[labels[i]];
        for (std::int64_t i = 0; i < n; ++i) values[i] /= growth;
        for (std::int64_t i = 0; i < n; ++i) inputs[i] = row_[width_ + labels[i]];
        growth_[t] = growth;
    }

    bool backward() {
        const std::int64_t last = scores_.length - 1;
        for (std::int64_t i = 0; i < counts_[last]; ++i)
            backward_[last * room_ + i] = Real(1) / static_cast<Real>(counts_[last]);
        for (std::int64_t t = last; t >= 0; --t) {
            if (!(whole(t) * growth_[t] >= Certain<Real>::safe)) return false;
            if (t > 0) step_back(t);
        }
        return true;
    }

    // w[t] = Σ_y a[t,y] b[t,y]
    Real whole(std::int64_t t) const {
        Real sum = 0;
        for (std::int64_t i = 0; i < counts_[t]; ++i)
            sum += values_[t * room_ + i] * backward_[t * room_ + i];
        return sum;
    }

    void step_back(std::int64_t t) {
        const Sources from = before(t);
        Real *to = backward_ + (t - 1) * room_, growth = 0;
        prepare_terms(t);
        if (scores_.edge) {
            for (std::int64_t j = 0; j < from.n; ++j) {
                find_terms(t, from, j);
                V sum = load<N>(terms_);
                for (std::int64_t i = N; i < counts_[t]; i += N) sum += load<N>(terms_ + i);
                to[j] = total<Real, N>(sum);
            }
        } else {  // all label contexts at once, kept or not: whole rows are faster than gathered numbers
            for (std::int64_t i = 0; i < counts_[t]; ++i)
                offsets_[i] = static_cast<std::int32_t>((1 + k_ + labels_[t * room_ + i]) * width_);
            multiply(counts_[t], terms_ + room_, prepared_);
            for (std::int64_t j = 0; j < from.n; ++j) to[j] = row_[from.labels[j]];
        }
        for (std::int64_t j = 0; j < from.n; ++j) growth += to[j];
        for (std::int64_t j = 0; j < from.n; ++j) to[j] /= growth;
    }

    // v[y] = S[t,y] b[t,y], the factor that all sources of position t share; 0 after the last kept label.
    void prepare_terms(std::int64_t t) {
        Real* v = terms_ + room_;
        for (std::int64_t i = 0; i < counts_[t]; ++i)
            v[i] = inputs_[t * room_ + i] * backward_[t * room_ + i];
        for (std::int64_t i = counts_[t]; i < padded<Real>(counts_[t]); ++i) v[i] = 0;
    }
    // terms[y] <- E[h_j,y] S[t,y] b[t,y] for the labels y kept at t; 0 after the last.
    void find_terms(std::int64_t t, const Sources& from, std::int64_t j) {
        const std::int64_t n = padded<Real>(counts_[t]);
        const std::int32_t* labels = labels_ + t * room_;
        const Real* v = terms_ + room_;
        if (scores_.edge) {
            add_scores(t, from.context(j), from.row(j), terms_, n, [&](std::int64_t i) { return labels[i]; });
            exponentiate(terms_, n, shift_[t]);
#pragma omp simd
            for (std::int64_t i = 0; i < n; ++i) terms_[i] *= v[i];
        } else {
            const Real* row = prepared_ + from.row(j) * width_;
#pragma omp simd
            for (std::int64_t i = 0; i < n; ++i) terms_[i] = row[labels[i]] * v[i];
        }
    }

    void write(std::int64_t t, const Marginals<Real>& out) {
        const std::int64_t n = counts_[t];
        const std::int32_t* labels = labels_ + t * room_;
        const Real share = whole(t);
        if (out.state) {
            Real* state = out.state + t * k_;
            for (std::int64_t y = 0; y < k_; ++y) state[y] = 0;
            for (std::int64_t i = 0; i < n; ++i)
                state[labels[i]] = values_[t * room_ + i] * backward_[t * room_ + i] / share;
        }
        for (std::int64_t i = 0; out.pair && i < k_ * k_; ++i) out.pair[t * k_ * k_ + i] = 0;
        if (!out.pair && !out.table) return;
        prepare_terms(t);
        const Sources from = before(t);
        const double scale = 1 / (static_cast<double>(share) * growth_[t]);
        const bool whole_rows = out.table && !out.pair && !scores_.edge && n * kWholeRows > k_;
        if (whole_rows) spread(t);
        for (std::int64_t j = 0; j < from.n; ++j) {
            if (!whole_rows) find_terms(t, from, j);
            const double weight = from.values[j] * scale;
            if (out.pair) {
                Real* pair = out.pair + (t * k_ + from.context(j)) * k_;
                for (std::int64_t i = 0; i < n; ++i) pair[labels[i]] = static_cast<Real>(weight * terms_[i]);
            }
            if (!out.table) continue;
            double* row = out.table + from.row(j) * k_;
            if (whole_rows) {
                add_row(prepared_ + from.row(j) * width_, out.weight * weight, out.rounder, row);
                continue;
            }
            for (std::int64_t i = 0; i < n; ++i)
                row[labels[i]] += rounded(out.weight * weight * terms_[i], out.rounder);
        }
    }

    // Where more than one label in so many is kept, whole rows are quicker than single numbers.
    static constexpr std::int64_t kWholeRows = 8;
    // row_ <- v of prepare_terms, 0 for labels that are not kept.
    void spread(std::int64_t t) {
        for (std::int64_t i = 0; i < width_; ++i) row_[i] = 0;
        for (std::int64_t i = 0; i < counts_[t]; ++i) row_[labels_[t * room_ + i]] = terms_[room_ + i];
    }
    // to[y] += weight E[y] v[y]
    void add_row(const Real* exps, double weight, double rounder, double* to) const {
        const Real* v = row_;
#pragma omp simd
        for (std::int64_t y = 0; y < k_; ++y)
            to[y] += rounded(weight * static_cast<double>(exps[y] * v[y]), rounder);
    }

    Scores<Real> scores_;
    std::int64_t k_, width_, room_;
    Beam beam_;
    const Real* prepared_;
    const double* shifts_;
    Real *values_, *inputs_, *backward_;                  // a, S and b of the kept labels: [length, room]
    Real *growth_, *shift_, *edge_shift_, *state_shift_;  // [length]
    Real first_table_shift_ = 0, table_shift_ = 0;
    Real *terms_, *row_, *rows_;
    std::int32_t *labels_, *counts_, *offsets_;
};

template <class Real>
bool beam_sum(const Scores<Real>& scores, std::int64_t k, const Beam& beam, const Real* prepared,
              const double* shifts, const Marginals<Real>& out, const BeamWork<Real>& work, double* log_z) {
    return BeamChain<Real>(scores, k, beam, prepared, shifts, work).run(out, log_z);
}

}  // namespace

template <class Real>
void offer_beam_sum(FastLane<Real>& lane) {
    lane.beam_sum = beam_sum<Real>;
    lane.beam_sum_size = BeamChain<Real>::size;
}
template void offer_beam_sum(FastLane<float>&);
template void offer_beam_sum(FastLane<double>&);

}  // namespace hedgerow::HEDGEROW_ISA
