// A digest of each sequence: a number that depends only on its attributes, gold labels and weight.
#pragma once

#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"

namespace hedgerow {

// gold: one label per position; weights: one per sequence.
std::vector<std::uint64_t> sequence_digests(const AttributeView& attributes, const std::int32_t* gold,
                                            const double* weights, std::int64_t n_threads);

}  // namespace hedgerow
