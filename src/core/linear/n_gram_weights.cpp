#include "linear/n_gram_weights.hpp"

namespace hedgerow {

// A context's oldest label is its last digit, so h / K is the context h of one label fewer.
void sum_shorter_contexts(const Topology& topology, float* table) {
    const std::int64_t k = topology.n_labels;
    for (std::int64_t m = 1; m <= topology.order; ++m) {
        float* longer = table + topology.first_row(m) * k;
        const float* shorter = table + topology.first_row(m - 1) * k;
        for (std::int64_t h = 0; h < topology.power(m); ++h)
            for (std::int64_t y = 0; y < k; ++y) longer[h * k + y] += shorter[h / k * k + y];
    }
}

void sum_longer_contexts(const Topology& topology, double* cells) {
    const std::int64_t k = topology.n_labels;
    for (std::int64_t m = topology.order; m >= 1; --m) {
        const double* longer = cells + topology.first_row(m) * k;
        double* shorter = cells + topology.first_row(m - 1) * k;
        for (std::int64_t h = 0; h < topology.power(m); ++h)
            for (std::int64_t y = 0; y < k; ++y) shorter[h / k * k + y] += longer[h * k + y];
    }
}

void NGramWeights::add(std::int64_t cell, float amount, double before) {
    const std::int64_t k = topology_.n_labels, label = cell % k;
    values_[cell] += amount;
    if (!sums_.empty()) sums_[cell] += before * static_cast<double>(amount);
    std::int64_t m = 0;
    while (m < topology_.order && topology_.first_row(m + 1) <= cell / k) ++m;
    const std::int64_t context = cell / k - topology_.first_row(m);
    for (std::int64_t width = 1; m <= topology_.order; ++m, width *= k) {
        float* rows = table_.data() + (topology_.first_row(m) + context * width) * k + label;
        for (std::int64_t r = 0; r < width; ++r) rows[r * k] += amount;
    }
}

}  // namespace hedgerow
