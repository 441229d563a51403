// Trees where values are missing: positions go to both sides of a split, a fraction to each. Compiled for
// each instruction set; dispatch.cpp chooses among them.
//
// If all fractions are 0 or 1, sets of positions are divided as elsewhere. Otherwise 64 positions, one word
// of each set, are divided at a time: a node has a weight for each position instead of a bit, in the order of
// the bits. The weights of a position over all leaves sum to 1. Where nothing is missing, weights are 0 or 1
// and the sums are to the bit those of sets.
#pragma once

#include <cstdint>

#include "trees/replay_kernels.hpp"

namespace hedgerow {

// A test that decides where a value is missing, or its opposite.
struct Surrogate {
    std::int32_t test, slot;
    bool opposite;
};

// How a split treats missing values: the slot that it tests, the surrogates that decide where its value is
// missing, and the fraction that goes where the test holds if no surrogate decides.
struct MissingRule {
    std::int32_t slot;
    float true_fraction;
    std::int64_t first_surrogate, n_surrogates;
};

struct MissingRules {
    const MissingRule* of_splits;
    const Surrogate* surrogates;
    const std::uint64_t* missing;  // by slot: the positions of a chunk whose value is missing
};

struct FractionalKernels {
    // Divides set 1 by the splits of a tree, where every position goes to one side as a whole.
    void (*divide_whole)(const Replay& trees, const MissingRules& missing_rules, const FlatTree& tree,
                         std::int64_t n_words, std::uint64_t* sets);
    // Divides word `word` of set 1 by the splits of a tree: weights (sets, 64).
    void (*divide)(const Replay& trees, const MissingRules& missing_rules, const FlatTree& tree,
                   std::int64_t word, std::int64_t n_words, float* weights);
    // Then adds the values of leaves, each times its weight, to sums (label contexts, kChunkPositions) from
    // the word's first position on.
    void (*add_values)(const Replay& trees, const FlatTree& tree, const float* weights, float* sums);
    // The same for the first n positions of the word and trees of all labels: sums (positions, width).
    void (*add_rows)(const Replay& trees, const FlatTree& tree, const float* weights, std::int64_t n,
                     std::int64_t width, float* sums);
};

const FractionalKernels& fractional_kernels();

}  // namespace hedgerow
