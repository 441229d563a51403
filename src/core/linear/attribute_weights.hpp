// The weights of attributes of an online learner, one per label.
#pragma once

#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/linear_kernels.hpp"
#include "linear/weight_rows.hpp"
#include "util/append_buffer.hpp"

namespace hedgerow {

// The weights of attributes. Only attributes whose weights have changed have a row; all other weights are 0.
class AttributeWeights {
  public:
    // kept: which attributes may have weights.
    AttributeWeights(const std::uint8_t* kept, std::int64_t n_ids, std::int64_t n_labels, bool summed)
        : weights_(n_labels, summed), row_of_(n_ids) {
        for (std::int64_t id = 0; id < n_ids; ++id) row_of_[id] = kept[id] ? kUnchanged : kLeftOut;
    }

    std::int64_t n_ids() const { return static_cast<std::int64_t>(row_of_.size()); }
    // The attribute of each row.
    const std::vector<std::int32_t>& ids() const { return ids_; }
    const float* values(std::int64_t row) const { return weights_.values(row); }
    // Null without sums.
    const double* sums(std::int64_t row) const { return weights_.sums(row); }
    // The row of an attribute; negative if there is none.
    std::int64_t row(std::int64_t id) const { return row_of_[id]; }

    // OUT: scores (end - begin, labels) of the sequence [begin, end).
    void score(const Slots& slots, std::int64_t begin, std::int64_t end, float* scores) {
        score(slots, begin, end, begin, end, scores);
    }

    // OUT: scores (last - first, labels) of the positions first..last of the sequence [begin, end):
    //
    //     scores(t, y) = sum over the attributes a of position t of value(t, a) weight(a, y)
    void score(const Slots& slots, std::int64_t first, std::int64_t last, std::int64_t begin,
               std::int64_t end, float* scores);

    bool keeps(std::int32_t id) const { return row_of_[id] != kLeftOut; }

    // weight(id, label) += amount; before: c_j of weight_rows.hpp.
    void add(std::int32_t id, std::int64_t label, float amount, double before) {
        if (row_of_[id] == kUnchanged) {
            row_of_[id] = static_cast<std::int32_t>(ids_.size());
            ids_.push_back(id);
            weights_.grow();
        }
        weights_.add(row_of_[id], label, amount, before);
    }

  private:
    static constexpr std::int32_t kUnchanged = -1, kLeftOut = -2;
    struct Read {
        std::int32_t id;
        float value;
    };
    WeightRows weights_;
    std::vector<std::int32_t> row_of_;
    std::vector<std::int32_t> ids_;
    AppendBuffer<Read> reads_;  // of the positions that are being scored
    AppendBuffer<WeightedRow> rows_;
    std::vector<std::int64_t> ends_;  // by position, in reads_ and then in rows_
};

}  // namespace hedgerow
