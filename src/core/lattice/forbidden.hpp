// Label sequences that constraints forbid, as cells of a transition table and as labels that end no sequence.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "lattice/topology.hpp"

namespace hedgerow {

// cells: of the table of a lattice whose order is at least 1, because constraints depend on the previous
// label. Scores of order 0 are therefore lifted to order 1.
struct Forbidden {
    std::vector<std::int64_t> cells;
    std::vector<std::int32_t> never_last;

    bool any() const { return !cells.empty() || !never_last.empty(); }

    // The topology of the lattice of these scores.
    Topology lattice_of(const Topology& scores) const {
        return any() && scores.order == 0 ? Topology{scores.n_labels, 1} : scores;
    }

    // OUT: the table for the lattice, minus infinity in forbidden cells. IN: the table of the scores.
    void apply(const Topology& scores, const float* table, std::vector<float>& out) const {
        const std::int64_t k = scores.n_labels, rows = lattice_of(scores).n_rows();
        out.resize(static_cast<std::size_t>(rows * k));
        const std::int64_t n = scores.n_rows() * k;
        for (std::int64_t i = 0; i < rows * k; ++i) out[i] = table[i % n];  // order 0: its row is repeated
        for (const std::int64_t cell : cells) out[cell] = kNever;
    }

    // state[y] <- minus infinity for labels that end no sequence; state: the scores of the last position.
    void apply_to_end(float* state) const {
        for (const std::int32_t y : never_last) state[y] = kNever;
    }

    static constexpr float kNever = -std::numeric_limits<float>::infinity();
};

}  // namespace hedgerow
