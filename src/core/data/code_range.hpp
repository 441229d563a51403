// The lowest and the highest of many codes, and whether one is missing: in one pass that compilers vectorise.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hedgerow {

constexpr int32_t kMissingCode = -1;
constexpr int32_t kAbsentCode = -2;

struct CodeRange {
    int32_t lowest = 0, highest = kAbsentCode;
    bool has_missing = false;

    CodeRange(const int32_t* codes, int64_t n) {
        int32_t missing = 0;
        for (int64_t t = 0; t < n; ++t) {
            lowest = std::min(lowest, codes[t]);
            highest = std::max(highest, codes[t]);
            missing |= codes[t] == kMissingCode;
        }
        has_missing = missing != 0;
    }

    // Whether all are codes of an alphabet of n_values, missing or absent.
    bool lies_in(int64_t n_values) const { return lowest >= kAbsentCode && highest < n_values; }
};

}  // namespace hedgerow
