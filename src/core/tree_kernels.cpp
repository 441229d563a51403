// Compiled once for each instruction set: nothing here may be shared with another translation unit but plain
// data.
#include "tree_kernels.hpp"

#include <cmath>

#include "numeric.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif
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
#pragma omp simd
        for (std::int64_t i = 0; i < size; ++i) {
            const std::int64_t packed = block[i].packed, rest = all_packed - packed;
            const double r1 = static_cast<double>(block[i].residual) * r_unit;
            const double r2 = static_cast<double>(all_residual - block[i].residual) * r_unit;
            const double w1 = l2 + static_cast<double>(packed & mask) * w_unit;
            const double w2 = l2 + static_cast<double>(rest & mask) * w_unit;
            const double both = (r1 * r1 * w2 + r2 * r2 * w1) / (w1 * w2);
            const bool may = (packed >= least) & (rest >= least) & (w1 > 0) & (w2 > 0);
            const double g = may ? both - before : 0.0;
            gains[i] = g;
        }
        for (std::int64_t i = size; i < kBlock; ++i) gains[i] = 0;
        double tops[8] = {};
        for (std::int64_t i = 0; i < kBlock; i += 8) {
            for (int j = 0; j < 8; ++j) tops[j] = gains[i + j] > tops[j] ? gains[i + j] : tops[j];
        }
        double top = 0;
        for (const double one : tops) top = one > top ? one : top;
        if (!(top > best)) continue;
        best = top;
        std::int64_t i = 0;
        while (gains[i] != top) ++i;
        found = first + i;
    }
    *gain = best;
    return found;
}

inline float rint_of(float x) {
#if defined(__GNUC__)
    return __builtin_rintf(x);
#else
    return std::nearbyint(x);
#endif
}

// Scaling by a power of two is exact in single precision too.
void negate(const float* probabilities, std::int64_t n, std::int32_t* to) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        float scaled = probabilities[i] * -1073741824.0f;
        scaled = scaled < -2147483520.0f ? -2147483520.0f : scaled;
        scaled = scaled > 1073741760.0f ? 1073741760.0f : scaled;
        to[i] = static_cast<std::int32_t>(rint_of(scaled));
    }
}

// A row of whole numbers, widened as it is added.
template <int kWidth>
struct Columns {
    std::int64_t sums[kWidth] = {};
    void add(const std::int32_t* row) {
        for (int h = 0; h < kWidth; ++h) sums[h] += row[h];
    }
};
#if defined(__GNUC__)
#define HEDGEROW_COLUMNS(width)                                                \
    template <>                                                                \
    struct Columns<width> {                                                    \
        typedef std::int32_t Narrow __attribute__((vector_size(4 * (width)))); \
        typedef std::int64_t Wide __attribute__((vector_size(8 * (width))));   \
        Wide sums = {};                                                        \
        void add(const std::int32_t* row) {                                    \
            Narrow narrow;                                                     \
            std::memcpy(&narrow, row, sizeof narrow);                          \
            sums += __builtin_convertvector(narrow, Wide);                     \
        }                                                                      \
    };
HEDGEROW_COLUMNS(2)
HEDGEROW_COLUMNS(4)
HEDGEROW_COLUMNS(8)
#endif

template <int kWidth>
void sum_columns_of(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths, std::int64_t order,
                    const std::int32_t* residuals, std::int64_t width, std::int64_t* columns,
                    std::int64_t* n_cells) {
    Columns<kWidth> usual;
    std::int64_t others = 0;
    if (order == 1) {  // no branch: of a first position only its first number is not 0
        std::int64_t at_start = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int32_t* row = residuals + std::int64_t{cells[i]} * width;
            const std::int64_t first = depths[cells[i]] == 0;
            usual.add(row);
            at_start += row[0] & -first;
            others += first;
        }
        columns[0] += at_start;
        columns[width] -= at_start;
        n_cells[0] += others;
    }
    for (std::int64_t i = 0; i < n && order != 1; ++i) {
        const std::int64_t c = cells[i];
        const std::int32_t* row = residuals + c * width;
        if (depths[c] == order) {
            usual.add(row);
        } else {
            for (int h = 0; h < kWidth; ++h) columns[depths[c] * width + h] += row[h];
            ++n_cells[depths[c]];
            ++others;
        }
    }
    for (int h = 0; h < kWidth; ++h) columns[order * width + h] += usual.sums[h];
    n_cells[order] += n - others;
}

