// Sums that do not depend on their order: every number is rounded once to a multiple of a unit, a power of
// two. While the sum stays below 2^53 units, double precision adds such numbers exactly.
#pragma once

// The functions are static: some files that include this are compiled once for each instruction set.

namespace hedgerow {

// The number whose addition rounds a double of less than 2^51 units to a multiple of the unit: one unit in
// its last place is the unit. A unit of 0 rounds nothing.
static constexpr double rounder_of(double unit) {
    return 0x1.8p52 * unit;
}

static inline double rounded(double x, double rounder) {
    return (x + rounder) - rounder;
}

}  // namespace hedgerow
