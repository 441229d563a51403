// Labels and order of a lattice: how label contexts and the rows of a transition table are numbered.
#pragma once

#include <algorithm>
#include <cstdint>

#include "util/label_context.hpp"

namespace hedgerow {

// Label context of position t: the m = min(t, order) labels before it, most recent first, read as a number in
// base K: h = y[t-1] K^(m-1) + ... + y[t-m]. At t = 0 the only label context is 0.
// State of a node at t: the same number over the last min(t + 1, max(order, 1)) labels, y[t] included. The
// sources of a node differ only in the oldest label, which is the last digit, so they are neighbours.
struct Topology {
    std::int64_t n_labels;
    std::int64_t order;

    std::int64_t memory() const { return std::max<std::int64_t>(order, 1); }

    // Whether K^(order + 1) is small enough to compute with; larger tables do not fit into memory anyway.
    bool is_manageable() const {
        double n_cells = 1;
        for (std::int64_t m = 0; m <= order; ++m) n_cells *= static_cast<double>(n_labels);
        return n_cells < static_cast<double>(std::int64_t{1} << 40);
    }

    // K^n
    std::int64_t power(std::int64_t n) const {
        std::int64_t p = 1;
        for (; n > 0; --n) p *= n_labels;
        return p;
    }
    std::int64_t n_label_contexts() const { return power(order); }

    std::int64_t label_context(const std::int32_t* labels, std::int64_t t) const {
        return hedgerow::label_context(labels, t, std::min(t, order), n_labels);
    }

    // The first row of a table for label contexts of m = min(t, order) labels: 1 + K + ... + K^(m-1).
    std::int64_t first_row(std::int64_t t) const {
        std::int64_t row = 0, block = 1;
        for (std::int64_t m = std::min(t, order); m > 0; --m, block *= n_labels) row += block;
        return row;
    }
    std::int64_t n_rows() const { return first_row(order) + n_label_contexts(); }
};

}  // namespace hedgerow
