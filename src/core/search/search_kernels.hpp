// The loops of beam search that are compiled for each instruction set; see dispatch.cpp for the choice.
#pragma once

#include <cstdint>

namespace hedgerow {

// What is chosen of a row of scores, and where it is.
struct Choice {
    float value;
    std::int64_t at;
};

constexpr std::int64_t kScoreBlock = 16;  // a row of scores is made of whole blocks

struct SearchKernels {
    // out[y] <- score + rows[0][y] + rows[1][y] + ... for y below k, or the larger of that and what is there.
    void (*expand)(float score, const float* const* rows, std::int64_t n_rows, std::int64_t k, bool raise,
                   float* out);
    // The `most` highest of n scores, highest first, of equals the first; minus infinity is never chosen.
    // Returns how many there are.
    std::int64_t (*highest)(const float* scores, std::int64_t n, std::int64_t most, Choice* out);
};

const SearchKernels& search_kernels();

}  // namespace hedgerow
