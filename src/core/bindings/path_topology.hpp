// The topology and the constraints of learners that search paths.
#pragma once

#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "lattice/forbidden.hpp"
#include "lattice/topology.hpp"

namespace hedgerow {

inline Topology checked_topology(std::int64_t n_labels, std::int64_t order) {
    require(n_labels >= 1 && order >= 0, "n_labels must be at least 1, and order at least 0");
    const Topology topology{n_labels, order};
    require(topology.is_manageable(), "n_labels^(order + 1) must be below 2^40");
    return topology;
}

using Cells = Input<std::int64_t, 1>;
using LabelSet = Input<std::int32_t, 1>;

// cells: of the table of the lattice that these scores need.
inline Forbidden checked_forbidden(const Topology& scores, const Cells& cells, const LabelSet& never_last) {
    Forbidden forbidden{{cells.data(), cells.data() + cells.shape(0)},
                        {never_last.data(), never_last.data() + never_last.shape(0)}};
    const std::int64_t n_cells = forbidden.lattice_of(scores).n_rows() * scores.n_labels;
    for (const std::int64_t cell : forbidden.cells)
        require(cell >= 0 && cell < n_cells, "forbidden must be cells of the transition table");
    for (const std::int32_t label : forbidden.never_last)
        require(label >= 0 && label < scores.n_labels, "never_last must be labels");
    return forbidden;
}

}  // namespace hedgerow
