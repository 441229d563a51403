// The inner loop of linear scores, compiled for each instruction set; dispatch.cpp chooses.
#pragma once

#include <cstdint>

namespace hedgerow {

struct WeightedRow {
    const float* row;
    float weight;
};

struct LinearKernels {
    // out[y] += sum over the n rows of weight row[y], for y < width.
    void (*add_rows)(const WeightedRow* rows, std::int64_t n, std::int64_t width, float* out);
};

const LinearKernels& linear_kernels();

}  // namespace hedgerow
