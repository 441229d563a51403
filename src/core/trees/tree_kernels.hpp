// The loops of trees that are compiled for each instruction set; dispatch.cpp chooses among them.
#pragma once

#include <cstdint>

#include "util/position_set.hpp"

namespace hedgerow {

// Sums of residuals, and of weights with the number of positions in the high bits; see sums.hpp.
struct RawSums {
    std::int64_t residual, packed;
};

// The gain of a split: r1^2 / w1 + r2^2 / w2 - before for the two sides, in one division, where
// r = residual * residual_unit and w = l2 + (packed without its count) * weight_unit.
struct ScanRules {
    double l2, residual_unit, weight_unit, before;
    std::int64_t min_count;
    int count_shift;
};

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

// Where the code of a slot is relative to the codes of a cell, the first entry of the slot, and the code that
// is not counted.
struct ReadSlot {
    std::int64_t delta;
    std::int32_t first_entry, skipped;
};

struct TreeKernels {
    // The first of n candidates with the greatest gain above `*gain`, which is set to it; -1 if there is
    // none.
    std::int64_t (*scan)(const RawSums* yes, std::int64_t n, const RawSums& total, const ScanRules& rules,
                         double* gain);

    // OUT: to = -probabilities in units of 2^-30, rounded and clipped to the range of the type.
    void (*negate)(const float* probabilities, std::int64_t n, std::int32_t* to);

    // Sums the residuals (cells, width) of n cells by depth, the number of labels before them. OUT: columns
    // (depths, width), and how many cells each depth has. Most cells have depth `order`.
    void (*sum_columns)(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths,
                        std::int64_t order, const std::int32_t* residuals, std::int64_t width,
                        std::int64_t* columns, std::int64_t* n_cells);

    // Sums by previous label in Newton mode, order 1, rows of up to 8. IN: allowed, by label -1 (all bits) or
    // 0. OUT: out (4, width): for each allowed label v the residuals and packed weights of v, then those of
    // all other allowed labels together. Cells with no label before them are listed in `others`; returns how
    // many.
    std::int64_t (*newton_columns)(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths,
                                   const std::int32_t* residuals, std::int64_t width,
                                   const std::int64_t* allowed, int count_shift, std::int64_t* out,
                                   std::int32_t* others);

    // Divides set 1 of n positions by the splits of a tree, into sets 2 and so on.
    void (*divide)(const Replay& trees, const FlatTree& tree, std::int64_t n, std::uint64_t* sets);
    // Then adds, at n positions, the values of their leaves to sums (label contexts, kChunkPositions).
    void (*add_values)(const Replay& trees, const FlatTree& tree, const std::uint64_t* sets, std::int64_t n,
                       float* sums);
    // The same for trees of all labels: rows of values to sums (kChunkPositions, width).
    void (*add_rows)(const Replay& trees, const FlatTree& tree, const std::uint64_t* sets, std::int64_t n,
                     std::int64_t width, float* sums);

    // Adds a position's row to the entries of what it reads; an entry of count 0 holds nothing yet.
    void (*count_row)(const ReadSlot* slots, std::int64_t n_slots, const std::int32_t* codes,
                      const float* row, std::int64_t width, float* rows, std::int32_t* counts);

    // Rows of a tree for all labels: n residuals, then n weights, n a multiple of 16.
    void (*add_row)(float* to, const float* from, std::int64_t width);
    void (*subtract_row)(float* from, const float* what, std::int64_t width);
    // The sum over labels of r^2 / (l2 + w); and the sum of that over both sides of a split.
    double (*row_merit)(const float* row, std::int64_t n, double l2);
    double (*split_merit)(const float* yes, const float* total, std::int64_t n, double l2);
};

const TreeKernels& tree_kernels();

}  // namespace hedgerow
