// The evaluation of compiled trees on sets of positions, compiled for each instruction set; dispatch.cpp
// chooses among them.
#pragma once

#include <cstdint>

#include "util/position_set.hpp"

namespace hedgerow {

// A compiled tree is a program on sets of positions. Set 0 is empty, set 1 has all positions. The j-th split
// of a tree divides set `from`: set 2 + 2j has the positions where the test holds, set 3 + 2j the others.
struct CompiledSplit {
    std::int32_t from, test;
};

// Leaves of which a position reaches at most one, for a class of label contexts that the tree does not
// distinguish. The sets of the leaves are `entries`, padded with empty sets to a multiple of 8, the first one
// empty. Their values are padded to 16, 32 or 64. A position in no set gets the first value. A tree for all
// labels has one part: the sets of its leaves, and a row of values for each, whose width is a multiple of 16.
struct Part {
    std::int64_t first_entry, n_entries, first_value;
    std::int64_t first_row, n_rows;  // of sums: one for each label context of the class
    std::int32_t first_set;          // the set of the first value; 0 if there is none
};
constexpr std::int64_t kMostEntries = 64;

struct FlatTree {
    std::int64_t first_split, n_splits, first_part, n_parts;
};

struct Replay {
    const CompiledSplit* splits;
    const Part* parts;
    const std::int32_t* entries;
    const float* values;
    const std::int32_t* rows;
    const std::uint64_t* masks;  // by test: the positions of a chunk where it holds; see position_set.hpp
};

// A test that holds where a numeric column has this bin or a lower one.
struct Threshold {
    std::int32_t test;
    std::uint8_t bin;
};

struct ReplayKernels {
    // The masks of thresholds at n positions. IN: the bins of the positions, of whole words, and the
    // positions inside their sequences. OUT: masks of the tests, missing: the positions inside whose bin is
    // kMissingBin.
    void (*compare)(const std::uint8_t* bins, const std::uint64_t* inside, std::int64_t n,
                    const Threshold* thresholds, std::int64_t n_thresholds, std::uint64_t* masks,
                    std::uint64_t* missing);
    // Divides set 1 of n positions by the splits of a tree, into sets 2 and so on.
    void (*divide)(const Replay& trees, const FlatTree& tree, std::int64_t n, std::uint64_t* sets);
    // Then adds, at n positions, the values of their leaves to sums (label contexts, kChunkPositions).
    void (*add_values)(const Replay& trees, const FlatTree& tree, const std::uint64_t* sets, std::int64_t n,
                       float* sums);
    // The same for trees of all labels: rows of values to sums (kChunkPositions, width).
    void (*add_rows)(const Replay& trees, const FlatTree& tree, const std::uint64_t* sets, std::int64_t n,
                     std::int64_t width, float* sums);
};

const ReplayKernels& replay_kernels();

}  // namespace hedgerow
