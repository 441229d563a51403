// SplitMix64: random numbers that are fixed by a seed, so results do not depend on threads or platforms.
#pragma once

#include <cstdint>

namespace hedgerow {

constexpr std::uint64_t kGoldenRatio64 = 0x9E3779B97F4A7C15u;  // 2^64 divided by the golden ratio, odd

// Spreads the bits of x: the output function of SplitMix64.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits() { return mix_bits(state_ += kGoldenRatio64); }
    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

}  // namespace hedgerow
