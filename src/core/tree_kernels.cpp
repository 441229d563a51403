// Compiled once for each instruction set: nothing here may be shared with another translation unit but plain
// data.
#include "tree_kernels.hpp"

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace hedgerow {
namespace HEDGEROW_ISA {
namespace {

constexpr std::int64_t kBlock = 64;

// Gains by blocks: the arithmetic of a block has no branch, and its greatest gain is looked up only when it
// beats what was found before.
std::int64_t scan(const RawSums* yes, std::int64_t n, const RawSums& total, const ScanRules& rules,
                  double* gain) {
    const std::int64_t mask = (std::int64_t{1} << rules.count_shift) - 1;
    const std::int64_t all_residual = total.residual, all_packed = total.packed;
    const std::int64_t least = rules.min_count << rules.count_shift;
    const double l2 = rules.l2, r_unit = rules.residual_unit, w_unit = rules.weight_unit,
                 before = rules.before;
    std::int64_t found = -1;
    double best = *gain;
    double gains[kBlock];
    for (std::int64_t first = 0; first < n; first += kBlock) {
        const std::int64_t size = n - first < kBlock ? n - first : kBlock;
        const RawSums* block = yes + first;
        double top = 0;
#pragma omp simd reduction(max : top)
        for (std::int64_t i = 0; i < size; ++i) {
            const std::int64_t packed = block[i].packed, rest = all_packed - packed;
            const double r1 = static_cast<double>(block[i].residual) * r_unit;
            const double r2 = static_cast<double>(all_residual - block[i].residual) * r_unit;
            const double w1 = l2 + static_cast<double>(packed & mask) * w_unit;
            const double w2 = l2 + static_cast<double>(rest & mask) * w_unit;
            const double merit1 = w1 > 0 ? r1 * r1 / w1 : 0.0;
            const double merit2 = w2 > 0 ? r2 * r2 / w2 : 0.0;
            const double g = packed >= least && rest >= least ? merit1 + merit2 - before : 0.0;
            gains[i] = g;
            top = g > top ? g : top;
        }
        if (!(top > best)) continue;
        best = top;
        std::int64_t i = 0;
        while (gains[i] != top) ++i;
        found = first + i;
    }
    *gain = best;
    return found;
}

inline bool any(const Bits& a) {
    std::uint64_t all = 0;
    for (int w = 0; w < 8; ++w) all |= a.words[w];
    return all != 0;
}

inline int lowest_bit(std::uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
    unsigned long at;
    _BitScanForward64(&at, word);
    return static_cast<int>(at);
#else
    return __builtin_ctzll(word);
#endif
}

inline int n_bits(std::uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
    return static_cast<int>(__popcnt64(word));
#else
    return __builtin_popcountll(word);
#endif
}

// Adds a value at the positions of a word of 64, one by one where they are few.
inline void add_word(std::uint64_t word, float value, float* sums) {
    if (n_bits(word) < 20) {
        for (; word != 0; word &= word - 1) sums[lowest_bit(word)] += value;
        return;
    }
    for (int half = 0; half < 2; ++half) {
        const auto bits = static_cast<std::uint32_t>(word >> (32 * half));
#pragma omp simd
        for (int i = 0; i < 32; ++i) sums[32 * half + i] += (bits >> i) & 1 ? value : 0.0f;
    }
}

inline void add_leaf(const Replay& replay, const FlatNode& leaf, const Bits& where, float* sums) {
    const std::int32_t* starts = replay.member_starts + leaf.if_true;
    for (std::int64_t m = 0; m <= replay.order; ++m) {
        for (int w = 0; w < 8; ++w) {
            const std::uint64_t word = where.words[w] & replay.at_depth[m].words[w];
            if (word == 0) continue;
            for (std::int32_t j = starts[m]; j < starts[m + 1]; ++j)
                add_word(word, leaf.value, sums + replay.members[j] * kChunkPositions + 64 * w);
        }
    }
}

void replay(const Replay& trees, std::int32_t root, const Bits& all, Waiting* waiting, float* sums) {
    std::int64_t n_waiting = 0;
    std::int32_t at = root;
    Bits where = all;
    for (;;) {
        const FlatNode& node = trees.nodes[at];
        bool done = node.test == kLeaf;
        if (done) {
            add_leaf(trees, node, where, sums);
        } else if (node.test == kHistory) {
            waiting[n_waiting++] = {where, node.if_true};
        } else if (trees.holds[node.test]) {
            // Where tests fail the set stays at hand; the positions where this one holds wait.
            const Bits& mask = trees.masks[node.test];
            Bits yes;
            for (int w = 0; w < 8; ++w) yes.words[w] = where.words[w] & mask.words[w];
            if (any(yes)) {
                waiting[n_waiting++] = {yes, node.if_true};
                for (int w = 0; w < 8; ++w) where.words[w] &= ~yes.words[w];
                done = !any(where);
            }
        }
        if (!done) {
            at = node.if_false;
        } else if (n_waiting > 0) {
            where = waiting[--n_waiting].where;
            at = waiting[n_waiting].node;
        } else {
            return;
        }
    }
}

}  // namespace

TreeKernels offer_trees() {
    return {scan, replay};
}

}  // namespace HEDGEROW_ISA
}  // namespace hedgerow
