// Work space of the beam kernels that grows to the size of the longest sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lattice/fast_lane.hpp"

namespace hedgerow {

template <class Real>
class BeamRoom {
  public:
    BeamWork<Real> of(const BeamSize& size) {
        const auto numbers = static_cast<std::size_t>(size.numbers);
        const auto places = static_cast<std::size_t>(size.places);
        if (numbers_.size() < numbers) numbers_.resize(numbers);
        if (places_.size() < places) places_.resize(places);
        return {numbers_.data(), places_.data()};
    }

  private:
    std::vector<Real> numbers_;
    std::vector<std::int32_t> places_;
};

}  // namespace hedgerow