void sum_columns(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths, std::int64_t order,
                 const std::int32_t* residuals, std::int64_t width, std::int64_t* columns,
                 std::int64_t* n_cells) {
    if (width == 2) return sum_columns_of<2>(cells, n, depths, order, residuals, width, columns, n_cells);
    if (width == 4) return sum_columns_of<4>(cells, n, depths, order, residuals, width, columns, n_cells);
    if (width == 8) return sum_columns_of<8>(cells, n, depths, order, residuals, width, columns, n_cells);
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t c = cells[i];
        std::int64_t* to = columns + depths[c] * width;
#pragma omp simd
        for (std::int64_t h = 0; h < width; ++h) to[h] += residuals[c * width + h];
        ++n_cells[depths[c]];
    }
}

// |r| (1 - |r|) as histogram.hpp has it, and a count of one.
inline std::int64_t packed_curvature(std::int64_t r, int count_shift) {
    const std::int64_t one = std::int64_t{1} << 30, size = r < 0 ? -r : r;
    const std::int64_t curvature = size < one ? (size * (one - size) + (std::int64_t{1} << 43)) >> 44 : 0;
    return (std::int64_t{1} << count_shift) + curvature;
}

template <int kWidth>
struct NewtonColumns {
    std::int64_t out[4][kWidth] = {};
    void add(const std::int32_t* row, const std::int64_t* allowed, int count_shift) {
        std::int64_t all = 0;
        for (int v = 0; v < kWidth; ++v) all += row[v] & allowed[v];
        for (int v = 0; v < kWidth; ++v) {
            const std::int64_t r = row[v] & allowed[v];
            out[0][v] += r;
            out[1][v] += packed_curvature(r, count_shift);
            out[2][v] += all - r;
            out[3][v] += packed_curvature(all - r, count_shift);
        }
    }
};
#if defined(__GNUC__)
#define HEDGEROW_NEWTON_COLUMNS(width)                                                            \
    template <>                                                                                   \
    struct NewtonColumns<width> {                                                                 \
        typedef std::int32_t Narrow __attribute__((vector_size(4 * (width))));                    \
        typedef std::int64_t Wide __attribute__((vector_size(8 * (width))));                      \
        Wide out[4] = {};                                                                         \
        static Wide packed(Wide r, int count_shift) {                                             \
            const Wide zero = {}, one = zero + (std::int64_t{1} << 30), size = r < zero ? -r : r; \
            const Wide curvature = (size * (one - size) + (std::int64_t{1} << 43)) >> 44;         \
            return (size < one ? curvature : zero) + (std::int64_t{1} << count_shift);            \
        }                                                                                         \
        void add(const std::int32_t* row, const std::int64_t* allowed, int count_shift) {         \
            Narrow narrow;                                                                        \
            Wide mask;                                                                            \
            std::memcpy(&narrow, row, sizeof narrow);                                             \
            std::memcpy(&mask, allowed, sizeof mask);                                             \
            const Wide r = __builtin_convertvector(narrow, Wide) & mask;                          \
            std::int64_t all = 0;                                                                 \
            for (int v = 0; v < (width); ++v) all += r[v];                                        \
            const Wide rest = all - r;                                                            \
            out[0] += r;                                                                          \
            out[1] += packed(r, count_shift);                                                     \
            out[2] += rest;                                                                       \
            out[3] += packed(rest, count_shift);                                                  \
        }                                                                                         \
    };
HEDGEROW_NEWTON_COLUMNS(2)
HEDGEROW_NEWTON_COLUMNS(4)
HEDGEROW_NEWTON_COLUMNS(8)
#endif

template <int kWidth>
std::int64_t newton_columns_of(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths,
                               const std::int32_t* residuals, const std::int64_t* allowed, int count_shift,
                               std::int64_t* out, std::int32_t* others) {
    NewtonColumns<kWidth> sums;
    std::int64_t n_others = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t c = cells[i];
        if (depths[c] == 1) {
            sums.add(residuals + c * kWidth, allowed, count_shift);
        } else {
            others[n_others++] = cells[i];
        }
    }
    for (int part = 0; part < 4; ++part) {
        for (int v = 0; v < kWidth; ++v) out[part * kWidth + v] = sums.out[part][v];
    }
    return n_others;
}

