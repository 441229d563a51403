#include "linear/features.hpp"

#include <algorithm>
#include <cmath>

namespace hedgerow {

namespace {

// Adds the counts of n outputs of one attribute; by_output: zeros before and after, (width).
void add_counts(std::int32_t* outputs, std::int64_t n, std::vector<std::int64_t>& by_output,
                FeatureCounts& found) {
    const auto add = [&](std::int32_t output, std::int64_t count) {
        found.outputs.push_back(output);
        found.counts.push_back(count);
    };
    if (n >= static_cast<std::int64_t>(by_output.size())) {
        for (std::int64_t i = 0; i < n; ++i) ++by_output[outputs[i]];
        for (std::size_t y = 0; y < by_output.size(); ++y)
            if (by_output[y] > 0) add(static_cast<std::int32_t>(y), by_output[y]);
        std::fill(by_output.begin(), by_output.end(), 0);
        return;
    }
    std::sort(outputs, outputs + n);
    for (std::int64_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && outputs[next] == outputs[i];) ++next;
        add(outputs[i], next - i);
    }
}

}  // namespace

FeatureCounts count_features(const AttributeView& attributes, std::int64_t first, std::int64_t last,
                             const std::int32_t* given, std::int64_t width) {
    // Calls visit(attribute, output) for every occurrence that is counted.
    const auto for_each_occurrence = [&](auto visit) {
        attributes.for_each_position(first, last, [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
            const std::int32_t output = given[t - first];
            if (output < 0) return;
            for_each_id(attributes.slots, t, begin, end, [&](std::int32_t id, float) { visit(id, output); });
        });
    };
    const auto n_ids = static_cast<std::size_t>(attributes.n_ids);
    std::vector<std::int64_t> at(n_ids + 1, 0);  // where the occurrences of each attribute begin, and the end
    for_each_occurrence([&](std::int32_t id, std::int32_t) { ++at[static_cast<std::size_t>(id) + 1]; });
    for (std::size_t i = 0; i < n_ids; ++i) at[i + 1] += at[i];
    std::vector<std::int32_t> seen(static_cast<std::size_t>(at.back()));
    for_each_occurrence([&](std::int32_t id, std::int32_t output) { seen[at[id]++] = output; });
    // Now at[i] is where the occurrences of attribute i end.
    FeatureCounts found{{0}, {}, {}};
    found.starts.reserve(n_ids + 1);
    std::vector<std::int64_t> by_output(static_cast<std::size_t>(width), 0);
    for (std::size_t i = 0; i < n_ids; ++i) {
        const std::int64_t begin = i == 0 ? 0 : at[i - 1];
        add_counts(seen.data() + begin, at[i] - begin, by_output, found);
        found.starts.push_back(static_cast<std::int64_t>(found.outputs.size()));
    }
    return found;
}

std::vector<float> largest_values(const AttributeView& attributes) {
    std::vector<float> largest(static_cast<std::size_t>(attributes.n_ids), 0.0f);
    attributes.for_each_position(
        0, attributes.n_positions(), [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
            for_each_id(attributes.slots, t, begin, end, [&](std::int32_t id, float value) {
                largest[id] = std::max(largest[id], std::fabs(value));
            });
        });
    return largest;
}

}  // namespace hedgerow
