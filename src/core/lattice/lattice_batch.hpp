// A batch of lattices: where the scores of each sequence are, and loops over the sequences on threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "lattice/lattice.hpp"
#include "lattice/views.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

// The caller has checked the sizes. Positions of all sequences follow each other; a null part is absent.
template <class Real>
struct LatticeBatch {
    Topology topology;
    std::int64_t n_sequences;
    const std::int64_t* starts;  // [n_sequences + 1]: where each sequence begins, and the end of the last
    const Real* state;           // [positions, K]
    const Real* edge;            // [positions, K^order, K]
    const Real* table;           // [label contexts of every length 0..order, K]
    double beam;                 // see Beam::of; 0: every node is kept
    const std::int32_t* keep;    // [positions]: see Beam
    std::int64_t n_threads;
    bool general;  // use only the general sweep of lattice.hpp, never the fast lane

    // A thread takes this many positions at a time, or fewer if they have more than kChunkEdges edges.
    static constexpr std::int64_t kChunkPositions = 2048, kChunkEdges = 1 << 20;
    // With fewer edges than this, threads cost more than they gain.
    static constexpr std::int64_t kFewEdges = 1 << 14;

    std::int64_t n_positions() const { return starts[n_sequences]; }
    std::int64_t n_labels() const { return topology.n_labels; }
    std::int64_t first(std::int64_t i) const { return starts[i]; }
    std::int64_t length(std::int64_t i) const { return starts[i + 1] - starts[i]; }
    std::int64_t pair_size() const { return topology.n_label_contexts() * n_labels(); }
    std::int64_t table_size() const { return topology.n_rows() * n_labels(); }
    bool has_fast_lane() const { return !general && beam == 0 && topology.order <= 1; }
    bool has_fast_beam() const {
        return !general && beam > 0 && beam < static_cast<double>(n_labels()) && topology.order == 1;
    }
    Beam beam_of(std::int64_t i) const { return Beam::of(beam, keep ? keep + first(i) : nullptr); }

    Scores<Real> scores(std::int64_t i) const {
        return {length(i), state ? state + first(i) * n_labels() : nullptr,
                edge ? edge + first(i) * pair_size() : nullptr, table};
    }

    // Calls make_worker() once on each thread, then worker(first, last) for runs of sequences, all together
    // every sequence; at_least: how many sequences a run has if their lengths are about equal.
    template <class MakeWorker>
    void for_each_run(std::int64_t at_least, MakeWorker make_worker) const {
        const std::int64_t size = std::max(std::min(kChunkPositions, kChunkEdges / pair_size() + 1),
                                           at_least * n_positions() / std::max<std::int64_t>(n_sequences, 1));
        const std::vector<std::int64_t> cuts = chunks(starts, n_sequences, size);
        const bool is_small = n_positions() * pair_size() < kFewEdges;
        parallel_for(static_cast<std::int64_t>(cuts.size()) - 1, is_small ? 1 : n_threads, [&] {
            return [&, worker = make_worker()](std::int64_t c) mutable { worker(cuts[c], cuts[c + 1]); };
        });
    }

    // The same with worker(i) for every sequence i.
    template <class MakeWorker>
    void for_each_sequence(MakeWorker make_worker) const {
        for_each_run(1, [&] {
            return [&, worker = make_worker()](std::int64_t first, std::int64_t last) mutable {
                for (std::int64_t i = first; i < last; ++i) worker(i);
            };
        });
    }
};

// Calls visit(lattice, semiring, i) with the general lattice of every sequence i. Each thread has its own
// copy of the semiring.
template <template <class> class Reader = ScoreReader, class Real, class Semiring, class Visit>
void for_each_lattice(const LatticeBatch<Real>& batch, const Semiring& model, Visit visit) {
    batch.for_each_sequence([&] {
        return [&, semiring = model](std::int64_t i) mutable {
            Lattice<Semiring, Reader<Real>> lattice(batch.topology, semiring,
                                                    {batch.topology, batch.scores(i)}, batch.beam_of(i));
            visit(lattice, semiring, i);
        };
    });
}

// The same for a semiring of sums, in the precision that the scores of each sequence need.
template <template <class> class Semiring, class Real, class Visit>
void for_each_sum_lattice(const LatticeBatch<Real>& batch, Visit visit) {
    batch.for_each_sequence([&] {
        return [&, plain = Semiring<double>(), exact = Semiring<DoubleDouble>()](std::int64_t i) mutable {
            const auto sweep = [&](auto& semiring) {
                Lattice<std::decay_t<decltype(semiring)>, ScoreReader<Real>> lattice(
                    batch.topology, semiring, {batch.topology, batch.scores(i)}, batch.beam_of(i));
                visit(lattice, semiring, i);
            };
            are_ordinary(batch.topology, batch.scores(i)) ? sweep(plain) : sweep(exact);
        };
    });
}

}  // namespace hedgerow
