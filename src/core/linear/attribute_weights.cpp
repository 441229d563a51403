#include "linear/attribute_weights.hpp"

#include <algorithm>

#include "util/prefetch.hpp"

namespace hedgerow {

// Three passes, each of which prefetches what the next one reads: attributes, row numbers, rows.
void AttributeWeights::score(const Slots& slots, std::int64_t first, std::int64_t last, std::int64_t begin,
                             std::int64_t end, float* scores) {
    const std::int64_t k = weights_.n_labels();
    std::fill_n(scores, (last - first) * k, 0.0f);
    reads_.clear();
    rows_.clear();
    ends_.clear();
    for (std::int64_t t = first; t < last; ++t) {
        for_each_id(slots, t, begin, end, [&](std::int32_t id, float value) {
            prefetch(&row_of_[id]);
            Read& read = reads_.push();
            read.id = id;
            read.value = value;
        });
        ends_.push_back(reads_.size());
    }
    const Read* read = reads_.begin();
    for (std::int64_t& stop : ends_) {
        for (; read < reads_.begin() + stop; ++read) {
            const std::int32_t row = row_of_[read->id];
            if (row < 0) continue;
            WeightedRow& added = rows_.push();
            added.row = values(row);
            added.weight = read->value;
            prefetch(added.row);
            prefetch(added.row + k - 1);
        }
        stop = rows_.size();
    }
    const auto add_rows = linear_kernels().add_rows;
    std::int64_t from = 0;
    for (const std::int64_t stop : ends_) {
        if (stop > from) add_rows(rows_.begin() + from, stop - from, k, scores);
        scores += k;
        from = stop;
    }
}

}  // namespace hedgerow
