#include "lattice/path_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "lattice/beam_room.hpp"
#include "lattice/fast_lane.hpp"
#include "lattice/general_sums.hpp"
#include "lattice/sparse_table.hpp"
#include "util/rounded_sum.hpp"

namespace hedgerow {
namespace {

// The exponentiated table that all sequences share; empty where no kernel reads it.
template <class Real>
struct PreparedTable {
    std::vector<Real> rows;
    double shifts[2] = {0, 0};
    std::optional<SparseTable> sparse;

    // cells: the cells whose counts are wanted; null if all are, or if they are not listed.
    PreparedTable(const LatticeBatch<Real>& batch, const TableCells* cells) {
        const bool is_fast = batch.has_fast_lane() || batch.has_fast_beam();
        if (!is_fast || batch.edge || batch.topology.order != 1) return;
        if (cells && batch.table && batch.has_fast_lane())
            sparse = SparseTable::of(batch.table, batch.n_labels(), cells->numbers, cells->n);
        if (sparse) return;
        const FastLane<Real>& lane = fast_lane<Real>();
        const std::int64_t k = batch.n_labels();
        rows.resize(static_cast<std::size_t>(lane.table_size(k)));
        const std::vector<Real> zeros(batch.table ? 0 : static_cast<std::size_t>(batch.table_size()));
        lane.prepare(batch.table ? batch.table : zeros.data(), k, rows.data(), shifts);
    }
};

// Sums of sequences: by the fast lane if that certifies its answer, otherwise by the general sweep. Each
// thread has its own worker.
template <class Real>
class SumWorker {
  public:
    SumWorker(const LatticeBatch<Real>& batch, const PreparedTable<Real>& prepared)
        : batch_(batch), prepared_(prepared) {}

    // Where counts are added if the table is sparse, besides what out_of says for sequences that the kernel
    // does not certify; null for none.
    void count(double* counts) { counts_ = counts; }

    // The sequences first..last; out_of(i): where the marginals of sequence i are written. OUT: log_z.
    template <class OutOf>
    void operator()(std::int64_t first, std::int64_t last, OutOf out_of, double* log_z) {
        if (prepared_.sparse) return sparse(first, last, out_of, log_z);
        if (!go_together(out_of(first))) {
            for (std::int64_t i = first; i < last; ++i) log_z[i] = one(i, out_of(i));
            return;
        }
        if (batch_.edge) {
            order_.resize(static_cast<std::size_t>(last - first));
            std::iota(order_.begin(), order_.end(), first);
        } else {  // sequences of about the same length read the table together
            sort_by_length(first, last);
        }
        for (std::size_t i = 0; i < order_.size(); i += kTogether)
            several(order_.data() + i, std::min<std::size_t>(kTogether, order_.size() - i), out_of, log_z);
    }

  private:
    bool go_together(const Marginals<Real>& out) const {
        return batch_.has_fast_lane() && batch_.topology.order == 1 && !(batch_.edge && out.table);
    }

    template <class OutOf>
    void several(const std::int64_t* sequences, std::size_t n, OutOf out_of, double* log_z) {
        const FastLane<Real>& lane = fast_lane<Real>();
        Scores<Real> scores[kTogether];
        Marginals<Real> out[kTogether];
        std::int64_t size = 0;
        for (std::size_t j = 0; j < n; ++j) {
            scores[j] = batch_.scores(sequences[j]);
            out[j] = out_of(sequences[j]);
            size += lane.work_size(batch_.n_labels(), 1, scores[j].length, batch_.edge != nullptr);
        }
        if (work_.size() < static_cast<std::size_t>(size)) work_.resize(static_cast<std::size_t>(size));
        double found[kTogether];
        bool is_safe[kTogether];
        lane.sum_products(scores, static_cast<std::int64_t>(n), batch_.n_labels(), prepared_.rows.data(),
                          prepared_.shifts, out, work_.data(), found, is_safe);
        for (std::size_t j = 0; j < n; ++j)
            log_z[sequences[j]] = is_safe[j] ? found[j] : general(sequences[j], out[j]);
    }

