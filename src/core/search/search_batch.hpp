// Beam searches of many sequences, and questions about the paths that each search kept (see BeamLattice).
#pragma once

#include <cstdint>

#include "search/sparse_n_gram_weights.hpp"

namespace hedgerow {

// The caller has checked the sizes. Positions of all sequences follow each other.
struct SearchBatch {
    const SparseNGramWeights& n_grams;
    std::int64_t n_sequences;
    const std::int64_t* starts;  // [n_sequences + 1]: where each sequence begins, and the end of the last
    const float* state;          // [positions, K]
    std::int64_t beam;
    bool backward;             // the last position of a sequence is labelled first
    const std::int32_t* keep;  // [positions]: labels of a path that the beam never drops, or null
    std::int64_t n_threads;

    std::int64_t n_labels() const { return n_grams.n_labels(); }
    std::int64_t n_positions() const { return starts[n_sequences]; }
    std::int64_t length(std::int64_t i) const { return starts[i + 1] - starts[i]; }
    // The position that a search of sequence i labels at the given step.
    std::int64_t position(std::int64_t i, std::int64_t step) const {
        return backward ? starts[i + 1] - 1 - step : starts[i] + step;
    }
    const float* scores(std::int64_t i, std::int64_t step) const {
        return state + position(i, step) * n_labels();
    }
};

// Score of the best hypothesis of every sequence, and its labels [positions].
void best_hypotheses(const SearchBatch& batch, double* score, std::int32_t* labels);

// log Z = log Σ_y exp(score(y) / temperature) over the paths y that each search kept and, unless null,
// marginals[t, y] = P(y_t = y) over these paths [positions, K].
void sum_over_kept_paths(const SearchBatch& batch, double temperature, double* log_z, float* marginals);

// The n best of the paths that each search kept: score / temperature [sequences, n], labels [n, positions].
// Where there are fewer, the score is minus infinity and the labels are 0.
void best_kept_paths(const SearchBatch& batch, double temperature, std::int64_t n, double* score,
                     std::int32_t* labels);

// score[i] = score of the given labels of sequence i / temperature; labels [positions].
void label_scores(const SearchBatch& batch, double temperature, const std::int32_t* labels, double* score);

}  // namespace hedgerow
