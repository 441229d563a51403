// The features of a linear model: pairs of an attribute and an output (a label, or a label n-gram).
#pragma once

#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"

namespace hedgerow {

constexpr std::int64_t kThreadPositions = 512;  // positions that one task of a thread scores

// Attribute i has the features f with starts[i] <= f < starts[i + 1]. Feature f adds its weight to
// outputs[f], which is below `width`. The outputs of one attribute are in rising order.
struct Features {
    std::int64_t n_ids;
    std::int64_t width;
    const std::int64_t* starts;
    const std::int32_t* outputs;

    std::int64_t n() const { return starts[n_ids]; }
};

// An attribute with features for more than 1 / kFewOutputs of the outputs is stored as a row of all outputs.
constexpr std::int64_t kFewOutputs = 8;

inline bool is_sparse(std::int64_t n_features, std::int64_t width) {
    return n_features * kFewOutputs <= width || n_features == 1;
}

struct FeatureLists {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> outputs;
};

// The pairs of an attribute and an output that occur together at least min_count times. given: the output at
// each position; a position with a negative output is not counted.
FeatureLists observed_features(const AttributeView& attributes, const std::int32_t* given,
                               std::int64_t min_count);

// Every pair of an output and an attribute that occurs at least min_count times (and at least once).
FeatureLists dense_features(const AttributeView& attributes, const std::int32_t* given, std::int32_t width,
                            std::int64_t min_count);

}  // namespace hedgerow
