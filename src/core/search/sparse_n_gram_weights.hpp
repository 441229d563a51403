// Sparse weights of label n-grams: (label context of j labels, next label) for all j up to the order. Only
// label contexts with weights use memory, so the order may be high. linear/n_gram_weights.hpp holds the dense
// weights of a lattice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/weight_rows.hpp"
#include "search/label_codes.hpp"
#include "util/random.hpp"

namespace hedgerow {

class SparseNGramWeights {
  public:
    SparseNGramWeights(const LabelCodes& codes, std::int64_t n_labels, bool summed)
        : codes_(codes), weights_(n_labels, summed) {}

    const LabelCodes& codes() const { return codes_; }
    std::int64_t n_labels() const { return weights_.n_labels(); }

    // Calls visit(RowView of weights by next label) for each label context of `code` that has weights.
    template <class Visit>
    void for_each_row(std::int64_t code, std::int64_t step, Visit visit) const {
        codes_.for_each_context(code, step, [&](std::int64_t context) {
            const std::int64_t row = index_.find(context);
            if (row >= 0) visit(weights_.view(row));
        });
    }

    float weight(std::int64_t context, std::int64_t label) const {
        const std::int64_t row = index_.find(context);
        return row >= 0 ? weights_.view(row)[label] : 0.0f;
    }
    void add(std::int64_t context, std::int64_t label, float amount, double before) {
        weights_.add(row_of(context), label, amount, before);
    }
    // No hypothesis uses this n-gram.
    void forbid(std::int64_t context, std::int64_t label) { weights_.forbid(row_of(context), label); }

    // Calls visit(context, label, weight) for the weights that are not 0, by rising context and label.
    template <class Visit>
    void for_each_weight(const WeightCopy& copy, Visit visit) const {
        std::vector<std::int64_t> sorted = contexts_;
        std::ranges::sort(sorted);
        for (const std::int64_t context : sorted) {
            weights_.for_each_weight(index_.find(context), copy, [&](std::int32_t label, float weight) {
                visit(context, label, weight);
            });
        }
    }

  private:
    std::int64_t row_of(std::int64_t context) {
        std::int64_t row = index_.find(context);
        if (row < 0) {
            row = static_cast<std::int64_t>(contexts_.size());
            index_.insert(context, static_cast<std::int32_t>(row));
            contexts_.push_back(context);
            weights_.grow();
        }
        return row;
    }

    // A map from numbers to rows: a list for small numbers, open addressing (at most half full) for the
    // others.
    class RowIndex {
      public:
        RowIndex() : listed_(kListed, -1), keys_(16, kNone), rows_(16) {}

        // The row of a key, -1 if there is none.
        std::int64_t find(std::int64_t key) const {
            if (key < kListed) return listed_[key];
            const std::size_t at = place(key);
            return keys_[at] == key ? rows_[at] : -1;
        }
        void insert(std::int64_t key, std::int32_t row) {
            if (key < kListed) {
                listed_[key] = row;
                return;
            }
            if (2 * (n_ + 1) > keys_.size()) widen();
            const std::size_t at = place(key);
            keys_[at] = key;
            rows_[at] = row;
            ++n_;
        }

      private:
        static constexpr std::int64_t kNone = -1, kListed = 2048;
        std::size_t place(std::int64_t key) const {
            std::size_t at =
                static_cast<std::size_t>((static_cast<std::uint64_t>(key) * kGoldenRatio64) >> 20) &
                (keys_.size() - 1);
            while (keys_[at] != kNone && keys_[at] != key) at = (at + 1) & (keys_.size() - 1);
            return at;
        }
        void widen() {
            std::vector<std::int64_t> keys(2 * keys_.size(), kNone);
            std::vector<std::int32_t> rows(keys.size());
            keys.swap(keys_);
            rows.swap(rows_);
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (keys[i] == kNone) continue;
                const std::size_t at = place(keys[i]);
                keys_[at] = keys[i];
                rows_[at] = rows[i];
            }
        }

        std::vector<std::int32_t> listed_;
        std::vector<std::int64_t> keys_;
        std::vector<std::int32_t> rows_;
        std::size_t n_ = 0;
    };

    LabelCodes codes_;
    WeightRows weights_;
    RowIndex index_;
    std::vector<std::int64_t> contexts_;  // of each row
};

}  // namespace hedgerow
