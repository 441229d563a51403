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

// How often each attribute occurs with each output: attribute i has the outputs outputs[j], in rising order,
// counts[j] times each, for starts[i] <= j < starts[i + 1].
struct FeatureCounts {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> outputs;
    std::vector<std::int64_t> counts;
};

// Of the positions first..last. given: the output at each of them, below `width`; a position with a negative
// output is not counted.
FeatureCounts count_features(const AttributeView& attributes, std::int64_t first, std::int64_t last,
                             const std::int32_t* given, std::int64_t width);

// OUT: by attribute the largest absolute value at any position, 0 if the attribute does not occur.
std::vector<float> largest_values(const AttributeView& attributes);

}  // namespace hedgerow
