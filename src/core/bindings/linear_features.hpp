// Owns and checks the arrays of Features for Python.
#pragma once

#include <cstdint>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "linear/features.hpp"

namespace hedgerow {

class LinearFeatures {
  public:
    LinearFeatures(Input<std::int64_t, 1> starts, Input<std::int32_t, 1> outputs, std::int64_t width)
        : starts_(std::move(starts)), outputs_(std::move(outputs)), width_(width) {
        const std::int64_t* s = starts_.data();
        const auto n_ids = static_cast<std::int64_t>(starts_.shape(0)) - 1;
        require(n_ids >= 0 && s[0] == 0 && width >= 1 && width < (std::int64_t{1} << 31),
                "starts must begin with 0, and the width must be at least 1");
        for (std::int64_t i = 0; i < n_ids; ++i) require(s[i] <= s[i + 1], "starts must not fall");
        require(s[n_ids] == static_cast<std::int64_t>(outputs_.shape(0)),
                "starts must end at the number of features");
        for (std::int64_t i = 0; i < n_ids; ++i) {
            for (std::int64_t f = s[i]; f < s[i + 1]; ++f) {
                const std::int32_t output = outputs_.data()[f];
                require(output >= 0 && output < width, "outputs must lie between 0 and the width - 1");
                require(f == s[i] || outputs_.data()[f - 1] < output,
                        "the outputs of an attribute must rise");
            }
        }
    }

    Features features() const {
        return {static_cast<std::int64_t>(starts_.shape(0)) - 1, width_, starts_.data(), outputs_.data()};
    }
    void check(const AttributeReader& reader) const {
        require(reader.n_ids() == features().n_ids, "features and reader must have the same attributes");
    }

  private:
    Input<std::int64_t, 1> starts_;
    Input<std::int32_t, 1> outputs_;
    std::int64_t width_;
};

}  // namespace hedgerow
