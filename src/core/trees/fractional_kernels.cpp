#include "trees/fractional_kernels.hpp"

#include <algorithm>

namespace hedgerow {
namespace HEDGEROW_ISA {
namespace {

constexpr int kBits = 64;

// What share of each position goes where a test holds: 1 for those of `yes`, `share` for those of `gone`.
inline void to_shares(std::uint64_t yes, std::uint64_t gone, float share, float* shares) {
    for (int half = 0; half < 2; ++half) {
        const auto y = static_cast<std::uint32_t>(yes >> (32 * half)),
                   g = static_cast<std::uint32_t>(gone >> (32 * half));
        float* to = shares + 32 * half;
#pragma omp simd
        for (int b = 0; b < 32; ++b) {
            const auto whole = static_cast<float>(static_cast<std::int32_t>((y >> b) & 1u));
            const auto parted = static_cast<float>(static_cast<std::int32_t>((g >> b) & 1u));
            to[b] = whole + share * parted;
        }
    }
}

// The positions of a word where a split's test holds, or a surrogate says so; gone <- those where none has a
// value.
inline std::uint64_t asked(const Replay& trees, const Detours& detours, std::int64_t split, std::int64_t word,
                           std::int64_t n_words, std::uint64_t* gone) {
    const Detour& detour = detours.of_splits[split];
    const auto missing = [&](std::int32_t slot) { return detours.missing[slot * n_words + word]; };
    std::uint64_t yes = trees.masks[trees.splits[split].test * n_words + word];
    *gone = missing(detour.slot);
    for (std::int64_t s = 0; s < detour.n_surrogates && *gone != 0; ++s) {
        const Surrogate& one = detours.surrogates[detour.first_surrogate + s];
        const std::uint64_t says = trees.masks[one.test * n_words + word];
        yes |= *gone & ~missing(one.slot) & (one.opposite ? ~says : says);
        *gone &= missing(one.slot);
    }
    return yes;
}

void divide_whole(const Replay& trees, const Detours& detours, const FlatTree& tree, std::int64_t n_words,
                  std::uint64_t* sets) {
    for (std::int64_t j = 0; j < tree.n_splits; ++j) {
        const std::int64_t split = tree.first_split + j;
        const std::uint64_t* from = sets + trees.splits[split].from * n_words;
        std::uint64_t *to_yes = sets + (2 + 2 * j) * n_words, *to_no = to_yes + n_words;
        const bool follow = detours.of_splits[split].share > 0;
        for (std::int64_t w = 0; w < n_words; ++w) {
            std::uint64_t gone;
            std::uint64_t yes = asked(trees, detours, split, w, n_words, &gone);
            if (follow) yes |= gone;
            to_yes[w] = from[w] & yes;
            to_no[w] = from[w] & ~yes;
        }
    }
}

void divide(const Replay& trees, const Detours& detours, const FlatTree& tree, std::int64_t word,
            std::int64_t n_words, float* weights) {
    std::fill(weights, weights + kBits, 0.0f);
    std::fill(weights + kBits, weights + 2 * kBits, 1.0f);
    float shares[kBits];
    for (std::int64_t j = 0; j < tree.n_splits; ++j) {
        const std::int64_t split = tree.first_split + j;
        std::uint64_t gone;
        const std::uint64_t yes = asked(trees, detours, split, word, n_words, &gone);
        to_shares(yes, gone, detours.of_splits[split].share, shares);
        const float* from = weights + trees.splits[split].from * kBits;
        float *to_yes = weights + (2 + 2 * j) * kBits, *to_no = to_yes + kBits;
#pragma omp simd
        for (int b = 0; b < kBits; ++b) {
            to_yes[b] = from[b] * shares[b];
            to_no[b] = from[b] - to_yes[b];
        }
    }
}

// Parts of the same rows follow each other: they are leaves of one class, and their values are added up
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

ShareKernels offer_shares() {
    return {divide_whole, divide, add_values, add_rows};
}

}  // namespace HEDGEROW_ISA
}  // namespace hedgerow
