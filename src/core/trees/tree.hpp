// A tree while it is grown or compiled; tree_records.hpp has the flat form that Python sees.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

// A test on an attribute (`attribute` >= 0: the position has it; for a bin: it has this bin or a lower one),
// or on the label `lag` + 1 positions back (`lag` >= 0; label K means `start`). A leaf has neither. The test
// also holds for its alternatives: further attributes of the same slot, or further labels.
struct Test {
    std::int32_t attribute = -1;
    std::int32_t lag = -1;
    std::int32_t label = -1;
    std::vector<std::int32_t> alternatives;
    bool is_leaf() const { return attribute < 0 && lag < 0; }
};

struct TreeNode {
    Test test;
    std::int32_t if_true = -1, if_false = -1;
    double value = 0;
    double gain = 0;
    std::int64_t count = 0;
    // Where the tested value is missing, the first surrogate whose own value is not missing decides: an
    // attribute, or ~attribute if the opposite of that test decides.
    std::vector<std::int32_t> surrogates;
    // Where no surrogate decides: the fraction of the position that goes to `if_true`. -1 until it is known.
    double true_fraction = -1;
};

}  // namespace hedgerow
