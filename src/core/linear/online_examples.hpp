// Training examples of online learners, in the order in which they are learned from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "data/attribute_reader.hpp"

namespace hedgerow {

// The sequence at the positions [begin, end).
struct OnlineExample {
    const Slots& slots;
    std::int64_t begin, end;
    const std::int32_t* gold;  // by position
    float weight;

    std::int64_t length() const { return end - begin; }
};

struct OnlineExamples {
    Slots slots;
    const std::int64_t* starts;  // of all sequences, and the end
    const std::int32_t* gold;    // of all positions
    const double* weights;       // of all sequences
    const std::int64_t* order;   // which sequences
    std::int64_t n;              // size of `order`

    double weight(std::int64_t i) const { return weights[order[i]]; }
    OnlineExample operator[](std::int64_t i) const {
        const std::int64_t begin = starts[order[i]];
        return {slots, begin, starts[order[i] + 1], gold + begin, static_cast<float>(weights[order[i]])};
    }
};

// The numbers of all examples, batch by batch, the longest of each batch first: threads that take them in
// this order finish at about the same time.
inline std::vector<std::int64_t> longest_first(const OnlineExamples& examples, std::int64_t batch) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(examples.n));
    std::iota(numbers.begin(), numbers.end(), 0);
    for (std::int64_t first = 0; first < examples.n; first += batch) {
        std::stable_sort(
            numbers.begin() + first, numbers.begin() + std::min(examples.n, first + batch),
            [&](std::int64_t i, std::int64_t j) { return examples[i].length() > examples[j].length(); });
    }
    return numbers;
}

}  // namespace hedgerow