    // Sequences of about the same length advance together, as long as their numbers fit a near cache.
    template <class OutOf>
    void sparse(std::int64_t first, std::int64_t last, OutOf out_of, double* log_z) {
        constexpr std::int64_t kLargest = std::int64_t{1} << 19;
        const FastLane<Real>& lane = fast_lane<Real>();
        const SparseTable& table = *prepared_.sparse;
        const SparseTransitions rows = table.rows();
        sort_by_length(first, last);
        for (std::size_t i = 0; i < order_.size();) {
            const std::int64_t longest = batch_.length(order_[i]);
            const bool alone = longest * rows.n_labels * lane.sparse_together > kLargest;
            const std::size_t n = alone ? 1 : std::min<std::size_t>(lane.sparse_together, order_.size() - i);
            Scores<Real> scores[kMostLanes];
            SparseOut<Real> out[kMostLanes];
            double found[kMostLanes];
            bool is_safe[kMostLanes];
            for (std::size_t j = 0; j < n; ++j) {
                const Marginals<Real> own = out_of(order_[i + j]);
                scores[j] = batch_.scores(order_[i + j]);
                out[j] = {own.state, counts_, own.weight, own.rounder};
            }
            const auto size = static_cast<std::size_t>(
                lane.sparse_work_size(rows.n_labels, rows.n_cells, longest, static_cast<std::int64_t>(n)));
            if (sparse_work_.size() < size) sparse_work_.resize(size);
            lane.sparse_sums(rows, scores, static_cast<std::int64_t>(n), out, sparse_work_.data(), found,
                             is_safe);
            for (std::size_t j = 0; j < n; ++j)
                log_z[order_[i + j]] = is_safe[j] ? found[j] : general(order_[i + j], out_of(order_[i + j]));
            i += n;
        }
    }

    // order_ <- the sequences first..last, the longest first.
    void sort_by_length(std::int64_t first, std::int64_t last) {
        order_.resize(static_cast<std::size_t>(last - first));
        std::iota(order_.begin(), order_.end(), first);
        std::ranges::stable_sort(order_, std::greater(), [&](std::int64_t i) { return batch_.length(i); });
    }

    // Returns log Z of sequence i.
    double one(std::int64_t i, const Marginals<Real>& out) {
        double log_z = 0;
        if (batch_.has_fast_lane() && fast(i, out, &log_z)) return log_z;
        if (batch_.has_fast_beam() && fast_beam(i, out, &log_z)) return log_z;
        return general(i, out);
    }
    double general(std::int64_t i, const Marginals<Real>& out) {
        return general_(batch_.topology, batch_.scores(i), batch_.beam_of(i), out);
    }

    bool fast(std::int64_t i, const Marginals<Real>& out, double* log_z) {
        if (out.table && batch_.edge) return false;
        const FastLane<Real>& lane = fast_lane<Real>();
        const std::int64_t k = batch_.n_labels(), order = batch_.topology.order;
        const auto size =
            static_cast<std::size_t>(lane.work_size(k, order, batch_.length(i), batch_.edge != nullptr));
        if (work_.size() < size) work_.resize(size);
        sums_before_.clear();
        if (out.table) sums_before_.assign(out.table, out.table + batch_.table_size());
        if (lane.sum_product(batch_.scores(i), k, order, prepared_.rows.data(), prepared_.shifts, out,
                             work_.data(), log_z))
            return true;
        std::copy(sums_before_.begin(), sums_before_.end(), out.table);
        return false;
    }

    bool fast_beam(std::int64_t i, const Marginals<Real>& out, double* log_z) {
        const FastLane<Real>& lane = fast_lane<Real>();
        const BeamSize size = lane.beam_sum_size(batch_.n_labels(), batch_.beam_of(i), batch_.length(i),
                                                 batch_.edge != nullptr);
        return lane.beam_sum(batch_.scores(i), batch_.n_labels(), batch_.beam_of(i), prepared_.rows.data(),
                             prepared_.shifts, out, room_.of(size), log_z);
    }

