// Trees where values are missing: positions go to both sides of a split by shares. Compiled for each
// instruction set; see dispatch.cpp for the choice.
//
// Where shares are 0 or 1, sets of positions are divided as they are elsewhere. Where they are not: 64
// positions at a time, one word of each set. A node has a weight for each of them instead of a bit, in the
// order of the bits; the weights of all leaves of a position come to 1. Where nothing is missing, weights are
// 0 or 1, and what is added is to the bit what sets give.
#pragma once

#include <cstdint>

#include "trees/tree_kernels.hpp"

namespace hedgerow {

// Another test that decides where a value is missing, or the opposite of what it says.
struct Surrogate {
    std::int32_t test, slot;
    bool opposite;
};

// For each split: the slot that it reads, who decides where that misses a value, and, where they do too, what
// share goes where the test holds.
struct Detour {
    std::int32_t slot;
    float share;
    std::int64_t first_surrogate, n_surrogates;
};

struct Detours {
    const Detour* of_splits;
    const Surrogate* surrogates;
    const std::uint64_t* missing;  // by slot: the positions of a chunk where it misses a value
};

struct ShareKernels {
    // Divides set 1 by the splits of a tree, where every position goes to one side as a whole.
    void (*divide_whole)(const Replay& trees, const Detours& detours, const FlatTree& tree,
                         std::int64_t n_words, std::uint64_t* sets);
    // Divides word `word` of set 1 by the splits of a tree: weights (sets, 64).
    void (*divide)(const Replay& trees, const Detours& detours, const FlatTree& tree, std::int64_t word,
                   std::int64_t n_words, float* weights);
    // Then adds the values of leaves, each times its weight, to sums (histories, kChunkPositions) from the
    // word's first position on.
    void (*add_values)(const Replay& trees, const FlatTree& tree, const float* weights, float* sums);
    // The same for the first n positions of the word and trees of all labels: sums (positions, width).
    void (*add_rows)(const Replay& trees, const FlatTree& tree, const float* weights, std::int64_t n,
                     std::int64_t width, float* sums);
};

const ShareKernels& share_kernels();

}  // namespace hedgerow
