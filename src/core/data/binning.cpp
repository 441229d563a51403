#include "data/binning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "data/attribute_reader.hpp"
#include "util/require.hpp"

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

// Keys rise with the numbers; both zeros have the same key.
constexpr std::uint32_t kSign = std::uint32_t{1} << 31;

std::uint32_t key_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value == 0 ? 0.0f : value);
    return bits & kSign ? ~bits : bits | kSign;
}

float value_of(std::uint32_t key) {
    return std::bit_cast<float>(key & kSign ? key ^ kSign : ~key);
}

constexpr int kDigits = 3, kDigitBits = 11;  // of a key, for sorting
constexpr std::uint32_t kDigitValues = 1 << kDigitBits;

std::uint32_t digit(std::uint32_t key, int d) {
    return key >> (d * kDigitBits) & (kDigitValues - 1);
}

}  // namespace

// Sorts by each digit of the key, the lowest first: a comparison of keys costs more than a digit.
void EdgeFinder::sort_values(const float* values, std::int64_t n) {
    keys_.clear();
    keys_.reserve(static_cast<std::size_t>(n));
    std::int64_t places[kDigits][kDigitValues] = {};
    for (std::int64_t i = 0; i < n; ++i) {
        if (std::isnan(values[i])) continue;
        keys_.push_back(key_of(values[i]));
        for (int d = 0; d < kDigits; ++d) ++places[d][digit(keys_.back(), d)];
    }
    room_.resize(keys_.size());
    for (int d = 0; d < kDigits; ++d) {
        std::exclusive_scan(places[d], places[d] + kDigitValues, places[d], std::int64_t{0});
        for (const std::uint32_t key : keys_) room_[places[d][digit(key, d)]++] = key;
        keys_.swap(room_);
    }
}

// Where the values equal to value i end.
std::int64_t EdgeFinder::end_of_run(std::int64_t i) const {
    return std::upper_bound(keys_.begin() + i, keys_.end(), keys_[i]) - keys_.begin();
}

// The sorted values before which a bin begins. With n values, the k-th bin ends with the first value at which
// the cumulative count reaches k n / max_bins.
std::vector<std::int64_t> EdgeFinder::cuts(std::int64_t max_bins) const {
    const auto n = static_cast<std::int64_t>(keys_.size());
    std::vector<std::int64_t> found;
    std::int64_t cut = 0;
    while (static_cast<std::int64_t>(found.size()) < max_bins && (cut = end_of_run(cut)) < n)
        found.push_back(cut);
    if (static_cast<std::int64_t>(found.size()) < max_bins) return found;
    found.clear();
    cut = 0;
    for (std::int64_t k = 1; k < max_bins; ++k) {
        const std::int64_t target = (k * n + max_bins - 1) / max_bins;
        if (target <= cut) continue;
        if ((cut = end_of_run(target - 1)) == n) break;
        found.push_back(cut);
    }
    return found;
}

std::vector<float> EdgeFinder::find(const float* values, std::int64_t n, std::int64_t max_bins) {
    sort_values(values, n);
    std::vector<float> edges;
    if (keys_.empty()) return edges;
    require(std::isfinite(value_of(keys_.front())) && std::isfinite(value_of(keys_.back())),
            "values to bin must be finite, but got an infinity; use NaN where a value is missing");
    for (const std::int64_t cut : cuts(max_bins)) {
        const float below = value_of(keys_[cut - 1]), above = value_of(keys_[cut]);
        const auto middle = static_cast<float>((static_cast<double>(below) + above) / 2);
        // Between two adjacent floats there is no middle; rounding may return the lower one.
        edges.push_back(middle > below ? middle : above);
    }
    return edges;
}

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
