// Compiled once for each instruction set: nothing here may be shared with another translation unit but plain
// data.
#include "trees/growth_kernels.hpp"

#include <cmath>
#include <cstring>

#include "util/numeric.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace hedgerow {
namespace HEDGEROW_ISA {
namespace {

constexpr std::int64_t kBlock = 64;

// By blocks: the arithmetic of a block has no branch, and the place of its greatest gain is searched only if
// that gain beats the best so far.
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

// Without a branch: which cells are selected cannot be predicted.
std::int64_t select(const std::int32_t* residuals, std::int64_t n, std::int64_t least, std::int32_t* cells) {
    std::int64_t c = 0, n_selected = 0;
#if defined(__AVX512F__)
    const __m512i limit = _mm512_set1_epi32(static_cast<int>(least)), step = _mm512_set1_epi32(16);
    __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (; c + 16 <= n; c += 16, numbers = _mm512_add_epi32(numbers, step)) {
        const __m512i size = _mm512_abs_epi32(_mm512_loadu_si512(residuals + c));
        const __mmask16 large = _mm512_cmpge_epu32_mask(size, limit);
        _mm512_storeu_si512(cells + n_selected, _mm512_maskz_compress_epi32(large, numbers));
        n_selected += __builtin_popcount(large);
    }
#endif
    for (; c < n; ++c) {
        const std::int64_t r = residuals[c];
        cells[n_selected] = static_cast<std::int32_t>(c);
        n_selected += (r < 0 ? -r : r) >= least;
    }
    return n_selected;
}

// Sums of rows of 32-bit numbers, in 64 bits.
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
    if (order == 1) {  // no branch: at depth 0 only the first number of a row is not 0
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

// The curvature |r| (1 - |r|) as in objective.hpp, and a count of one.
inline std::int64_t packed_curvature(std::int64_t r, int count_shift, int curvature_shift) {
    const std::int64_t one = std::int64_t{1} << 30, size = r < 0 ? -r : r;
    const std::int64_t curvature =
        size < one ? (size * (one - size) + (std::int64_t{1} << (curvature_shift - 1))) >> curvature_shift
                   : 0;
    return (std::int64_t{1} << count_shift) + curvature;
}

template <int kWidth>
struct NewtonColumns {
    std::int64_t out[4][kWidth] = {};
    void add(const std::int32_t* row, const std::int64_t* allowed, int count_shift, int curvature_shift) {
        std::int64_t all = 0;
        for (int v = 0; v < kWidth; ++v) all += row[v] & allowed[v];
        for (int v = 0; v < kWidth; ++v) {
            const std::int64_t r = row[v] & allowed[v];
            out[0][v] += r;
            out[1][v] += packed_curvature(r, count_shift, curvature_shift);
            out[2][v] += all - r;
            out[3][v] += packed_curvature(all - r, count_shift, curvature_shift);
        }
    }
};
#if defined(__GNUC__)
#define HEDGEROW_NEWTON_COLUMNS(width)                                                                       \
    template <>                                                                                              \
    struct NewtonColumns<width> {                                                                            \
        typedef std::int32_t Narrow __attribute__((vector_size(4 * (width))));                               \
        typedef std::int64_t Wide __attribute__((vector_size(8 * (width))));                                 \
        typedef std::uint64_t Positive __attribute__((vector_size(8 * (width))));                            \
        Wide out[4] = {};                                                                                    \
        static Wide packed(Wide r, int count_shift, int curvature_shift) {                                   \
            const Wide zero = {}, one = zero + (std::int64_t{1} << 30), size = r < zero ? -r : r;            \
            const Positive product = reinterpret_cast<Positive>(size * (one - size) +                        \
                                                                (std::int64_t{1} << (curvature_shift - 1))); \
            const Wide curvature = reinterpret_cast<Wide>(product >> curvature_shift);                       \
            return (size < one ? curvature : zero) + (std::int64_t{1} << count_shift);                       \
        }                                                                                                    \
        void add(const std::int32_t* row, const std::int64_t* allowed, int count_shift,                      \
                 int curvature_shift) {                                                                      \
            Narrow narrow;                                                                                   \
            Wide mask;                                                                                       \
            std::memcpy(&narrow, row, sizeof narrow);                                                        \
            std::memcpy(&mask, allowed, sizeof mask);                                                        \
            const Wide r = __builtin_convertvector(narrow, Wide) & mask;                                     \
            std::int64_t all = 0;                                                                            \
            for (int v = 0; v < (width); ++v) all += r[v];                                                   \
            const Wide rest = all - r;                                                                       \
            out[0] += r;                                                                                     \
            out[1] += packed(r, count_shift, curvature_shift);                                               \
            out[2] += rest;                                                                                  \
            out[3] += packed(rest, count_shift, curvature_shift);                                            \
        }                                                                                                    \
    };
HEDGEROW_NEWTON_COLUMNS(2)
HEDGEROW_NEWTON_COLUMNS(4)
HEDGEROW_NEWTON_COLUMNS(8)
#endif

template <int kWidth>
std::int64_t newton_columns_of(const std::int32_t* cells, std::int64_t n, const std::uint8_t* depths,
                               const std::int32_t* residuals, const std::int64_t* allowed, int count_shift,
                               int curvature_shift, std::int64_t* out, std::int32_t* others) {
    NewtonColumns<kWidth> sums;
    std::int64_t n_others = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t c = cells[i];
        if (depths[c] == 1) {
            sums.add(residuals + c * kWidth, allowed, count_shift, curvature_shift);
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
                            int count_shift, int curvature_shift, std::int64_t* out, std::int32_t* others) {
    const auto sum = width == 2   ? newton_columns_of<2>
                     : width == 4 ? newton_columns_of<4>
                                  : newton_columns_of<8>;
    return sum(cells, n, depths, residuals, allowed, count_shift, curvature_shift, out, others);
}

void add_position(double* to, const float* from, std::int64_t width) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
}

void add_row(double* to, const double* from, std::int64_t width) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
}

void subtract_row(double* from, const double* what, std::int64_t width) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) from[i] -= what[i];
}

