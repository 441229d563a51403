// Sequences in batches, and where the attributes of each batch occur.
#pragma once

#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/features.hpp"

namespace hedgerow {

// The i-th of the sequences that are given belongs to batch i modulo the number of batches. The positions of
// a batch are numbered from 0: its rows.
class Batches {
  public:
    Batches(const AttributeView& attributes, const Features& features,
            const std::vector<std::int64_t>& sequences, std::int64_t n_batches);

    struct Sequence {
        std::int64_t index;
        std::int64_t row;  // of its first position
    };
    // An attribute of a batch: its occurrences and its features end where those of the next one begin.
    struct Attribute {
        std::int32_t id;
        std::int32_t occurrences;  // the first, counted from that of the batch
        std::int32_t features;     // the first, counted within the batch
        std::int32_t first;        // the first feature, counted over all
    };
    struct Batch {
        std::vector<Sequence> sequences;
        std::int64_t n_rows = 0;
        std::vector<Attribute> attributes;  // by id, and one more for the ends
        std::vector<std::int32_t> rows;     // of the occurrences
        std::vector<float> values;          // of the occurrences; empty if all values are 1
        std::vector<std::int64_t> cuts;     // indices into attributes: a task goes from one to the next
    };

    std::int64_t size() const { return static_cast<std::int64_t>(batches_.size()); }
    const Batch& operator[](std::int64_t b) const { return batches_[static_cast<std::size_t>(b)]; }

  private:
    void place_sequences(const AttributeView& attributes, const std::vector<std::int64_t>& sequences);
    void place_occurrences(const AttributeView& attributes, const Features& features);

    std::vector<Batch> batches_;
};

}  // namespace hedgerow
