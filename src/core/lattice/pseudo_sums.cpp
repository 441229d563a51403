#include "lattice/pseudo_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "util/numeric.hpp"
#include "util/parallel.hpp"
#include "util/rounded_sum.hpp"

namespace hedgerow {
namespace {

// Processes runs of sequences on one thread. Order: that of the topology; or -1, and then any other order.
// The compiler removes the loops over lags where it knows how many there are.
//
// Positions count from the first of the run. Probabilities are kept by label, then position, so that loops
// over positions become vector code.
template <class Real, int Order>
class PseudoWorker {
  public:
    PseudoWorker(const LatticeBatch<Real>& batch, const PseudoGold& gold, const StandIns& out)
        : batch_(batch), gold_(gold), out_(out), rounder_(rounder_of(gold.unit)) {
        for (std::int64_t m = 0; m <= order(); ++m) {
            powers_.push_back(batch.topology.power(m));
            first_rows_.push_back(batch.topology.first_row(m));
        }
    }

    // The sequences [first, last). table: what the sums by row are added to, or null.
    void operator()(std::int64_t first, std::int64_t last, double* table) {
        begin_ = batch_.first(first);
        n_ = batch_.first(last) - begin_;
        labels_ = gold_.labels + begin_;
        const auto n = static_cast<std::size_t>(n_), k = static_cast<std::size_t>(batch_.n_labels());
        if (p_.size() < n * k) p_.resize(n * k);
        if (contexts_.size() < n) contexts_.resize(n), sums_.resize(n);
        for_each(first, last, [&](auto... position) { find_context(position...); });
        for_each(first, last, [&](auto... position) { find_scores(position...); });
        if (gold_.allowed) forbid();
        normalise();
        for (std::int64_t i = first; i < last; ++i) out_.log_likelihood[i] = log_likelihood(i);
        for_each(first, last, [&](std::int64_t i, std::int64_t t, std::int64_t place, std::int64_t) {
            write(i, t, place, table);
        });
    }

  private:
    std::int64_t order() const { return Order < 0 ? batch_.topology.order : Order; }
    std::int64_t n_contexts() const { return powers_[order()]; }
    std::int64_t first_row(std::int64_t place) const { return first_rows_[std::min(place, order())]; }

    // What the label `lag` positions before the given place in a sequence is multiplied with in the number of
    // the label context there.
    std::int64_t factor(std::int64_t place, std::int64_t lag) const {
        return powers_[std::min(place, order()) - lag];
    }

    // Calls visit(sequence, position, place in the sequence, number of positions after it).
    template <class Visit>
    void for_each(std::int64_t first, std::int64_t last, Visit visit) const {
        for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t at = batch_.first(i) - begin_, length = batch_.length(i);
            for (std::int64_t place = 0; place < length; ++place)
                visit(i, at + place, place, length - 1 - place);
        }
    }

    // contexts_[t]: the number of the gold label context of t.
    void find_context(std::int64_t, std::int64_t t, std::int64_t place, std::int64_t) {
        contexts_[t] = 0;
        for (std::int64_t lag = 1; lag <= std::min(place, order()); ++lag)
            contexts_[t] += labels_[t - lag] * factor(place, lag);
    }

    // p_[., t]: the scores that depend on the label at t.
    void find_scores(std::int64_t, std::int64_t t, std::int64_t place, std::int64_t n_after) {
        const std::int64_t k = batch_.n_labels(), here = begin_ + t;
        Real* p = p_.data() + t;
        for (std::int64_t v = 0; v < k; ++v) p[v * n_] = 0;
        add(p, batch_.state, here * k, 1);
        add(p, batch_.edge, (here * n_contexts() + contexts_[t]) * k, 1);
        add(p, batch_.table, (first_row(place) + contexts_[t]) * k, 1);
        for (std::int64_t lag = 1; lag <= std::min(order(), n_after); ++lag) {
            const std::int64_t u = t + lag, step = factor(place + lag, lag);
            const std::int64_t first = contexts_[u] - labels_[t] * step;
            add(p, batch_.edge, ((here + lag) * n_contexts() + first) * k + labels_[u], step * k);
            add(p, batch_.table, (first_row(place + lag) + first) * k + labels_[u], step * k);
        }
    }

