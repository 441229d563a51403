// Sets of the positions of a chunk, as words of 64 bits: one word if the chunk has at most 64 positions (one
// short sequence), otherwise eight words, one register of the widest vector units. Operations on sets are in
// the files that are compiled for each instruction set.
#pragma once

#include <cstdint>

namespace hedgerow {

constexpr std::int64_t kChunkPositions = 512;

// The number of words of a set of n positions.
constexpr std::int64_t position_set_words(std::int64_t n) {
    return n <= 64 ? 1 : kChunkPositions / 64;
}

// Position 16 i + j of 64 is bit 4 j + i: when a word is expanded to 64 bytes, 16 lanes of 4 bytes, the i-th
// bytes of all lanes are 16 consecutive positions.
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
