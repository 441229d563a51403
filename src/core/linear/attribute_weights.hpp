// The weights of attributes of an online learner, one per label.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/linear_kernels.hpp"
#include "linear/weight_rows.hpp"
#include "util/append_buffer.hpp"

namespace hedgerow {

// The weights of attributes. Only attributes whose weights have changed have a row; all other weights are 0.
class AttributeWeights {
  public:
    // Work space of score(), one for each thread.
    struct Buffers {
        struct Read {
            std::int32_t id;
            float value;
        };
        struct MixedRow {
            std::int64_t row;
            float weight;
            RowView view;
        };
        AppendBuffer<Read> reads;  // of the positions that are being scored
        AppendBuffer<WeightedRow> rows;
        AppendBuffer<MixedRow> mixed_rows;
        std::vector<std::int64_t> ends;  // by position, in reads and then in rows
    };

    // kept: which attributes may have weights.
    AttributeWeights(const std::uint8_t* kept, std::int64_t n_ids, std::int64_t n_labels, bool summed)
        : weights_(n_labels, summed), row_of_(n_ids) {
        for (std::int64_t id = 0; id < n_ids; ++id) row_of_[id] = kept[id] ? kUnchanged : kLeftOut;
    }

    std::int64_t n_ids() const { return static_cast<std::int64_t>(row_of_.size()); }

    // OUT: scores (last - first, labels) of the positions first..last of the sequence [begin, end):
    //
    //     scores(t, y) = sum over the attributes a of position t of value(t, a) weight(a, y)
    void score(const Slots& slots, std::int64_t first, std::int64_t last, std::int64_t begin,
               std::int64_t end, float* scores, Buffers& buffers) const;

    // The weights of an attribute.
    RowView row(std::int32_t id) const {
        return row_of_[id] >= 0 ? weights_.view(row_of_[id]) : RowView{nullptr, nullptr, 0};
    }

    bool keeps(std::int32_t id) const { return row_of_[id] != kLeftOut; }

    // weight(id, label) += amount; before: c_j of weight_rows.hpp.
    void add(std::int32_t id, std::int64_t label, float amount, double before) {
        if (row_of_[id] == kUnchanged) {
            row_of_[id] = n_rows_++;
            weights_.grow();
        }
        weights_.add(row_of_[id], label, amount, before);
    }

    // The same attributes without sums, with the weights that `copy` says.
    AttributeWeights copied(const WeightCopy& copy, std::int64_t n_threads) const {
        return {weights_.copied(copy, n_threads), row_of_, n_rows_};
    }
    // The sum of the squares of all weights.
    double squared_size(std::int64_t n_threads) const;

    // Prefetches what add() changes.
    void prefetch_weight(std::int32_t id, std::int64_t label) const {
        if (row_of_[id] >= 0) weights_.prefetch_weight(row_of_[id], label);
    }

    // Calls visit(label, weight) for the weights of an attribute that are not 0, by rising label.
    template <class Visit>
    void for_each_weight(std::int64_t id, const WeightCopy& copy, Visit visit) const {
        if (row_of_[id] >= 0) weights_.for_each_weight(row_of_[id], copy, visit);
    }

  private:
    static constexpr std::int32_t kUnchanged = -1, kLeftOut = -2;
    static constexpr std::int64_t kAhead = 16;  // rows that are prefetched
    AttributeWeights(WeightRows weights, std::vector<std::int32_t> row_of, std::int32_t n_rows)
        : weights_(std::move(weights)), row_of_(std::move(row_of)), n_rows_(n_rows) {}
    void add_dense_rows(float* scores, Buffers& buffers) const;
    void add_mixed_rows(float* scores, Buffers& buffers) const;

    WeightRows weights_;
    std::vector<std::int32_t> row_of_;
    std::int32_t n_rows_ = 0;
};

}  // namespace hedgerow
