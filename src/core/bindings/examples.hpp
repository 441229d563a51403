// What learners that take one sequence after the other are given.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "linear/online.hpp"

namespace hedgerow {

// Sequences with gold labels and weights; checked.
struct Examples {
    const AttributeReader& reader;
    Input<std::int32_t, 1> gold;
    Input<double, 1> weights;

    Examples(const AttributeReader& source, Input<std::int32_t, 1> labels, Input<double, 1> by_sequence,
             std::int64_t n_labels)
        : reader(source), gold(std::move(labels)), weights(std::move(by_sequence)) {
        require(static_cast<std::int64_t>(gold.shape(0)) == reader.n_positions(),
                "a label for each position");
        require(static_cast<std::int64_t>(weights.shape(0)) == reader.n_sequences(),
                "a weight for each sequence");
        for (std::size_t t = 0; t < gold.shape(0); ++t)
            require(gold.data()[t] >= 0 && gold.data()[t] < n_labels, "labels are below n_labels");
    }

    // learn(begin, end, gold from begin on, weight) for the sequences of `order`, in turn.
    template <class Learn>
    void each(const Input<std::int64_t, 1>& order, Learn learn) const {
        for (std::size_t i = 0; i < order.shape(0); ++i)
            require(order.data()[i] >= 0 && order.data()[i] < reader.n_sequences(), "sequences there are");
        const nb::gil_scoped_release release;
        each_in_turn(order.data(), static_cast<std::int64_t>(order.shape(0)), [&](std::int64_t i) {
            const std::int64_t begin = reader.starts()[i];
            learn(begin, reader.starts()[i + 1], gold.data() + begin, weights.data()[i]);
        });
    }
};

}  // namespace hedgerow
