// A row of weights, one per label, as it is read.
#pragma once

#include <cstdint>

namespace hedgerow {

struct LabelWeight {
    std::int32_t label;
    float weight;
};

// One weight per label if `dense` is not null, otherwise n cells; labels without a cell have the weight 0.
struct RowView {
    const float* dense;
    const LabelWeight* cells;
    std::int64_t n;

    float operator[](std::int64_t label) const {
        if (dense) return dense[label];
        for (std::int64_t i = 0; i < n; ++i)
            if (cells[i].label == label) return cells[i].weight;
        return 0.0f;
    }
};

}  // namespace hedgerow
