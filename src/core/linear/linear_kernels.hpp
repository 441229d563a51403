// The loop of linear scores that is compiled for each instruction set; see dispatch.cpp for the choice.
#pragma once

#include <cstdint>

namespace hedgerow {

struct WeightedRow {
    const float* row;
    float weight;
};

struct LinearKernels {
    // out[0..width) += the sum of n rows, each times its weight.
    void (*add_rows)(const WeightedRow* rows, std::int64_t n, std::int64_t width, float* out);
};

const LinearKernels& linear_kernels();

}  // namespace hedgerow
