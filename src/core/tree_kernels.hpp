// The loops of trees that are compiled for each instruction set; see dispatch.cpp for the choice.
#pragma once

#include <cstdint>

#include "bits.hpp"

namespace hedgerow {

// Sums of residuals, and of weights with the number of positions in the high bits; see histogram.hpp.
struct RawSums {
    std::int64_t residual, packed;
};

// How gain comes from sums: gain = r1^2 / w1 + r2^2 / w2 - before for the two sides, in one division, where
// r = residual * residual_unit and w = l2 + (packed without its count) * weight_unit.
struct ScanRules {
    double l2, residual_unit, weight_unit, before;
    std::int64_t min_count;
    int count_shift;
};

struct FlatNode {
    std::int32_t test;               // kLeaf, kHistory, or the number of a test
    std::int32_t if_true, if_false;  // of a leaf: its row, and where its member_starts begin
};
constexpr std::int32_t kLeaf = -1, kHistory = -2;

// Trees, and where their tests hold in a chunk of positions.
struct Replay {
    const FlatNode* nodes;
    const PositionBits* masks;     // by test
    const std::uint8_t* holds;     // by test: whether it holds anywhere
    const PositionBits* at_depth;  // positions with 0, 1, ..., order labels before them
    std::int64_t order;
    const float*
        rows;  // of a leaf: what it adds to each label, `width` of them; or, where width is 1, its value
    std::int64_t width;
    const std::int32_t*
        member_starts;  // where width is 1: for each depth, where a leaf's histories begin in members
    const std::int32_t* members;
};

// Sets of positions that still wait at a node.
struct Waiting {
    PositionBits where;
    std::int32_t node;
};

// Where a slot's code lies from the codes of a cell, where its entries begin, and the code that is not
// counted.
struct ReadSlot {
    std::int64_t delta;
    std::int32_t first_entry, skipped;
};

struct TreeKernels {
    // The first of n candidates with the greatest gain above `*gain`, which is set to it; -1 if there is
    // none.
    std::int64_t (*scan)(const RawSums* yes, std::int64_t n, const RawSums& total, const ScanRules& rules,
                         double* gain);

    // to <- minus the probabilities in units of 2^-30, rounded; what is beyond the range of the type is cut.
    void (*negate)(const float* probabilities, std::int64_t n, std::int32_t* to);

    // Adds up the residuals (cells, width) of some cells, by the number of labels before them: columns
    // (depths, width), and how many cells each depth has. Most have `order` labels before them.
    void (*sum_columns)(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths,
                        std::int64_t order, const std::int32_t* residuals, std::int64_t width,
                        std::int64_t* columns, std::int64_t* n_cells);

    // Newton's sums by previous label, order 1, rows of up to 8: for each label v that `allowed` has (all
    // bits set, or none), those of residual v, and of what the other allowed labels of the row leave: out (4,
    // width) holds residuals and packed weights of the one, then of the other. Cells with no label before
    // them go to `others`.
    std::int64_t (*newton_columns)(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths,
                                   const std::int32_t* residuals, std::int64_t width,
                                   const std::int64_t* allowed, int count_shift, std::int64_t* out,
                                   std::int32_t* others);

    // Adds, at every position of `all`, its leaf's row to sums (kChunkPositions, width), or its leaf's value
    // to sums (histories, kChunkPositions). `waiting` has room for as many entries as the tree has nodes.
    void (*replay)(const Replay& replay, std::int32_t root, const PositionBits& all, Waiting* waiting,
                   float* sums);

    // Adds a position's row to the entries of what it reads; an entry of count 0 holds nothing yet.
    void (*count_row)(const ReadSlot* slots, std::int64_t n_slots, const std::int32_t* codes,
                      const float* row, std::int64_t width, float* rows, std::int32_t* counts);

    // Rows of a tree for all labels: n residuals, then n weights, n a multiple of 16.
    void (*add_row)(float* to, const float* from, std::int64_t width);
    void (*subtract_row)(float* from, const float* what, std::int64_t width);
    // The sum over labels of r^2 / (l2 + w); and the same of two sides, given one of them and both together.
    double (*row_merit)(const float* row, std::int64_t n, double l2);
    double (*split_merit)(const float* yes, const float* total, std::int64_t n, double l2);
};

const TreeKernels& tree_kernels();

}  // namespace hedgerow