    const LatticeBatch<Real>& batch_;
    const PreparedTable<Real>& prepared_;
    std::vector<std::int64_t> order_;  // of the sequences of a run: the longest first
    std::vector<Real> work_;
    BeamRoom<Real> room_;
    std::vector<double> sparse_work_;
    double* counts_ = nullptr;
    std::vector<double> sums_before_;  // to restore the table if the fast lane fails half-way
    GeneralSums<Real> general_;
};

}  // namespace

template <class Real>
void sum_over_paths(const LatticeBatch<Real>& batch, double* log_z, Real* state, Real* pair) {
    const TableCells none{nullptr, 0};
    const PreparedTable<Real> prepared(batch, pair ? nullptr : &none);
    const auto out_of = [&](std::int64_t i) -> Marginals<Real> {
        return {state ? state + batch.first(i) * batch.n_labels() : nullptr,
                pair ? pair + batch.first(i) * batch.pair_size() : nullptr, nullptr, 1.0};
    };
    batch.for_each_run(std::max(kTogether, kMostLanes), [&] {
        return [&, sum = SumWorker<Real>(batch, prepared)](std::int64_t first, std::int64_t last) mutable {
            sum(first, last, out_of, log_z);
        };
    });
}

// Every chunk of sequences has a table of its own; the tables are added in the order of the chunks, so the
// rounding does not depend on the threads. With a unit all sums are exact, in any order.
template <class Real>
void sum_pairs(const LatticeBatch<Real>& batch, const double* weights, double unit, const TableCells* cells,
               double* log_z, Real* state, double* table) {
    const PreparedTable<Real> prepared(batch, cells);
    // At least as many positions as rows: all tables together are then no larger than the state marginals.
    const std::int64_t chunk_size = std::max(LatticeBatch<Real>::kChunkPositions, batch.topology.n_rows());
    const std::vector<std::int64_t> cuts = chunks(batch.starts, batch.n_sequences, chunk_size);
    const std::size_t n_chunks = cuts.size() - 1, size = static_cast<std::size_t>(batch.table_size());
    const std::size_t n_counts = prepared.sparse ? static_cast<std::size_t>(prepared.sparse->n_counts()) : 0;
    std::vector<double> tables(n_chunks * size, 0.0), counts(n_chunks * n_counts, 0.0);
    parallel_for(static_cast<std::int64_t>(n_chunks), batch.n_threads, [&] {
        return [&, sum = SumWorker<Real>(batch, prepared)](std::int64_t c) mutable {
            double* own_table = tables.data() + static_cast<std::size_t>(c) * size;
            const auto out_of = [&](std::int64_t i) -> Marginals<Real> {
                return {state + batch.first(i) * batch.n_labels(), nullptr, own_table,
                        weights ? weights[i] : 1.0, rounder_of(unit)};
            };
            sum.count(counts.data() + static_cast<std::size_t>(c) * n_counts);
            sum(cuts[c], cuts[c + 1], out_of, log_z);
        };
    });
    std::fill_n(table, size, 0.0);
    for (std::size_t i = 0; i < tables.size(); ++i) table[i % size] += tables[i];
    if (!prepared.sparse) return;
    for (std::size_t i = n_counts; i < counts.size(); ++i) counts[i % n_counts] += counts[i];
    prepared.sparse->add(counts.data(), table);
}

template void sum_over_paths(const LatticeBatch<float>&, double*, float*, float*);
template void sum_over_paths(const LatticeBatch<double>&, double*, double*, double*);
template void sum_pairs(const LatticeBatch<float>&, const double*, double, const TableCells*, double*, float*,
                        double*);
template void sum_pairs(const LatticeBatch<double>&, const double*, double, const TableCells*, double*,
                        double*, double*);

}  // namespace hedgerow
