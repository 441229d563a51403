// Which examples a tree is fitted to: influence trimming and sampling by example (Dietterich et al. 2004,
// section 3). An example is a pair of a position and a label context.
#pragma once

#include <cstdint>

#include "trees/growth_rules.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

// Writes kLeftOut in the place of the residuals of examples that are trimmed or not drawn. IN/OUT: residuals
// (cells, width) of one label. first_position: the number of the first position among those of all members of
// a group, because a draw depends on the number of a position, its label context and the seed alone.
void leave_out_examples(const TreeData& data, const GrowthRules& rules, std::int64_t n_labels,
                        std::int64_t width, std::int64_t first_position, std::uint64_t seed,
                        std::int32_t* residuals);

}  // namespace hedgerow
