// Sets of the positions of a chunk, as words of 64: one word each where that is enough, which is what a
// single sequence needs, or eight, one register of the widest vector units. Plain data; what is done with
// sets lies in the files that are compiled for each instruction set.
#pragma once

#include <cstdint>

namespace hedgerow {

constexpr std::int64_t kChunkPositions = 512;

// Words of a set of n positions.
constexpr std::int64_t position_set_words(std::int64_t n) {
    return n <= 64 ? 1 : kChunkPositions / 64;
}

// Of 64 positions, number 16 i + j is bit 4 j + i: when a word becomes 64 bytes, in 16 lanes of 4, the i-th
// bytes of all lanes are 16 positions in a row.
constexpr std::int64_t bit_of_place(std::int64_t place) {
    return (place & 15) << 2 | place >> 4;
}
constexpr std::int64_t place_of_bit(std::int64_t bit) {
    return (bit & 3) << 4 | bit >> 2;
}

inline void insert(std::uint64_t* set, std::int64_t position) {
    set[position >> 6] |= std::uint64_t{1} << bit_of_place(position & 63);
}

}  // namespace hedgerow
