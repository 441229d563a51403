// A set of up to 512 positions: one register of the widest vector units. Plain data; what is done with sets
// lies in the files that are compiled for each instruction set.
#pragma once

#include <cstdint>

namespace hedgerow {

constexpr std::int64_t kChunkPositions = 512;

struct alignas(64) PositionBits {
    std::uint64_t words[8];
};

}  // namespace hedgerow
