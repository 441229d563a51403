// The training examples of online learners.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "linear/attribute_weights.hpp"
#include "linear/online_examples.hpp"
#include "util/interrupt.hpp"
#include "util/parallel.hpp"

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

    // The sequences in `order`, which must live as long as the result.
    OnlineExamples in(const Input<std::int64_t, 1>& order) const {
        check(order);
        return {reader.slots(), reader.starts(), gold.data(),
                weights.data(), order.data(),    static_cast<std::int64_t>(order.shape(0))};
    }

    // Calls learn(begin, end, gold labels of the sequence, weight) for each sequence in `order`.
    template <class Learn>
    void each(const Input<std::int64_t, 1>& order, Learn learn) const {
        check(order);
        const nb::gil_scoped_release release;
        InterruptPoll poll;
        for (std::size_t e = 0; e < order.shape(0); ++e) {
            const std::int64_t i = order.data()[e], begin = reader.starts()[i];
            learn(begin, reader.starts()[i + 1], gold.data() + begin, weights.data()[i]);
            poll();
        }
    }

  private:
    void check(const Input<std::int64_t, 1>& order) const {
        for (std::size_t i = 0; i < order.shape(0); ++i)
            require(order.data()[i] >= 0 && order.data()[i] < reader.n_sequences(),
                    "the order must hold indices of sequences");
    }
};

inline void check_batch(std::int64_t batch, std::int64_t n_threads) {
    require(batch >= 1 && n_threads >= 1, "batch and n_threads must be at least 1");
}

// (starts, labels, weights): the weights that are not 0, by attribute and rising label.
inline nb::tuple weights_by_attribute(const AttributeWeights& attributes, const WeightCopy& copy,
                                      std::int64_t n_threads) {
    constexpr std::int64_t kIds = 8192;  // attributes that a thread copies at a time
    struct Part {
        std::vector<std::int32_t> labels;
        std::vector<float> weights;
    };
    const std::int64_t n_ids = attributes.n_ids(), n_parts = (n_ids + kIds - 1) / kIds;
    std::vector<Part> parts(static_cast<std::size_t>(n_parts));
    std::vector<std::int64_t> starts(static_cast<std::size_t>(n_ids) + 1, 0);
    parallel_for(n_parts, n_threads, [&] {
        return [&](std::int64_t p) {
            for (std::int64_t id = p * kIds; id < std::min(n_ids, (p + 1) * kIds); ++id) {
                attributes.for_each_weight(id, copy, [&](std::int32_t label, float weight) {
                    parts[p].labels.push_back(label);
                    parts[p].weights.push_back(weight);
                    ++starts[id + 1];
                });
            }
        };
    });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    const auto n = static_cast<std::size_t>(starts.back());
    Output<std::int32_t, 1> labels({n});
    Output<float, 1> weights({n});
    for (std::int64_t p = 0; p < n_parts; ++p) {
        std::copy(parts[p].labels.begin(), parts[p].labels.end(), labels.data() + starts[p * kIds]);
        std::copy(parts[p].weights.begin(), parts[p].weights.end(), weights.data() + starts[p * kIds]);
        parts[p] = {};
    }
    return nb::make_tuple(to_array(std::move(starts)), labels.array(), weights.array());
}

}  // namespace hedgerow
