// The training examples of online learners.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "util/interrupt.hpp"

namespace hedgerow {

// Sequences with gold labels and weights. The constructor checks all of them.
struct GoldSequences {
    const AttributeReader& reader;
    Input<std::int32_t, 1> gold;
    Input<double, 1> weights;

    GoldSequences(const AttributeReader& source, Input<std::int32_t, 1> labels,
                  Input<double, 1> sequence_weights, std::int64_t n_labels)
        : reader(source), gold(std::move(labels)), weights(std::move(sequence_weights)) {
        require(static_cast<std::int64_t>(gold.shape(0)) == reader.n_positions(),
                "there must be one gold label per position");
        require(static_cast<std::int64_t>(weights.shape(0)) == reader.n_sequences(),
                "there must be one weight per sequence");
        for (std::size_t t = 0; t < gold.shape(0); ++t)
            require(gold.data()[t] >= 0 && gold.data()[t] < n_labels,
                    "gold labels must lie between 0 and n_labels - 1");
    }

    // Calls learn(begin, end, gold labels of the sequence, weight) for each sequence in `order`.
    template <class Learn>
    void each(const Input<std::int64_t, 1>& order, Learn learn) const {
        for (std::size_t i = 0; i < order.shape(0); ++i)
            require(order.data()[i] >= 0 && order.data()[i] < reader.n_sequences(),
                    "the order must hold indices of sequences");
        const nb::gil_scoped_release release;
        InterruptPoll poll;
        for (std::size_t e = 0; e < order.shape(0); ++e) {
            const std::int64_t i = order.data()[e], begin = reader.starts()[i];
            learn(begin, reader.starts()[i + 1], gold.data() + begin, weights.data()[i]);
            poll();
        }
    }
};

}  // namespace hedgerow
