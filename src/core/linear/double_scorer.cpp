#include "linear/double_scorer.hpp"

#include <algorithm>

#include "util/parallel.hpp"

namespace hedgerow {

DoubleScorer::DoubleScorer(const Features& features, const double* weights) : width_(features.width) {
    starts_.reserve(static_cast<std::size_t>(features.n_ids) + 1);
    for (std::int64_t i = 0; i < features.n_ids; ++i) {
        starts_.push_back(static_cast<std::int64_t>(features_.size()));
        for (std::int64_t f = features.starts[i]; f < features.starts[i + 1]; ++f)
            if (weights[f] != 0) features_.push_back({weights[f], features.outputs[f]});
    }
    starts_.push_back(static_cast<std::int64_t>(features_.size()));
}

void DoubleScorer::score(const AttributeView& attributes, std::int64_t first, std::int64_t last,
                         std::int64_t skip, double* scores, std::int64_t n_threads) const {
    const auto score_range = [&](std::int64_t from, std::int64_t to) {
        attributes.for_each_position(from, to, [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
            double* row = scores + (t - first) * width_;
            std::fill_n(row, width_, 0.0);
            if (t - begin < skip) return;
            for_each_id(attributes.slots, t, begin, end, [&](std::int32_t id, float value) {
                const auto number = static_cast<double>(value);
                for (std::int64_t f = starts_[id]; f < starts_[id + 1]; ++f)
                    row[features_[f].output] += number * features_[f].weight;
            });
        });
    };
    parallel_for((last - first + kThreadPositions - 1) / kThreadPositions, n_threads, [&] {
        return [&](std::int64_t c) {
            const std::int64_t from = first + c * kThreadPositions;
            score_range(from, std::min(last, from + kThreadPositions));
        };
    });
}

}  // namespace hedgerow
