#include "search/search_batch.hpp"

#include <algorithm>
#include <vector>

#include "search/beam_lattice.hpp"
#include "search/beam_search.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kChunkPositions = 2048;  // a thread takes this many positions at a time

void run(const SearchBatch& batch, std::int64_t i, BeamSearch& search) {
    search.start();
    for (std::int64_t step = 0; step < batch.length(i); ++step)
        search.step(batch.scores(i, step), -1, batch.keep ? batch.keep[batch.position(i, step)] : -1);
}

// Calls visit(search, i) for every sequence i after its search. Each thread has its own copy of `visit`.
template <class Visit>
void for_each_search(const SearchBatch& batch, Visit visit) {
    const std::vector<std::int64_t> cuts = chunks(batch.starts, batch.n_sequences, kChunkPositions);
    parallel_for(static_cast<std::int64_t>(cuts.size()) - 1, batch.n_threads, [&] {
        return
            [&, search = BeamSearch(batch.n_grams, batch.beam, true), own = visit](std::int64_t c) mutable {
                for (std::int64_t i = cuts[c]; i < cuts[c + 1]; ++i) {
                    run(batch, i, search);
                    own(search, i);
                }
            };
    });
}

template <class Semiring>
auto lattice_of(const SearchBatch& batch, std::int64_t i, const BeamSearch& search, Semiring& semiring,
                double temperature) {
    const auto scores = [&batch, i](std::int64_t step) { return batch.scores(i, step); };
    return BeamLattice<Semiring, decltype(scores)>(batch.n_grams, search, semiring, temperature, scores);
}

}  // namespace

void best_hypotheses(const SearchBatch& batch, double* score, std::int32_t* labels) {
    for_each_search(batch, [&](const BeamSearch& search, std::int64_t i) {
        score[i] = search.score();
        std::int64_t at = search.from(search.n_steps());
        for (std::int64_t step = search.n_steps() - 1; step >= 0; --step, at = search.at(at).parent)
            labels[batch.position(i, step)] = search.at(at).label;
    });
}

void sum_over_kept_paths(const SearchBatch& batch, double temperature, double* log_z, float* marginals) {
    const std::int64_t k = batch.n_labels();
    if (marginals) std::fill_n(marginals, batch.n_positions() * k, 0.0f);
    for_each_search(batch,
                    [&, semiring = LogSum<DoubleDouble>()](const BeamSearch& search, std::int64_t i) mutable {
                        auto lattice = lattice_of(batch, i, search, semiring, temperature);
                        log_z[i] = lattice.forward();
                        if (!marginals) return;
                        lattice.reverse(1.0, [&](std::int64_t step, std::int32_t label, double weight) {
                            marginals[batch.position(i, step) * k + label] += static_cast<float>(weight);
                        });
                    });
}

void best_kept_paths(const SearchBatch& batch, double temperature, std::int64_t n, double* score,
                     std::int32_t* labels) {
    std::fill_n(labels, n * batch.n_positions(), 0);
    for_each_search(batch, [&, semiring = Best(n)](const BeamSearch& search, std::int64_t i) mutable {
        auto lattice = lattice_of(batch, i, search, semiring, temperature);
        lattice.forward();
        for (std::int64_t r = 0; r < n; ++r) {
            score[i * n + r] = semiring.value(lattice.goal(), r);
            if (score[i * n + r] == kMinusInfinity) continue;
            std::int32_t* path = labels + r * batch.n_positions();
            lattice.reverse(static_cast<double>(r + 1), [&](std::int64_t step, std::int32_t label, double) {
                path[batch.position(i, step)] = label;
            });
        }
    });
}

// Σ_step (state score of the label + Σ weights of the n-grams before it) / temperature
void label_scores(const SearchBatch& batch, double temperature, const std::int32_t* labels, double* score) {
    const LabelCodes& codes = batch.n_grams.codes();
    for (std::int64_t i = 0; i < batch.n_sequences; ++i) {
        double sum = 0;
        std::int64_t code = codes.start();
        for (std::int64_t step = 0; step < batch.length(i); ++step) {
            const std::int64_t label = labels[batch.position(i, step)];
            auto part = static_cast<double>(batch.scores(i, step)[label]);
            batch.n_grams.for_each_row(
                code, step, [&](const RowView& weights) { part += static_cast<double>(weights[label]); });
            sum += part / temperature;
            code = codes.next(code, label);
        }
        score[i] = sum;
    }
}

}  // namespace hedgerow
