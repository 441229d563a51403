// Loops of a few iterations are much faster when the compiler knows how many there are.
#pragma once

#include <cstdint>
#include <type_traits>

namespace hedgerow {

// visit(n), where n is a constant of the compiler if it is from 1 to 9.
template <class Visit>
void with_small_constant(std::int64_t n, Visit visit) {
    switch (n) {
        case 1:
            return visit(std::integral_constant<std::int64_t, 1>{});
        case 2:
            return visit(std::integral_constant<std::int64_t, 2>{});
        case 3:
            return visit(std::integral_constant<std::int64_t, 3>{});
        case 4:
            return visit(std::integral_constant<std::int64_t, 4>{});
        case 5:
            return visit(std::integral_constant<std::int64_t, 5>{});
        case 6:
            return visit(std::integral_constant<std::int64_t, 6>{});
        case 7:
            return visit(std::integral_constant<std::int64_t, 7>{});
        case 8:
            return visit(std::integral_constant<std::int64_t, 8>{});
        case 9:
            return visit(std::integral_constant<std::int64_t, 9>{});
        default:
            return visit(n);
    }
}

}  // namespace hedgerow
