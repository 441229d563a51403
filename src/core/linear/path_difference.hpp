// Where the features of a path differ from those of gold.
#pragma once

#include <cstdint>

#include "linear/n_gram_weights.hpp"

namespace hedgerow {

// Calls visit_position(t) where the first n labels differ, and visit_cell(gold or path, cell) for the n-grams
// of both: these also differ at the `order` positions that follow.
template <class VisitPosition, class VisitCell>
void for_each_difference(const NGramWeights& n_grams, std::int64_t order, const std::int32_t* gold,
                         const std::int32_t* path, std::int64_t n, VisitPosition visit_position,
                         VisitCell visit_cell) {
    std::int64_t differed = -order - 1;  // the last position where gold and path differ
    for (std::int64_t t = 0; t < n; ++t) {
        if (gold[t] != path[t]) {
            differed = t;
            visit_position(t);
        }
        if (t - differed > order) continue;
        n_grams.for_each_cell(gold, t, [&](std::int64_t cell) { visit_cell(gold, cell); });
        n_grams.for_each_cell(path, t, [&](std::int64_t cell) { visit_cell(path, cell); });
    }
}

}  // namespace hedgerow
