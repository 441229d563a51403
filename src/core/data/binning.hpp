// The bins of numbers: bin b has the numbers v with edges[b - 1] <= v < edges[b].
#pragma once

#include <cstdint>

namespace hedgerow {

constexpr std::int64_t kMostEdges = 254;

// IN: n values, and at most kMostEdges edges that rise. OUT: bins, kMissingBin for NaN.
void find_bins(const float* values, std::int64_t n, const float* edges, std::int64_t n_edges,
               std::uint8_t* bins);

}  // namespace hedgerow
