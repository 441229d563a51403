#include "linear/batches.hpp"

#include "util/require.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kOccurrencesOfTask = 512;  // occurrences that one task of a thread sums

struct BatchOccurrence {
    std::int32_t batch, row;
    float value;
};

// All occurrences of attributes with features, sorted by attribute and within an attribute by batch and row.
struct SortedOccurrences {
    std::vector<std::int64_t> starts;  // by attribute
    std::vector<BatchOccurrence> items;
    bool all_ones = true;
};

SortedOccurrences sort_occurrences(const AttributeView& attributes, const Features& features,
                                   const Batches& batches) {
    SortedOccurrences sorted;
    const auto for_each = [&](auto visit) {
        for (std::int64_t b = 0; b < batches.size(); ++b) {
            for (const Batches::Sequence& sequence : batches[b].sequences) {
                const std::int64_t begin = attributes.starts[sequence.index];
                const std::int64_t end = attributes.starts[sequence.index + 1];
                for (std::int64_t t = begin; t < end; ++t) {
                    const auto row = static_cast<std::int32_t>(sequence.row + t - begin);
                    for_each_id(attributes.slots, t, begin, end, [&](std::int32_t id, float value) {
                        if (features.starts[id] < features.starts[id + 1])
                            visit(id, BatchOccurrence{static_cast<std::int32_t>(b), row, value});
                    });
                }
            }
        }
    };
    sorted.starts.assign(static_cast<std::size_t>(features.n_ids) + 1, 0);
    for_each([&](std::int32_t id, const BatchOccurrence& occurrence) {
        ++sorted.starts[static_cast<std::size_t>(id) + 1];
        sorted.all_ones = sorted.all_ones && occurrence.value == 1.0f;
    });
    for (std::int64_t i = 0; i < features.n_ids; ++i) sorted.starts[i + 1] += sorted.starts[i];
    sorted.items.resize(static_cast<std::size_t>(sorted.starts.back()));
    std::vector<std::int64_t> at(sorted.starts.begin(), sorted.starts.end() - 1);
    for_each(
        [&](std::int32_t id, const BatchOccurrence& occurrence) { sorted.items[at[id]++] = occurrence; });
    return sorted;
}

}  // namespace

Batches::Batches(const AttributeView& attributes, const Features& features,
                 const std::vector<std::int64_t>& sequences, std::int64_t n_batches)
    : batches_(static_cast<std::size_t>(n_batches)) {
    place_sequences(attributes, sequences);
    place_occurrences(attributes, features);
}

void Batches::place_sequences(const AttributeView& attributes, const std::vector<std::int64_t>& sequences) {
    for (std::size_t n = 0; n < sequences.size(); ++n) {
        const std::int64_t i = sequences[n];
        Batch& batch = batches_[n % batches_.size()];
        batch.sequences.push_back({i, batch.n_rows});
        batch.n_rows += attributes.starts[i + 1] - attributes.starts[i];
    }
}

void Batches::place_occurrences(const AttributeView& attributes, const Features& features) {
    const SortedOccurrences sorted = sort_occurrences(attributes, features, *this);
    std::vector<std::int32_t> n_features(batches_.size(), 0);
    for (std::int32_t id = 0; id < features.n_ids; ++id) {
        const auto own = static_cast<std::int32_t>(features.starts[id + 1] - features.starts[id]);
        for (std::int64_t o = sorted.starts[id]; o < sorted.starts[id + 1]; ++o) {
            const BatchOccurrence& occurrence = sorted.items[o];
            Batch& batch = batches_[occurrence.batch];
            if (batch.attributes.empty() || batch.attributes.back().id != id) {
                const auto n = static_cast<std::int64_t>(batch.rows.size());
                const auto i = static_cast<std::int64_t>(batch.attributes.size());
                if (batch.cuts.empty() ||
                    n - batch.attributes[batch.cuts.back()].occurrences >= kOccurrencesOfTask)
                    batch.cuts.push_back(i);
                batch.attributes.push_back({id, static_cast<std::int32_t>(n), n_features[occurrence.batch],
                                            static_cast<std::int32_t>(features.starts[id])});
                n_features[occurrence.batch] += own;
            }
            batch.rows.push_back(occurrence.row);
            if (!sorted.all_ones) batch.values.push_back(occurrence.value);
        }
    }
    for (std::size_t b = 0; b < batches_.size(); ++b) {
        Batch& batch = batches_[b];
        require(batch.rows.size() < std::size_t{1} << 31,
                "a batch must have fewer than 2^31 occurrences of attributes; divide long sequences");
        batch.cuts.push_back(static_cast<std::int64_t>(batch.attributes.size()));
        batch.attributes.push_back({-1, static_cast<std::int32_t>(batch.rows.size()), n_features[b], 0});
    }
}

}  // namespace hedgerow
