// The inner loops of beam search, compiled for each instruction set; dispatch.cpp chooses.
#pragma once

#include <cstdint>

#include "linear/row_view.hpp"

namespace hedgerow {

// A chosen score and its index.
struct Choice {
    float value;
    std::int64_t at;
};

constexpr std::int64_t kScoreBlock = 16;  // the size of a row of scores is a multiple of this

struct SearchKernels {
    // out[y] <- score + rows[0][y] + rows[1][y] + ... for y < k; with `raise`, the maximum of that and
    // out[y]. The first row is dense; sparse rows need k >= 16. work: k numbers.
    void (*expand)(float score, const RowView* rows, std::int64_t n_rows, std::int64_t k, bool raise,
                   float* out, float* work);
    // OUT: the `most` highest of n scores, highest first, ties in favour of the lower index. Minus infinity
    // is never chosen. Returns the number of chosen scores.
    std::int64_t (*highest)(const float* scores, std::int64_t n, std::int64_t most, Choice* out);
};

const SearchKernels& search_kernels();

}  // namespace hedgerow
