#include "lattice/pseudo_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "util/parallel.hpp"
#include "util/rounded_sum.hpp"

namespace hedgerow {
namespace {

// Processes the sequences of one thread.
template <class Real>
class PseudoWorker {
  public:
    PseudoWorker(const LatticeBatch<Real>& batch, const PseudoGold& gold, const StandIns& out)
        : batch_(batch), gold_(gold), out_(out), rounder_(rounder_of(gold.unit)) {
        for (std::int64_t n = 0; n <= batch.topology.order; ++n) powers_.push_back(batch.topology.power(n));
    }

    // table: what the sums by row are added to, or null.
    void operator()(std::int64_t i, double* table) {
        const std::int64_t length = batch_.length(i);
        labels_ = gold_.labels + batch_.first(i);
        p_.resize(static_cast<std::size_t>(length * batch_.n_labels()));
        contexts_.resize(static_cast<std::size_t>(length));
        for (std::int64_t t = 0; t < length; ++t) contexts_[t] = batch_.topology.label_context(labels_, t);
        double sum = 0;
        for (std::int64_t t = 0; t < length; ++t) sum += find_probabilities(i, t);
        out_.log_likelihood[i] = sum;
        for (std::int64_t t = 0; t < length; ++t) write(i, t, table);
    }

  private:
    std::int64_t order() const { return batch_.topology.order; }

    // The number of the gold context of t with another label at t - lag.
    std::int64_t changed(std::int64_t t, std::int64_t lag, std::int64_t label) const {
        return contexts_[t] + (label - labels_[t - lag]) * powers_[std::min(t, order()) - lag];
    }

    // Writes P_t. Returns log P_t(gold_t).
    double find_probabilities(std::int64_t i, std::int64_t t) {
        const std::int64_t k = batch_.n_labels(), length = batch_.length(i);
        const ScoreReader<Real> reader(batch_.topology, batch_.scores(i));
        double* p = p_.data() + t * k;
        const std::int64_t row = batch_.topology.first_row(t);
        for (std::int64_t v = 0; v < k; ++v) p[v] = reader.template at<double>(t, row, v)(contexts_[t]);
        for (std::int64_t lag = 1; lag <= std::min(order(), length - 1 - t); ++lag) {
            const std::int64_t u = t + lag;
            const auto score = reader.template at<double>(u, batch_.topology.first_row(u), labels_[u]);
            for (std::int64_t v = 0; v < k; ++v) p[v] += score(changed(u, lag, v));
        }
        if (gold_.allowed) {
            const bool* allowed = gold_.allowed + (batch_.first(i) + t) * k;
            for (std::int64_t v = 0; v < k; ++v) p[v] = allowed[v] ? p[v] : kMinusInfinity;
        }
        return normalise(p, k, labels_[t]);
    }

    static double normalise(double* p, std::int64_t k, std::int64_t gold) {
        const double highest = *std::max_element(p, p + k), of_gold = p[gold];
        if (highest == kMinusInfinity) {
            std::fill_n(p, k, 0.0);
            return kMinusInfinity;
        }
        double sum = 0;
        for (std::int64_t v = 0; v < k; ++v) sum += p[v] = std::exp(p[v] - highest);
        for (std::int64_t v = 0; v < k; ++v) p[v] /= sum;
        return of_gold - highest - std::log(sum);
    }

    // Writes the stand-ins of the scores at position t.
    void write(std::int64_t i, std::int64_t t, double* table) {
        const std::int64_t k = batch_.n_labels(), here = batch_.first(i) + t;
        const std::int64_t n_contexts = batch_.edge ? batch_.topology.n_label_contexts() : 1;
        float* to = out_.marginals + here * n_contexts * k;
        double* rows = table ? table + batch_.topology.first_row(t) * k : nullptr;
        const auto put = [&](std::int64_t context, std::int64_t label, double value) {
            if (batch_.edge) to[context * k + label] = static_cast<float>(value);
            if (rows) rows[context * k + label] += rounded(gold_.weights[i] * value, rounder_);
        };
        const std::int64_t own = contexts_[t], label = labels_[t];
        const double* p = p_.data() + t * k;
        if (batch_.edge) std::fill_n(to, n_contexts * k, 0.0f);
        for (std::int64_t v = 0; v < k; ++v) {
            if (!batch_.edge) to[v] = static_cast<float>(p[v]);  // a state score depends on no other label
            if (v != label) put(own, v, p[v]);
        }
        double of_gold = p[label];
        for (std::int64_t lag = 1; lag <= std::min(t, order()); ++lag) {
            const double* before = p - lag * k;
            const std::int64_t gold = labels_[t - lag];
            for (std::int64_t v = 0; v < k; ++v)
                if (v != gold) put(changed(t, lag, v), label, before[v]);
            of_gold += before[gold] - 1;
        }
        put(own, label, of_gold);
    }

    const LatticeBatch<Real>& batch_;
    const PseudoGold& gold_;
    const StandIns& out_;
    double rounder_;
    const std::int32_t* labels_ = nullptr;  // of the sequence
    std::vector<std::int64_t> powers_;      // of K
    std::vector<std::int64_t> contexts_;    // the gold label context of each position
    std::vector<double> p_;                 // [length, K]
};

}  // namespace

// Every chunk of sequences has a table of its own; see sum_pairs.
template <class Real>
void pseudo_sums(const LatticeBatch<Real>& batch, const PseudoGold& gold, const StandIns& out) {
    const std::int64_t chunk_size = std::max(LatticeBatch<Real>::kChunkPositions, batch.topology.n_rows());
    const std::vector<std::int64_t> cuts = chunks(batch.starts, batch.n_sequences, chunk_size);
    const std::size_t n_chunks = cuts.size() - 1;
    const auto size = out.table ? static_cast<std::size_t>(batch.table_size()) : 0;
    std::vector<double> tables(n_chunks * size, 0.0);
    parallel_for(static_cast<std::int64_t>(n_chunks), batch.n_threads, [&] {
        return [&, work = PseudoWorker<Real>(batch, gold, out)](std::int64_t c) mutable {
            double* own = out.table ? tables.data() + static_cast<std::size_t>(c) * size : nullptr;
            for (std::int64_t i = cuts[c]; i < cuts[c + 1]; ++i) work(i, own);
        };
    });
    std::fill_n(out.table, size, 0.0);
    for (std::size_t i = 0; i < tables.size(); ++i) out.table[i % size] += tables[i];
}

template void pseudo_sums(const LatticeBatch<float>&, const PseudoGold&, const StandIns&);
template void pseudo_sums(const LatticeBatch<double>&, const PseudoGold&, const StandIns&);

}  // namespace hedgerow
