#include "linear/features.hpp"

#include <algorithm>

namespace hedgerow {

namespace {

// Calls visit(attribute, output) for every occurrence that is counted.
template <class Visit>
void for_each_occurrence(const AttributeView& attributes, const std::int32_t* given, Visit visit) {
    attributes.for_each_position(0, attributes.n_positions(),
                                 [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
                                     if (given[t] < 0) return;
                                     for_each_id(attributes.slots, t, begin, end,
                                                 [&](std::int32_t id, float) { visit(id, given[t]); });
                                 });
}

// Where the occurrences of each attribute begin if they are sorted by attribute, and the end.
std::vector<std::int64_t> occurrence_starts(const AttributeView& attributes, const std::int32_t* given) {
    const auto n_ids = static_cast<std::size_t>(attributes.n_ids);
    std::vector<std::int64_t> first(n_ids + 1, 0);
    for_each_occurrence(attributes, given,
                        [&](std::int32_t id, std::int32_t) { ++first[static_cast<std::size_t>(id) + 1]; });
    for (std::size_t i = 0; i < n_ids; ++i) first[i + 1] += first[i];
    return first;
}

}  // namespace

FeatureLists observed_features(const AttributeView& attributes, const std::int32_t* given,
                               std::int64_t min_count) {
    const std::vector<std::int64_t> first = occurrence_starts(attributes, given);
    std::vector<std::int32_t> seen(static_cast<std::size_t>(first.back()));
    std::vector<std::int64_t> at(first.begin(), first.end() - 1);
    for_each_occurrence(attributes, given,
                        [&](std::int32_t id, std::int32_t output) { seen[at[id]++] = output; });
    FeatureLists features{{0}, {}};
    features.starts.reserve(first.size());
    for (std::size_t i = 0; i + 1 < first.size(); ++i) {
        std::sort(seen.begin() + first[i], seen.begin() + first[i + 1]);
        for (std::int64_t j = first[i], next; j < first[i + 1]; j = next) {
            for (next = j + 1; next < first[i + 1] && seen[next] == seen[j];) ++next;
            if (next - j >= min_count) features.outputs.push_back(seen[j]);
        }
        features.starts.push_back(static_cast<std::int64_t>(features.outputs.size()));
    }
    return features;
}

FeatureLists dense_features(const AttributeView& attributes, const std::int32_t* given, std::int32_t width,
                            std::int64_t min_count) {
    const std::vector<std::int64_t> first = occurrence_starts(attributes, given);
    FeatureLists features{{0}, {}};
    features.starts.reserve(first.size());
    for (std::size_t i = 0; i + 1 < first.size(); ++i) {
        if (first[i + 1] - first[i] >= min_count && first[i + 1] > first[i])
            for (std::int32_t y = 0; y < width; ++y) features.outputs.push_back(y);
        features.starts.push_back(static_cast<std::int64_t>(features.outputs.size()));
    }
    return features;
}

}  // namespace hedgerow
