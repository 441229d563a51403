// Compiled once for each instruction set: nothing here may be shared with another translation unit but plain
// data.
#include "trees/tree_kernels.hpp"

#include <bit>
#include <cmath>

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

void add_row(float* to, const float* from, std::int64_t width) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
}

// Words of sets in registers: one, or as many as vectors hold.
struct OneWord {
    static constexpr std::int64_t kWords = 1;
    std::uint64_t words;
};
#if defined(__GNUC__)
struct VectorOfWords {
    static constexpr std::int64_t kWords = HEDGEROW_VECTOR_BYTES / 8;
    typedef std::uint64_t Words __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
    Words words;
};
#else
using VectorOfWords = OneWord;
#endif

template <class Register>
inline Register load_words(const std::uint64_t* from) {
    Register set;
    std::memcpy(&set.words, from, sizeof set.words);
    return set;
}
template <class Register>
inline void store_words(std::uint64_t* to, const Register& set) {
    std::memcpy(to, &set.words, sizeof set.words);
}
template <class Register>
inline Register operator|(const Register& a, const Register& b) {
    return {a.words | b.words};
}

// Sets of one word, and of eight.
struct FewPositions {
    using Register = OneWord;
    static constexpr std::int64_t kWords = position_set_words(1);
};
struct ManyPositions {
    using Register = VectorOfWords;
    static constexpr std::int64_t kWords = position_set_words(kChunkPositions);
};

template <class Size>
void divide_sets(const Replay& trees, const FlatTree& tree, std::uint64_t* sets) {
    using Register = typename Size::Register;
    const CompiledSplit* splits = trees.splits + tree.first_split;
    std::uint64_t* to = sets + 2 * Size::kWords;
    for (std::int64_t j = 0; j < tree.n_splits; ++j, to += 2 * Size::kWords) {
        const std::uint64_t* from = sets + splits[j].from * Size::kWords;
        const std::uint64_t* mask = trees.masks + splits[j].test * Size::kWords;
        for (std::int64_t w = 0; w < Size::kWords; w += Register::kWords) {
            const auto all = load_words<Register>(from + w), holds = load_words<Register>(mask + w);
            store_words<Register>(to + w, {all.words & holds.words});
            store_words<Register>(to + Size::kWords + w, {all.words & ~holds.words});
        }
    }
}

void divide(const Replay& trees, const FlatTree& tree, std::int64_t n, std::uint64_t* sets) {
    const auto divide_some =
        position_set_words(n) == 1 ? divide_sets<FewPositions> : divide_sets<ManyPositions>;
    divide_some(trees, tree, sets);
}

// visit(position) for each position in a set.
template <class Visit>
inline void each_position(const std::uint64_t* set, std::int64_t n, Visit visit) {
    for (std::int64_t w = 0; w < position_set_words(n); ++w) {
        for (std::uint64_t word = set[w]; word != 0; word &= word - 1)
            visit(64 * w + place_of_bit(std::countr_zero(word)));
    }
}

void add_rows(const Replay& trees, const FlatTree& tree, const std::uint64_t* sets, std::int64_t n,
              std::int64_t width, float* sums) {
    const Part& part = trees.parts[tree.first_part];
    const std::int32_t* entries = trees.entries + part.first_entry;
    const float* row = trees.values + part.first_value;
    for (std::int64_t e = 0; e < part.n_entries; ++e, row += width) {
        each_position(sets + entries[e] * position_set_words(n), n, [&](std::int64_t i) {
            float* to = sums + i * width;
            for (std::int64_t k = 0; k < width; k += 16) {
#pragma omp simd
                for (int j = 0; j < 16; ++j) to[k + j] += row[k + j];
            }
        });
    }
}

// The numbers of the entries that positions are in, written in binary: the j-th set holds the positions whose
// number has bit j.
template <class Size, int kDigits>
inline void number_entries(const std::uint64_t* sets, const std::int32_t* entries, std::int64_t n,
                           std::uint64_t* digits) {
    using Register = typename Size::Register;
    for (std::int64_t w = 0; w < Size::kWords; w += Register::kWords) {
        const auto none = load_words<Register>(sets);
        Register d0 = none, d1 = none, d2 = none, d3 = none, d4 = none, d5 = none;
        for (std::int64_t g = 0; 8 * g < n; ++g) {
            const auto entry = [&](int i) {
                return load_words<Register>(sets + entries[8 * g + i] * Size::kWords + w);
            };
            const Register e3 = entry(3), e5 = entry(5), e6 = entry(6), e7 = entry(7);
            const Register e13 = entry(1) | e3, e57 = e5 | e7, e23 = entry(2) | e3, e67 = e6 | e7;
            const Register upper = entry(4) | e5 | e67;
            d0 = d0 | e13 | e57;
            d1 = d1 | e23 | e67;
            d2 = d2 | upper;
            const Register whole = entry(0) | e13 | e23 | upper;
            if (g & 1) d3 = d3 | whole;
            if (g & 2) d4 = d4 | whole;
            if (g & 4) d5 = d5 | whole;
        }
        store_words(digits + w, d0);
        store_words(digits + Size::kWords + w, d1);
        store_words(digits + 2 * Size::kWords + w, d2);
        store_words(digits + 3 * Size::kWords + w, d3);
        if constexpr (kDigits > 4) store_words(digits + 4 * Size::kWords + w, d4);
        if constexpr (kDigits > 5) store_words(digits + 5 * Size::kWords + w, d5);
    }
}

#if defined(__AVX512F__)

