#include "trees/fractional_kernels.hpp"

#include <algorithm>

namespace hedgerow {
namespace HEDGEROW_ISA {
namespace {

constexpr int kBits = 64;

// The fraction of each position that goes where a test holds: 1 in `yes`, `fraction` in `undecided`,
// otherwise 0.
inline void to_fractions(std::uint64_t yes, std::uint64_t undecided, float fraction, float* fractions) {
    for (int half = 0; half < 2; ++half) {
        const auto y = static_cast<std::uint32_t>(yes >> (32 * half)),
                   g = static_cast<std::uint32_t>(undecided >> (32 * half));
        float* to = fractions + 32 * half;
#pragma omp simd
        for (int b = 0; b < 32; ++b) {
            const auto whole = static_cast<float>(static_cast<std::int32_t>((y >> b) & 1u));
            const auto parted = static_cast<float>(static_cast<std::int32_t>((g >> b) & 1u));
            to[b] = whole + fraction * parted;
        }
    }
}

// The positions of a word where a split's test holds, or its surrogate decides so. OUT: undecided, the
// positions where the values of the split and of all surrogates are missing.
inline std::uint64_t decided(const Replay& trees, const MissingRules& missing_rules, std::int64_t split,
                             std::int64_t word, std::int64_t n_words, std::uint64_t* undecided) {
    const MissingRule& missing_rule = missing_rules.of_splits[split];
    const auto missing = [&](std::int32_t slot) { return missing_rules.missing[slot * n_words + word]; };
    std::uint64_t yes = trees.masks[trees.splits[split].test * n_words + word];
    *undecided = missing(missing_rule.slot);
    for (std::int64_t s = 0; s < missing_rule.n_surrogates && *undecided != 0; ++s) {
        const Surrogate& one = missing_rules.surrogates[missing_rule.first_surrogate + s];
        const std::uint64_t says = trees.masks[one.test * n_words + word];
        yes |= *undecided & ~missing(one.slot) & (one.opposite ? ~says : says);
        *undecided &= missing(one.slot);
    }
    return yes;
}

void divide_whole(const Replay& trees, const MissingRules& missing_rules, const FlatTree& tree,
                  std::int64_t n_words, std::uint64_t* sets) {
    for (std::int64_t j = 0; j < tree.n_splits; ++j) {
        const std::int64_t split = tree.first_split + j;
        const std::uint64_t* from = sets + trees.splits[split].from * n_words;
        std::uint64_t *to_yes = sets + (2 + 2 * j) * n_words, *to_no = to_yes + n_words;
        const bool follow = missing_rules.of_splits[split].true_fraction > 0;
        for (std::int64_t w = 0; w < n_words; ++w) {
            std::uint64_t undecided;
            std::uint64_t yes = decided(trees, missing_rules, split, w, n_words, &undecided);
            if (follow) yes |= undecided;
            to_yes[w] = from[w] & yes;
            to_no[w] = from[w] & ~yes;
        }
    }
}

void divide(const Replay& trees, const MissingRules& missing_rules, const FlatTree& tree, std::int64_t word,
            std::int64_t n_words, float* weights) {
    std::fill(weights, weights + kBits, 0.0f);
    std::fill(weights + kBits, weights + 2 * kBits, 1.0f);
    float fractions[kBits];
    for (std::int64_t j = 0; j < tree.n_splits; ++j) {
        const std::int64_t split = tree.first_split + j;
        std::uint64_t undecided;
        const std::uint64_t yes = decided(trees, missing_rules, split, word, n_words, &undecided);
        to_fractions(yes, undecided, missing_rules.of_splits[split].true_fraction, fractions);
        const float* from = weights + trees.splits[split].from * kBits;
        float *to_yes = weights + (2 + 2 * j) * kBits, *to_no = to_yes + kBits;
#pragma omp simd
        for (int b = 0; b < kBits; ++b) {
            to_yes[b] = from[b] * fractions[b];
            to_no[b] = from[b] - to_yes[b];
        }
    }
}

// Consecutive parts with the same rows are leaves of one class of label contexts; their values are summed
// first.
void add_values(const Replay& trees, const FlatTree& tree, const float* weights, float* sums) {
    float values[kBits] = {};
    const std::int64_t end = tree.first_part + tree.n_parts;
    for (std::int64_t p = tree.first_part; p < end; ++p) {
        const Part& part = trees.parts[p];
        for (std::int64_t e = 0; e < part.n_entries; ++e) {
            const std::int32_t set = e == 0 ? part.first_set : trees.entries[part.first_entry + e];
            if (set == 0) continue;
            const float value = trees.values[part.first_value + e], *weight = weights + set * kBits;
#pragma omp simd
            for (int b = 0; b < kBits; ++b) values[b] += weight[b] * value;
        }
        if (p + 1 < end && trees.parts[p + 1].first_row == part.first_row) continue;
        float in_order[kBits];
        for (int b = 0; b < kBits; ++b) in_order[place_of_bit(b)] = values[b];
        for (std::int64_t r = 0; r < part.n_rows; ++r) {
            float* to = sums + trees.rows[part.first_row + r] * kChunkPositions;
#pragma omp simd
            for (int b = 0; b < kBits; ++b) to[b] += in_order[b];
        }
        std::fill(values, values + kBits, 0.0f);
    }
}

void add_rows(const Replay& trees, const FlatTree& tree, const float* weights, std::int64_t n,
              std::int64_t width, float* sums) {
    const Part& part = trees.parts[tree.first_part];
    for (std::int64_t e = 0; e < part.n_entries; ++e) {
        const float* weight = weights + trees.entries[part.first_entry + e] * kBits;
        const float* row = trees.values + part.first_value + e * width;
        for (int b = 0; b < kBits; ++b) {
            const std::int64_t place = place_of_bit(b);
            if (weight[b] == 0 || place >= n) continue;
            float* to = sums + place * width;
#pragma omp simd
            for (std::int64_t k = 0; k < width; ++k) to[k] += weight[b] * row[k];
        }
    }
}

}  // namespace

FractionalKernels offer_fractional() {
    return {divide_whole, divide, add_values, add_rows};
}

}  // namespace HEDGEROW_ISA
}  // namespace hedgerow
