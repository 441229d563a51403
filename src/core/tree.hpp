// Trees as they are grown, stored and compiled.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

// A test on what is read (`id` >= 0: the window reads it, or a bin not above it) or on a previous label
// (`lag`
// >= 0); neither at a leaf. It also holds for the `others`: further ids of the slot, or labels.
struct Test {
    std::int32_t id = -1;
    std::int32_t lag = -1;
    std::int32_t label = -1;
    std::vector<std::int32_t> others;
    bool is_leaf() const { return id < 0 && lag < 0; }
};

struct TreeNode {
    Test test;
    std::int32_t if_true = -1, if_false = -1;
    double value = 0;
    double gain = 0;
    std::int64_t count = 0;
};

}  // namespace hedgerow
