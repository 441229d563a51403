#include "util/exact_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "util/require.hpp"

namespace hedgerow {
namespace {

constexpr int kFractionBits = 52, kLowBits = 26;  // the other 27 bits are added apart
constexpr std::int64_t kExponents = 2048, kInfinite = kExponents - 1;
constexpr std::int64_t kLeastPower = -1075;  // what the exponent 0 would stand for, if it were not that of 1

using Limbs = std::array<std::int64_t, kExponents + kLowBits>;

// Adds value(i) for all i below n; returns whether all are finite.
//
// A double is m * 2^(kLeastPower + e), with m a whole number of 53 bits and e its exponent, at least 1. The
// low bits of m are added to limb e, the high bits to limb e + kLowBits.
template <class Value>
bool add_to_limbs(std::int64_t n, Value value, Limbs& limbs) {
    constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << kFractionBits) - 1;
    constexpr std::int64_t low_mask = (std::int64_t{1} << kLowBits) - 1;
    bool finite = true;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(value(i));
        const auto exponent = static_cast<std::int64_t>((bits >> kFractionBits) & (kExponents - 1));
        const auto fraction = static_cast<std::int64_t>(bits & fraction_mask);
        const std::int64_t whole = exponent > 0 ? fraction + (std::int64_t{1} << kFractionBits) : fraction;
        const std::int64_t sign = 1 - 2 * static_cast<std::int64_t>(bits >> 63);
        const std::int64_t at = std::max<std::int64_t>(exponent, 1);
        limbs[at] += sign * (whole & low_mask);
        limbs[at + kLowBits] += sign * (whole >> kLowBits);
        finite &= exponent != kInfinite;
    }
    return finite;
}

}  // namespace

ExactSum exact_sum(const double* values, const double* weights, std::int64_t n) {
    Limbs limbs{};
    const bool finite =
        weights
            ? add_to_limbs(
                  n, [=](std::int64_t i) { return weights[i] == 0 ? 0.0 : weights[i] * values[i]; }, limbs)
            : add_to_limbs(n, [=](std::int64_t i) { return values[i]; }, limbs);
    require(finite, "numbers to sum must be finite");
    const auto is_filled = [](std::int64_t limb) { return limb != 0; };
    const auto first = std::ranges::find_if(limbs, is_filled);
    auto last = limbs.end();
    while (last != first && *(last - 1) == 0) --last;
    return {{first, last}, first == last ? 0 : kLeastPower + (first - limbs.begin())};
}

}  // namespace hedgerow
