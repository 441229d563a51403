// The inner loop of linear scores, compiled for each instruction set; dispatch.cpp chooses.
#pragma once

#include <cstdint>

#include "linear/row_view.hpp"

namespace hedgerow {

struct WeightedRow {
    const float* row;
    float weight;
};

// A row of whole numbers, and the value that it is multiplied by.
struct ValuedRow {
    const std::int32_t* row;
    double value;
};

struct LinearKernels {
    // out[y] += sum over the n rows of weight row[y], for y < width.
    void (*add_rows)(const WeightedRow* rows, std::int64_t n, std::int64_t width, float* out);
    // out[label of cell] += weight times the weight of the cell, for n cells; rounds like add_rows.
    void (*add_cells)(const LabelWeight* cells, std::int64_t n, float weight, float* out);
    // out[y] += sum over the n rows of row[y], for y < width. The caller sees to it that no sum overflows.
    void (*add_whole_rows)(const std::int32_t* const* rows, std::int64_t n, std::int64_t width,
                           std::int32_t* out);
    // out[y] += sum over the n rows of value row[y], each product rounded as in rounded_sum.hpp.
    void (*add_valued_rows)(const ValuedRow* rows, std::int64_t n, std::int64_t width, double rounder,
                            double* out);
    // to[y] <- factor from[y], rounded to whole numbers, for y < n. The products fit 32 bits.
    void (*round_row)(const float* from, std::int64_t n, float factor, std::int32_t* to);
};

const LinearKernels& linear_kernels();

}  // namespace hedgerow
