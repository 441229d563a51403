// The loops of tree growth that are compiled for each instruction set; dispatch.cpp chooses among them.
#pragma once

#include <cstdint>

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

// Where the code of a slot is relative to the codes of a cell, the first entry of the slot, and the code that
// is not counted.
struct ReadSlot {
    std::int64_t delta;
    std::int32_t first_entry, skipped;
};

struct GrowthKernels {
    // The first of n candidates with the greatest gain above `*gain`, which is set to it; -1 if there is
    // none.
    std::int64_t (*scan)(const RawSums* yes, std::int64_t n, const RawSums& total, const ScanRules& rules,
                         double* gain);

    // OUT: to = -probabilities in units of 2^-30, rounded and clipped to the range of the type.
    void (*negate)(const float* probabilities, std::int64_t n, std::int32_t* to);

    // Lists the cells of n whose absolute residual is at least `least`, above 0. OUT: cells, room for n + 16;
    // returns how many.
    std::int64_t (*select)(const std::int32_t* residuals, std::int64_t n, std::int64_t least,
                           std::int32_t* cells);

    // Sums the residuals (cells, width) of n cells by depth, the number of labels before them. OUT: columns
    // (depths, width), and how many cells each depth has. Most cells have depth `order`.
    void (*sum_columns)(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths,
                        std::int64_t order, const std::int32_t* residuals, std::int64_t width,
                        std::int64_t* columns, std::int64_t* n_cells);

    // Sums by previous label in Newton mode, order 1, rows of up to 8. IN: allowed, by label -1 (all bits) or
    // 0; curvature_shift: of a product of two residuals, to the unit of weights. OUT: out (4, width): for
    // each allowed label v the residuals and packed weights of v, then those of all other allowed labels
    // together. Cells with no label before them are listed in `others`; returns how many.
    std::int64_t (*newton_columns)(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths,
                                   const std::int32_t* residuals, std::int64_t width,
                                   const std::int64_t* allowed, int count_shift, int curvature_shift,
                                   std::int64_t* out, std::int32_t* others);

    // Adds a position's row to the entries of what it reads; an entry of count 0 holds nothing yet.
    void (*count_row)(const ReadSlot* slots, std::int64_t n_slots, const std::int32_t* codes,
                      const float* row, std::int64_t width, double* rows, std::int32_t* counts);

    // Rows of a tree for all labels: n residuals, then n weights, n a multiple of 16.
    void (*add_position)(double* to, const float* from, std::int64_t width);
    void (*add_row)(double* to, const double* from, std::int64_t width);
    void (*subtract_row)(double* from, const double* what, std::int64_t width);
    // The sum over labels of r^2 / (l2 + w); and the sum of that over both sides of a split.
    double (*row_merit)(const double* row, std::int64_t n, double l2);
    double (*split_merit)(const double* yes, const double* total, std::int64_t n, double l2);
};

const GrowthKernels& growth_kernels();

}  // namespace hedgerow