void count_row(const ReadSlot* slots, std::int64_t n_slots, const std::int32_t* codes, const float* row,
               std::int64_t width, double* rows, std::int32_t* counts) {
    for (std::int64_t s = 0; s < n_slots; ++s) {
        const std::int32_t code = codes[slots[s].delta];
        if (code == slots[s].skipped) continue;
        const std::int64_t entry = slots[s].first_entry + code;
        double* to = rows + entry * width;
        const bool first = counts[entry]++ == 0;
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) to[i] = (first ? 0.0 : to[i]) + row[i];
    }
}

// Sums in sixteen lanes, whatever the width of the registers, so that every instruction set rounds alike. A
// weight that comes from a subtraction may be slightly below zero.
constexpr int kSumLanes = 16;

inline double sum_lanes(const float* lanes) {
    double sum = 0;
    for (int i = 0; i < kSumLanes; ++i) sum += lanes[i];
    return sum;
}

double row_merit(const double* row, std::int64_t n, double l2) {
    const auto penalty = static_cast<float>(l2) + 1e-6f;
    float lanes[kSumLanes] = {};
    for (std::int64_t first = 0; first < n; first += kSumLanes) {
#pragma omp simd
        for (int i = 0; i < kSumLanes; ++i) {
            const auto r = static_cast<float>(row[first + i]), w = static_cast<float>(row[n + first + i]);
            lanes[i] += r * r / (penalty + (w > 0 ? w : 0));
        }
    }
    return sum_lanes(lanes);
}

double split_merit(const double* yes, const double* total, std::int64_t n, double l2) {
    const auto penalty = static_cast<float>(l2) + 1e-6f;
    float lanes[kSumLanes] = {};
    for (std::int64_t first = 0; first < n; first += kSumLanes) {
#pragma omp simd
        for (int i = 0; i < kSumLanes; ++i) {
            const double r_yes = yes[first + i], w_yes = yes[n + first + i];
            const auto r1 = static_cast<float>(r_yes), r2 = static_cast<float>(total[first + i] - r_yes);
            const auto w1 = static_cast<float>(w_yes), w2 = static_cast<float>(total[n + first + i] - w_yes);
            const float m1 = r1 * r1 / (penalty + (w1 > 0 ? w1 : 0)),
                        m2 = r2 * r2 / (penalty + (w2 > 0 ? w2 : 0));
            lanes[i] += m1 + m2;
        }
    }
    return sum_lanes(lanes);
}

}  // namespace

GrowthKernels offer_growth() {
    return {scan,         negate,  select,       sum_columns, newton_columns, count_row,
            add_position, add_row, subtract_row, row_merit,   split_merit};
}

}  // namespace HEDGEROW_ISA
}  // namespace hedgerow
