// The inner loop of linear scores, compiled for each instruction set; dispatch.cpp chooses.
#pragma once

#include <cstdint>

#include "linear/row_view.hpp"

namespace hedgerow {

struct WeightedRow {
    const float* row;
    float weight;
};

struct LinearKernels {
    // out[y] += sum over the n rows of weight row[y], for y < width.
    void (*add_rows)(const WeightedRow* rows, std::int64_t n, std::int64_t width, float* out);
    // out[label of cell] += weight times the weight of the cell, for n cells; rounds like add_rows.
    void (*add_cells)(const LabelWeight* cells, std::int64_t n, float weight, float* out);
};

const LinearKernels& linear_kernels();

}  // namespace hedgerow
