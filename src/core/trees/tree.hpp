// Trees as they are grown, stored and compiled.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

// A test on what is read (`id` >= 0: the window reads it, or a bin not above it) or on a previous label
// (`lag` >= 0); neither at a leaf. It also holds for the `others`: further ids of the slot, or labels.
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
    // Of positions where what is read is missing: other tests on what is read that say which way they go, an
    // id or, where it is the opposite, ~id, the best first; and what share goes where the test holds when all
    // of these miss a value too.
    std::vector<std::int32_t> surrogates;
    double share = -1;  // where it is not known yet, or there is no such test
};

}  // namespace hedgerow