std::int64_t newton_columns(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths,
                            const std::int32_t* residuals, std::int64_t width, const std::int64_t* allowed,
                            int count_shift, std::int64_t* out, std::int32_t* others) {
    const auto sum = width == 2   ? newton_columns_of<2>
                     : width == 4 ? newton_columns_of<4>
                                  : newton_columns_of<8>;
    return sum(cells, n, depths, residuals, allowed, count_shift, out, others);
}

// yes <- the part of `where` that is in `mask`; returns whether there is any.
inline bool intersect(const PositionBits& where, const PositionBits& mask, PositionBits* yes) {
#if defined(__AVX512F__)
    const __m512i both = _mm512_and_si512(_mm512_load_si512(where.words), _mm512_load_si512(mask.words));
    _mm512_store_si512(yes->words, both);
    return _mm512_test_epi64_mask(both, both) != 0;
#else
    std::uint64_t all = 0;
    for (int w = 0; w < 8; ++w) all |= yes->words[w] = where.words[w] & mask.words[w];
    return all != 0;
#endif
}

// Takes `part` out of `where`; returns whether anything is left.
inline bool remove(PositionBits* where, const PositionBits& part) {
#if defined(__AVX512F__)
    const __m512i left = _mm512_andnot_si512(_mm512_load_si512(part.words), _mm512_load_si512(where->words));
    _mm512_store_si512(where->words, left);
    return _mm512_test_epi64_mask(left, left) != 0;
#else
    std::uint64_t all = 0;
    for (int w = 0; w < 8; ++w) all |= where->words[w] &= ~part.words[w];
    return all != 0;
#endif
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

inline int count_bits(std::uint64_t word) {
#if defined(_MSC_VER) && !defined(__clang__)
    return static_cast<int>(__popcnt64(word));
#else
    return __builtin_popcountll(word);
#endif
}

// visit(position) for each of a set.
template <class Visit>
inline void each_bit(const PositionBits& bits, Visit visit) {
#if defined(__AVX512F__)
    const __m512i whole = _mm512_load_si512(bits.words);
    for (unsigned filled = _mm512_test_epi64_mask(whole, whole); filled != 0; filled &= filled - 1) {
        const int w = lowest_bit(filled);
#else
    for (int w = 0; w < 8; ++w) {
#endif
        for (std::uint64_t word = bits.words[w]; word != 0; word &= word - 1)
            visit(64 * w + lowest_bit(word));
    }
}

// A leaf with many positions: its value, or nothing, for all. Where a mask is an operand this is so quick
// that many begins at a few.
#if defined(__AVX512F__)
constexpr std::int64_t kMany = 6;

inline void add_to_many(const PositionBits& bits, float value, float* sums) {
    const __m512 added = _mm512_set1_ps(value);
    for (int w = 0; w < 8; ++w) {
        const std::uint64_t word = bits.words[w];
        for (int part = 0; part < 4; ++part) {
            float* to = sums + 64 * w + 16 * part;
            const __m512 x = _mm512_loadu_ps(to);
            _mm512_storeu_ps(to,
                             _mm512_mask_add_ps(x, static_cast<__mmask16>(word >> (16 * part)), x, added));
        }
    }
}
#else
constexpr std::int64_t kMany = 96;

inline void add_to_many(const PositionBits& bits, float value, float* sums) {
    for (int w = 0; w < 16; ++w) {
        const std::uint64_t word = bits.words[w / 2];
        const auto half = static_cast<std::uint32_t>(word >> (32 * (w % 2)));
        if (half == 0) continue;
#pragma omp simd
        for (int i = 0; i < 32; ++i) sums[32 * w + i] += (half >> i) & 1 ? value : 0.0f;
    }
}
#endif

inline std::int64_t n_bits(const PositionBits& bits) {
    std::int64_t n = 0;
    for (int w = 0; w < 8; ++w) n += count_bits(bits.words[w]);
    return n;
}

inline void add_value(const PositionBits& bits, bool many, float value, float* sums) {
    if (many) {
        add_to_many(bits, value, sums);
    } else {
        each_bit(bits, [&](std::int64_t i) { sums[i] += value; });
    }
}

inline void add_leaf(const Replay& replay, const FlatNode& leaf, const PositionBits& where, float* sums) {
    const std::int64_t width = replay.width;
    if (width > 1) {
        const float* row = replay.rows + leaf.if_true * width;
        each_bit(where, [&](std::int64_t i) {
            float* to = sums + i * width;
            for (std::int64_t k = 0; k < width; k += 4) store<4>(to + k, load<4>(to + k) + load<4>(row + k));
        });
        return;
    }
    const float value = replay.rows[leaf.if_true];
    if (replay.order == 0) {
        add_value(where, n_bits(where) >= kMany, value, sums);
        return;
    }
    const std::int32_t* starts = replay.member_starts + leaf.if_false;
    for (std::int64_t m = 0; m <= replay.order; ++m) {
        PositionBits here;
        if (starts[m] == starts[m + 1] || !intersect(where, replay.at_depth[m], &here)) continue;
        const bool many = n_bits(here) >= kMany;
        for (std::int32_t j = starts[m]; j < starts[m + 1]; ++j) {
            add_value(here, many, value, sums + replay.members[j] * kChunkPositions);
        }
    }
}

void replay(const Replay& trees, std::int32_t root, const PositionBits& all, Waiting* waiting, float* sums) {
    std::int64_t n_waiting = 0;
    std::int32_t at = root;
    PositionBits where = all;
    for (;;) {
        const FlatNode& node = trees.nodes[at];
        bool done = node.test == kLeaf;
        if (done) {
            add_leaf(trees, node, where, sums);
        } else if (node.test == kHistory) {
            waiting[n_waiting++] = {where, node.if_true};
        } else if (trees.holds[node.test] &&
                   intersect(where, trees.masks[node.test], &waiting[n_waiting].where)) {
            // Where tests fail the set stays at hand; the positions where this one holds wait.
            done = !remove(&where, waiting[n_waiting].where);
            waiting[n_waiting++].node = node.if_true;
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

void add_row(float* to, const float* from, std::int64_t width) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
}

void subtract_row(float* from, const float* what, std::int64_t width) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) from[i] -= what[i];
}

void count_row(const ReadSlot* slots, std::int64_t n_slots, const std::int32_t* codes, const float* row,
               std::int64_t width, float* rows, std::int32_t* counts) {
    for (std::int64_t s = 0; s < n_slots; ++s) {
        const std::int32_t code = codes[slots[s].delta];
        if (code == slots[s].skipped) continue;
        const std::int64_t entry = slots[s].first_entry + code;
        float* to = rows + entry * width;
        const bool first = counts[entry]++ == 0;
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) to[i] = (first ? 0.0f : to[i]) + row[i];
    }
}

// Sums in sixteen lanes, whatever the width of the registers, so that every instruction set rounds alike.
// What subtraction leaves of a weight may be a little below zero.
constexpr int kLanes = 16;

inline double sum_lanes(const float* lanes) {
    double sum = 0;
    for (int i = 0; i < kLanes; ++i) sum += lanes[i];
    return sum;
}

double row_merit(const float* row, std::int64_t n, double l2) {
    const auto penalty = static_cast<float>(l2) + 1e-6f;
    float lanes[kLanes] = {};
    for (std::int64_t first = 0; first < n; first += kLanes) {
#pragma omp simd
        for (int i = 0; i < kLanes; ++i) {
            const float r = row[first + i], w = row[n + first + i];
            lanes[i] += r * r / (penalty + (w > 0 ? w : 0));
        }
    }
    return sum_lanes(lanes);
}

double split_merit(const float* yes, const float* total, std::int64_t n, double l2) {
    const auto penalty = static_cast<float>(l2) + 1e-6f;
    float lanes[kLanes] = {};
    for (std::int64_t first = 0; first < n; first += kLanes) {
#pragma omp simd
        for (int i = 0; i < kLanes; ++i) {
            const float r1 = yes[first + i], r2 = total[first + i] - r1;
            const float w1 = yes[n + first + i], w2 = total[n + first + i] - w1;
            const float m1 = r1 * r1 / (penalty + (w1 > 0 ? w1 : 0)),
                        m2 = r2 * r2 / (penalty + (w2 > 0 ? w2 : 0));
            lanes[i] += m1 + m2;
        }
    }
    return sum_lanes(lanes);
}

}  // namespace

TreeKernels offer_trees() {
    return {scan,      negate,  sum_columns,  newton_columns, replay,
            count_row, add_row, subtract_row, row_merit,      split_merit};
}

}  // namespace HEDGEROW_ISA
}  // namespace hedgerow