    // p[v] += scores[first + v stride] for every label v; nothing for absent scores.
    void add(Real* p, const Real* scores, std::int64_t first, std::int64_t stride) const {
        if (!scores) return;
        for (std::int64_t v = 0; v < batch_.n_labels(); ++v) p[v * n_] += scores[first + v * stride];
    }

    void forbid() {
        const std::int64_t k = batch_.n_labels();
        const bool* allowed = gold_.allowed + begin_ * k;
        for (std::int64_t t = 0; t < n_; ++t)
            for (std::int64_t v = 0; v < k; ++v)
                if (!allowed[t * k + v]) p_[v * n_ + t] = kNever;
    }

    // Replaces scores by probabilities. sums_[t]: log P(gold) is own_[t] less the logarithm of it.
    void normalise() {
        const std::int64_t k = batch_.n_labels(), n = n_;
        Real* p = p_.data();
        highest_.assign(p, p + n);
        Real* highest = highest_.data();
        for (std::int64_t v = 1; v < k; ++v)
            for (std::int64_t t = 0; t < n; ++t) highest[t] = std::max(highest[t], p[v * n + t]);
        own_.resize(static_cast<std::size_t>(n));
        for (std::int64_t t = 0; t < n; ++t) {
            own_[t] = highest[t] > kNever ? p[labels_[t] * n + t] - highest[t] : kNever;
            highest[t] = std::max(highest[t], kLowest);  // no NaN where nothing is allowed
        }
        for (std::int64_t v = 0; v < k; ++v)
            for (std::int64_t t = 0; t < n; ++t) p[v * n + t] -= highest[t];
        exponentials(p, n * k);
        Real* sums = sums_.data();
        std::fill_n(sums, n, Real(0));
        for (std::int64_t v = 0; v < k; ++v)
            for (std::int64_t t = 0; t < n; ++t) sums[t] += p[v * n + t];
        for (std::int64_t t = 0; t < n; ++t) sums[t] = sums[t] > 0 ? sums[t] : Real(1);
        for (std::int64_t v = 0; v < k; ++v)
            for (std::int64_t t = 0; t < n; ++t) p[v * n + t] /= sums[t];
    }

    // x[j] = exp(x[j]), for numbers that are not above 0.
    static void exponentials(Real* x, std::int64_t n) {
        using namespace HEDGEROW_ISA;
        constexpr int lanes = kLanes<Real>;
        std::int64_t j = 0;
        for (; j + lanes <= n; j += lanes) store<lanes>(x + j, exponential<Real, lanes>(load<lanes>(x + j)));
        for (; j < n; ++j) store<1>(x + j, exponential<Real, 1>(load<1>(x + j)));
    }

    double log_likelihood(std::int64_t i) const {
        const std::int64_t at = batch_.first(i) - begin_;
        // The logarithm of a product of sums, each of 1 to K, in place of one logarithm for each.
        double total = 0, product = 1;
        for (std::int64_t t = at; t < at + batch_.length(i); ++t) {
            total += own_[t];
            product *= sums_[t];
            if (product > 1e200) {
                total -= std::log(product);
                product = 1;
            }
        }
        return total - std::log(product);
    }

    // Writes the stand-ins of the scores at position t.
    void write(std::int64_t i, std::int64_t t, std::int64_t place, double* table) {
        const std::int64_t k = batch_.n_labels();
        if (!batch_.edge) {  // a state score depends on no other label
            float* to = out_.marginals + (begin_ + t) * k;
            for (std::int64_t v = 0; v < k; ++v) to[v] = static_cast<float>(p(t, v));
        } else {
            float* to = out_.marginals + (begin_ + t) * n_contexts() * k;
            std::fill_n(to, n_contexts() * k, 0.0f);
            put(t, place, [&](std::int64_t cell, Real value) { to[cell] = static_cast<float>(value); });
        }
        if (table) {
            double* rows = table + first_row(place) * k;
            const double weight = gold_.weights[i];
            put(t, place, [&](std::int64_t cell, Real value) {
                rows[cell] += rounded(weight * static_cast<double>(value), rounder_);
            });
        }
    }

