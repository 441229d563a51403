// Compiled once for each instruction set: nothing here may be shared with another translation unit but plain
// data.
#include "trees/replay_kernels.hpp"

#include <bit>
#include <cstring>

#include "data/attribute_reader.hpp"
#include "util/numeric.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace hedgerow {
namespace HEDGEROW_ISA {
namespace {

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

// The positions of 64 whose bin is at most `most`, bins in the order of bits.
inline std::uint64_t at_most(const std::uint8_t* bins, std::uint8_t most) {
#if defined(__AVX512BW__)
    return _mm512_cmple_epu8_mask(_mm512_load_si512(bins), _mm512_set1_epi8(static_cast<char>(most)));
#elif defined(__AVX2__)
    const __m256i limit = _mm256_set1_epi8(static_cast<char>(most));
    const auto half = [&](const std::uint8_t* from) {
        const __m256i some = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
        const __m256i holds = _mm256_cmpeq_epi8(_mm256_min_epu8(some, limit), some);
        return std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(holds))};
    };
    return half(bins) | half(bins + 32) << 32;
#else
    std::uint64_t word = 0;
    for (int bit = 0; bit < 64; ++bit) word |= std::uint64_t{bins[bit] <= most} << bit;
    return word;
#endif
}

void compare(const std::uint8_t* bins, const std::uint64_t* inside, std::int64_t n,
             const Threshold* thresholds, std::int64_t n_thresholds, std::uint64_t* masks,
             std::uint64_t* missing) {
    const std::int64_t n_words = position_set_words(n);
    alignas(64) std::uint8_t in_order[kChunkPositions];
    for (std::int64_t w = 0; 64 * w < n; ++w) {
        std::uint8_t* word = in_order + 64 * w;
        for (int j = 0; j < 16; ++j) {
            for (int i = 0; i < 4; ++i) word[4 * j + i] = bins[64 * w + 16 * i + j];
        }
        missing[w] = inside[w] & ~at_most(word, kMissingBin - 1);
        for (std::int64_t i = 0; i < n_thresholds; ++i)
            masks[thresholds[i].test * n_words + w] = inside[w] & at_most(word, thresholds[i].bin);
    }
}

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
        for (std::int64_t r = 0; r < n_rows; ++r) {
            float* to = sums + rows[r] * kChunkPositions;
#pragma omp simd
            for (int i = 0; i < 64; ++i) to[i] += found[i];
        }
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

}  // namespace

ReplayKernels offer_replay() {
    return {compare, divide, add_values, add_rows};
}

}  // namespace HEDGEROW_ISA
}  // namespace hedgerow
