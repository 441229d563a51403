// How many bits the counts and the weights of Sums get, for so many positions.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "trees/sums.hpp"
#include "util/require.hpp"

namespace hedgerow {

constexpr std::int64_t kMostPositions = std::int64_t{1} << 31;  // numbers of positions have 32 bits

// A count of up to n positions fits above this bit.
inline int count_shift_for(std::int64_t n) {
    require(
        n < kMostPositions,
        "the positions of all processes together must be fewer than 2^31 for trees; fit on fewer sequences");
    return std::min(38, 63 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))));
}

// The finest unit of weights, at most `finest`, in which the weights of n positions can be added up. A
// position weighs at most `most`. Refuses units coarser than `coarsest`.
inline Packing choose_packing(std::int64_t n, double most, double finest, double coarsest) {
    Packing packing{finest, count_shift_for(n)};
    const double room = static_cast<double>(packing.one()), weight = static_cast<double>(n) * most;
    while (packing.weight_unit > coarsest && weight * packing.weight_unit >= room) packing.weight_unit /= 2;
    require(
        weight * packing.weight_unit < room,
        "the positions of all processes together are too many for trees: with Newton leaves there must be "
        "fewer than 2^28, and otherwise fewer than 2^31; a higher order allows fewer; fit on fewer "
        "sequences");
    packing.curvature_shift = 60 - std::ilogb(packing.weight_unit);
    return packing;
}

}  // namespace hedgerow
