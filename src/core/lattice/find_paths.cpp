#include "lattice/find_paths.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lattice/beam_room.hpp"
#include "lattice/fast_lane.hpp"
#include "util/random.hpp"

namespace hedgerow {
namespace {

template <class Real>
void fast_best_path(const LatticeBatch<Real>& batch, double* score, std::int32_t* labels) {
    const FastLane<Real>& lane = fast_lane<Real>();
    batch.for_each_sequence([&] {
        return [&, work = std::vector<double>()](std::int64_t i) mutable {
            const auto size = static_cast<std::size_t>(lane.max_work_size(batch.n_labels(), batch.length(i)));
            if (work.size() < size) work.resize(size);
            lane.max_sum(batch.scores(i), batch.n_labels(), batch.topology.order, labels + batch.first(i),
                         work.data(), score + i);
        };
    });
}

template <class Real>
void pruned_best_path(const LatticeBatch<Real>& batch, double* score, std::int32_t* labels) {
    const FastLane<Real>& lane = fast_lane<Real>();
    const std::int64_t k = batch.n_labels();
    std::vector<double> table(static_cast<std::size_t>(lane.bounded_table_size(k)));
    lane.bound_table(batch.table, k, table.data());
    batch.for_each_sequence([&] {
        return [&, work = std::vector<double>()](std::int64_t i) mutable {
            const auto size = static_cast<std::size_t>(lane.pruned_work_size(k, batch.length(i)));
            if (work.size() < size) work.resize(size);
            lane.pruned_max_sum(batch.scores(i), k, table.data(), labels + batch.first(i), work.data(),
                                score + i);
        };
    });
}

template <class Real>
void fast_beam_best_path(const LatticeBatch<Real>& batch, double* score, std::int32_t* labels) {
    const FastLane<Real>& lane = fast_lane<Real>();
    batch.for_each_sequence([&] {
        return [&, room = BeamRoom<double>()](std::int64_t i) mutable {
            const BeamSize size = lane.beam_max_size(batch.n_labels(), batch.beam_of(i), batch.length(i));
            lane.beam_max(batch.scores(i), batch.n_labels(), batch.beam_of(i), labels + batch.first(i),
                          room.of(size), score + i);
        };
    });
}

}  // namespace

template <class Real>
void best_path(const LatticeBatch<Real>& batch, double* score, std::int32_t* labels) {
    std::fill_n(labels, batch.n_positions(), 0);
    const bool is_wide = batch.n_labels() >= kManyLabels && batch.topology.order == 1;
    if (batch.has_fast_lane() && is_wide && batch.table && !batch.edge)
        return pruned_best_path(batch, score, labels);
    if (batch.has_fast_lane()) return fast_best_path(batch, score, labels);
    if (batch.has_fast_beam()) return fast_beam_best_path(batch, score, labels);
    for_each_lattice(batch, Max(), [&](auto& lattice, Max&, std::int64_t i) {
        score[i] = lattice.forward();
        lattice.trace(1.0, labels + batch.first(i));
    });
}

template <class Real>
void best_paths(const LatticeBatch<Real>& batch, std::int64_t n, double* score, std::int32_t* labels) {
    std::fill_n(labels, n * batch.n_positions(), 0);
    for_each_lattice(batch, Best(n), [&](auto& lattice, Best& best, std::int64_t i) {
        lattice.forward();
        for (std::int64_t r = 0; r < n; ++r) {
            score[i * n + r] = best.value(lattice.goal(), r);
            std::int32_t* path = labels + r * batch.n_positions() + batch.first(i);
            lattice.trace(static_cast<double>(r + 1), path);
        }
    });
}

template <class Real>
void sample_paths(const LatticeBatch<Real>& batch, std::int64_t n, std::uint64_t seed, double* log_z,
                  std::int32_t* labels) {
    std::fill_n(labels, n * batch.n_positions(), 0);
    for_each_sum_lattice<Draw>(batch, [&](auto& lattice, auto& draw, std::int64_t i) {
        log_z[i] = lattice.forward();
        if (log_z[i] == kMinusInfinity) return;
        Random streams(Random(seed).bits() ^ static_cast<std::uint64_t>(i));
        for (std::int64_t r = 0; r < n; ++r) {
            draw.seed(Random(streams.bits()));
            std::int32_t* path = labels + r * batch.n_positions() + batch.first(i);
            lattice.trace(1.0, path);
        }
    });
}

template void best_path(const LatticeBatch<float>&, double*, std::int32_t*);
template void best_path(const LatticeBatch<double>&, double*, std::int32_t*);
template void best_paths(const LatticeBatch<float>&, std::int64_t, double*, std::int32_t*);
template void best_paths(const LatticeBatch<double>&, std::int64_t, double*, std::int32_t*);
template void sample_paths(const LatticeBatch<float>&, std::int64_t, std::uint64_t, double*, std::int32_t*);
template void sample_paths(const LatticeBatch<double>&, std::int64_t, std::uint64_t, double*, std::int32_t*);

}  // namespace hedgerow
