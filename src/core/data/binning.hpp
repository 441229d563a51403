// The bins of numbers: bin b has the numbers v with edges[b - 1] <= v < edges[b].
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

constexpr std::int64_t kMostEdges = 254;

// Finds the edges of bins with about equal counts. An object keeps its memory for the next column.
class EdgeFinder {
  public:
    // Returns edges midway between neighbouring values: between all distinct values, or, if there are more
    // than max_bins of them, at the quantiles. NaN is ignored. Throws std::invalid_argument for an infinity.
    std::vector<float> find(const float* values, std::int64_t n, std::int64_t max_bins);

  private:
    void sort_values(const float* values, std::int64_t n);
    std::int64_t end_of_run(std::int64_t i) const;
    std::vector<std::int64_t> cuts(std::int64_t max_bins) const;

    std::vector<std::uint32_t> keys_, room_;  // of the values that are not NaN, rising
};

// IN: n values, and at most kMostEdges edges that rise. OUT: bins, kMissingBin for NaN.
void find_bins(const float* values, std::int64_t n, const float* edges, std::int64_t n_edges,
               std::uint8_t* bins);

}  // namespace hedgerow