// Values by number, for 64 positions whose numbers are given by their binary digits, `stride` words apart. A
// byte holds the number of a position; a lookup uses only the lowest bits of a lane of four bytes, so shifts
// move each byte there in turn: see position_set.hpp.
template <int kDigits>
class Lookup {
  public:
    explicit Lookup(const float* values) {
        for (int j = 0; j < kTables; ++j) tables_[j] = _mm512_loadu_ps(values + 16 * j);
    }

    // Adds the values to rows of sums, at the first n positions and perhaps at some more.
    void add(const std::uint64_t* digits, std::int64_t stride, const std::int32_t* rows, std::int64_t n_rows,
             std::int64_t n, float* sums) const {
        __m512i numbers = _mm512_setzero_si512();
        for (int j = 0; j < kDigits; ++j)
            numbers = _mm512_mask_add_epi8(numbers, digits[j * stride], numbers, _mm512_set1_epi8(1 << j));
        if (n > 16) return add_quarters<4>(numbers, rows, n_rows, sums);
        add_quarters<1>(numbers, rows, n_rows, sums);
    }

  private:
    static constexpr int kTables = 1 << (kDigits - 4);

    template <int kQuarters>
    void add_quarters(__m512i numbers, const std::int32_t* rows, std::int64_t n_rows, float* sums) const {
        __m512 values[kQuarters];
        for (int i = 0; i < kQuarters; ++i, numbers = _mm512_srli_epi32(numbers, 8))
            values[i] = find(numbers);
        for (std::int64_t r = 0; r < n_rows; ++r) {
            float* to = sums + rows[r] * kChunkPositions;
            for (int i = 0; i < kQuarters; ++i, to += 16)
                _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), values[i]));
        }
    }
    __m512 find(__m512i numbers) const {
        if constexpr (kTables == 1) return _mm512_permutexvar_ps(numbers, tables_[0]);
        if constexpr (kTables == 2) return find_in(0, numbers);
        const __mmask16 beyond = _mm512_test_epi32_mask(numbers, _mm512_set1_epi32(32));
        return _mm512_mask_mov_ps(find_in(0, numbers), beyond, find_in(kTables - 2, numbers));
    }
    __m512 find_in(int j, __m512i numbers) const {
        return _mm512_permutex2var_ps(tables_[j], numbers, tables_[j + 1]);
    }

    __m512 tables_[kTables];
};

#else

// The bits of a byte as bytes.
struct Spread {
    std::uint8_t bytes[256][8] = {};
    constexpr Spread() {
        for (int byte = 0; byte < 256; ++byte) {
            for (int bit = 0; bit < 8; ++bit) bytes[byte][bit] = static_cast<std::uint8_t>(byte >> bit & 1);
        }
    }
};
constexpr Spread kSpread;

template <int kDigits>
class Lookup {
  public:
    explicit Lookup(const float* values) : values_(values) {}

    void add(const std::uint64_t* digits, std::int64_t stride, const std::int32_t* rows, std::int64_t n_rows,
             std::int64_t, float* sums) const {
        std::uint8_t numbers[64];
        for (int part = 0; part < 8; ++part) {
            std::uint64_t eight = 0;
            for (int j = 0; j < kDigits; ++j) {
                std::uint64_t ones;
                std::memcpy(&ones, kSpread.bytes[digits[j * stride] >> (8 * part) & 255], sizeof ones);
                eight |= ones << j;
            }
            std::memcpy(numbers + 8 * part, &eight, sizeof eight);
        }
        float found[64];
        for (int bit = 0; bit < 64; ++bit) found[place_of_bit(bit)] = values_[numbers[bit]];
        for (std::int64_t r = 0; r < n_rows; ++r) add_row(sums + rows[r] * kChunkPositions, found, 64);
    }

  private:
    const float* values_;
};

#endif

template <class Size, int kDigits>
void add_part(const Replay& trees, const Part& part, const std::uint64_t* sets, std::int64_t n, float* sums) {
    alignas(64) std::uint64_t digits[kDigits * Size::kWords];
    number_entries<Size, kDigits>(sets, trees.entries + part.first_entry, part.n_entries, digits);
    const Lookup<kDigits> lookup(trees.values + part.first_value);
    const std::int32_t* rows = trees.rows + part.first_row;
    const std::int64_t n_rows = part.n_rows;
    for (std::int64_t w = 0; w < Size::kWords && 64 * w < n; ++w)
        lookup.add(digits + w, Size::kWords, rows, n_rows, Size::kWords == 1 ? n : 64, sums + 64 * w);
}

template <class Size>
void add_parts(const Replay& trees, const FlatTree& tree, const std::uint64_t* sets, std::int64_t n,
               float* sums) {
    for (std::int64_t p = 0; p < tree.n_parts; ++p) {
        const Part& part = trees.parts[tree.first_part + p];
        const auto add = part.n_entries <= 16   ? add_part<Size, 4>
                         : part.n_entries <= 32 ? add_part<Size, 5>
                                                : add_part<Size, 6>;
        add(trees, part, sets, n, sums);
    }
}

void add_values(const Replay& trees, const FlatTree& tree, const std::uint64_t* sets, std::int64_t n,
                float* sums) {
    const auto add = position_set_words(n) == 1 ? add_parts<FewPositions> : add_parts<ManyPositions>;
    add(trees, tree, sets, n, sums);
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

// Sums in sixteen lanes, whatever the width of the registers, so that every instruction set rounds alike. A
// weight that comes from a subtraction may be slightly below zero.
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
    return {scan,     negate,    sum_columns, newton_columns, divide,    add_values,
            add_rows, count_row, add_row,     subtract_row,   row_merit, split_merit};
}

}  // namespace HEDGEROW_ISA
}  // namespace hedgerow
