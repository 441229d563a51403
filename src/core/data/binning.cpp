#include "data/binning.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "data/attribute_reader.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kTogether = 16;  // values searched side by side: no search waits for its own last step

// Counts for each value the edges at or below it, by halves of a table with `step` or more edges.
void search(const float* values, const float* table, std::int32_t step, std::uint8_t* bins) {
    std::int32_t found[kTogether] = {};
    for (; step > 0; step /= 2) {
        for (std::int64_t i = 0; i < kTogether; ++i)
            found[i] += table[found[i] + step - 1] <= values[i] ? step : 0;
    }
    for (std::int64_t i = 0; i < kTogether; ++i)
        bins[i] = values[i] == values[i] ? static_cast<std::uint8_t>(found[i]) : kMissingBin;
}

}  // namespace

void find_bins(const float* values, std::int64_t n, const float* edges, std::int64_t n_edges,
               std::uint8_t* bins) {
    // No number is at or above the edges that fill the table.
    float table[kMostEdges + 1];
    std::fill(std::copy(edges, edges + n_edges, table), std::end(table),
              std::numeric_limits<float>::quiet_NaN());
    const auto step = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint64_t>(n_edges)));
    std::int64_t i = 0;
    for (; i + kTogether <= n; i += kTogether) search(values + i, table, step, bins + i);
    if (i == n) return;
    float last[kTogether] = {};
    std::uint8_t found[kTogether];
    std::copy(values + i, values + n, last);
    search(last, table, step, found);
    std::copy(found, found + (n - i), bins + i);
}

}  // namespace hedgerow
