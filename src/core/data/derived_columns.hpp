// Columns that templates derive from other columns: values of neighbours, pairs of values, and statistics of
// numbers around a position.
#pragma once

#include <cstdint>
#include <vector>

#include "data/code_range.hpp"

namespace hedgerow {

// Where each sequence begins, and the end of the last.
struct SequenceStarts {
    const int64_t* starts;
    int64_t n_sequences;
};

// found[t]: the code of the position `offset` after t, as ids[code]; outside[d - 1] where that position lies
// d positions before the sequence or after it. Negative codes (missing, absent) stay as they are.
void read_neighbours(SequenceStarts sequences, const int32_t* codes, const int32_t* ids, int64_t n_ids,
                     int64_t offset, const int32_t* outside, int32_t* found, int64_t n_threads);

// The distinct pairs of two columns of codes, as rows of a sparse matrix: the pairs whose left code is l have
// the right codes rights[starts[l]:starts[l + 1]], rising. The index in `rights` is the code of the pair.
struct Pairs {
    const int64_t* starts;  // (left codes + 1)
    const int32_t* rights;
};
struct PairLists {
    std::vector<int64_t> starts;
    std::vector<int32_t> rights;
};

// The pairs that occur; pairs with a negative code do not count.
PairLists distinct_pairs(const int32_t* left, const int32_t* right, int64_t n, int32_t n_left,
                         int32_t n_right, int64_t n_threads);

// The code of each pair, absent if it is not among `pairs`. A pair is missing if either code is, and
// otherwise absent if either code is.
void find_pairs(Pairs pairs, const int32_t* left, const int32_t* right, int64_t n, int32_t* found,
                int64_t n_threads);

enum class Statistic { change, mean, deviation, lowest, highest };

// found[t]: a statistic of the known (not NaN) numbers at the positions t + first .. t + last of the
// sequence; NaN if there are none. Change is the number at t minus the one at t + first, or at the end of the
// sequence if it ends before; NaN if either is unknown.
void read_statistic(SequenceStarts sequences, const float* values, Statistic statistic, int64_t first,
                    int64_t last, float* found);

}  // namespace hedgerow