    // Calls visit(label context * K + label, stand-in) for those at t that are not 0.
    template <class Visit>
    void put(std::int64_t t, std::int64_t place, Visit visit) const {
        const std::int64_t k = batch_.n_labels(), own = contexts_[t], label = labels_[t];
        Real of_gold = p(t, label);
        for (std::int64_t v = 0; v < k; ++v)
            if (v != label) visit(own * k + v, p(t, v));
        for (std::int64_t lag = 1; lag <= std::min(place, order()); ++lag) {
            const std::int64_t gold = labels_[t - lag], step = factor(place, lag);
            of_gold += p(t - lag, gold) - 1;
            for (std::int64_t v = 0; v < k; ++v)
                if (v != gold) visit((own + (v - gold) * step) * k + label, p(t - lag, v));
        }
        visit(own * k + label, of_gold);
    }

    Real p(std::int64_t t, std::int64_t v) const { return p_[v * n_ + t]; }

    static constexpr Real kNever = -std::numeric_limits<Real>::infinity();
    static constexpr Real kLowest = std::numeric_limits<Real>::lowest();

    const LatticeBatch<Real>& batch_;
    const PseudoGold& gold_;
    const StandIns& out_;
    double rounder_;
    std::vector<std::int64_t> powers_, first_rows_;  // of K^m, and of label contexts of m labels
    // Of the run, by position.
    std::int64_t begin_ = 0, n_ = 0;
    const std::int32_t* labels_ = nullptr;
    std::vector<std::int64_t> contexts_;
    std::vector<Real> highest_, own_, sums_;
    std::vector<Real> p_;  // [K, positions]
};

// Every chunk of sequences has a table of its own; see sum_pairs.
template <int Order, class Real>
void pseudo_sums_of_order(const LatticeBatch<Real>& batch, const PseudoGold& gold, const StandIns& out) {
    const std::int64_t n_rows = out.table ? batch.topology.n_rows() : 0;
    const std::int64_t chunk_size = std::max(LatticeBatch<Real>::kChunkPositions, n_rows);
    const std::vector<std::int64_t> cuts = chunks(batch.starts, batch.n_sequences, chunk_size);
    const std::size_t n_chunks = cuts.size() - 1;
    const auto size = out.table ? static_cast<std::size_t>(batch.table_size()) : 0;
    std::vector<double> tables(n_chunks * size, 0.0);
    parallel_for(static_cast<std::int64_t>(n_chunks), batch.n_threads, [&] {
        return [&, work = PseudoWorker<Real, Order>(batch, gold, out)](std::int64_t c) mutable {
            double* own = out.table ? tables.data() + static_cast<std::size_t>(c) * size : nullptr;
            work(cuts[c], cuts[c + 1], own);
        };
    });
    std::fill_n(out.table, size, 0.0);
    for (std::size_t i = 0; i < tables.size(); ++i) out.table[i % size] += tables[i];
}

}  // namespace

template <class Real>
void pseudo_sums(const LatticeBatch<Real>& batch, const PseudoGold& gold, const StandIns& out) {
    if (batch.topology.order == 0) return pseudo_sums_of_order<0>(batch, gold, out);
    if (batch.topology.order == 1) return pseudo_sums_of_order<1>(batch, gold, out);
    pseudo_sums_of_order<-1>(batch, gold, out);
}

template void pseudo_sums(const LatticeBatch<float>&, const PseudoGold&, const StandIns&);
template void pseudo_sums(const LatticeBatch<double>&, const PseudoGold&, const StandIns&);

}  // namespace hedgerow
