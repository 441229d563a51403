// Sparse weights of label n-grams: (label context of j labels, next label) for all j up to the order. Only
// n-grams with weights use memory.
//
// A code holds the last `memory` labels, the most recent one in the highest bits, with a fixed number of bits
// per label. The value K stands for `start`, a label before the sequence. The first j labels of a code are
// the label context of j labels; its number is
//
//     2^(bits j) - 1 + (the bits of these j labels)
//
// so 0 is the empty context, a bias.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/weight_rows.hpp"
#include "util/random.hpp"

namespace hedgerow {

class GramNumbers {
  public:
    // Whether all n-grams of this order, with a next label each, have a 64-bit number.
    static bool fit(std::int64_t n_labels, std::int64_t order) {
        return order < 64 && bits_of(n_labels) * (std::max<std::int64_t>(order, 1) + 1) < 62;
    }

    GramNumbers(std::int64_t n_labels, std::int64_t order, bool bias)
        : start_(n_labels), bits_(bits_of(n_labels)), order_(order), bias_(bias) {}

    std::int64_t memory() const { return std::max<std::int64_t>(order_, 1); }
    std::int64_t order() const { return order_; }
    // All numbers are below this one.
    std::int64_t n() const { return 2 * power(order_) - 1; }

    // The code of an empty labelling.
    std::int64_t start() const {
        std::int64_t code = 0;
        for (std::int64_t m = 0; m < memory(); ++m) code = code << bits_ | start_;
        return code;
    }
    // The code after one more label.
    std::int64_t next(std::int64_t code, std::int64_t label) const {
        return label << bits_ * (memory() - 1) | shared(code);
    }
    // The part of a code that next() keeps: codes with the same part have the same successors.
    std::int64_t shared(std::int64_t code) const { return code >> bits_; }
    // shared() of every code from which next() can have made this code.
    std::int64_t before(std::int64_t code) const { return code & (power(memory() - 1) - 1); }

    // Calls visit(number) for each label context of a code at a step. A context has at most one `start`:
    // longer ones would carry no more information.
    template <class Visit>
    void each(std::int64_t code, std::int64_t step, Visit visit) const {
        if (bias_) visit(std::int64_t{0});
        const std::int64_t longest = std::min(order_, step + 1);
        for (std::int64_t m = 1; m <= longest; ++m) visit(power(m) - 1 + (code >> bits_ * (memory() - m)));
    }

  private:
    static std::int64_t bits_of(std::int64_t n_labels) {
        std::int64_t bits = 1;
        while (n_labels >> bits != 0) ++bits;
        return bits;
    }
    std::int64_t power(std::int64_t m) const { return std::int64_t{1} << bits_ * m; }

    std::int64_t start_, bits_, order_;
    bool bias_;
};

// A map from numbers to rows: a list for small numbers, open addressing (at most half full) for the others.
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
        std::size_t at = static_cast<std::size_t>((static_cast<std::uint64_t>(key) * kGoldenRatio64) >> 20) &
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

class GramWeights {
  public:
    GramWeights(const GramNumbers& numbers, std::int64_t n_labels, bool summed)
        : numbers_(numbers), weights_(n_labels, summed) {}

    const GramNumbers& numbers() const { return numbers_; }
    std::int64_t n_labels() const { return weights_.n_labels(); }
    // The number of the label context of each row.
    const std::vector<std::int64_t>& grams() const { return grams_; }
    const float* values(std::int64_t row) const { return weights_.values(row); }
    // Null without sums.
    const double* sums(std::int64_t row) const { return weights_.sums(row); }

    // Calls visit(weights by next label) for each label context of `code` that has weights.
    template <class Visit>
    void each_row(std::int64_t code, std::int64_t step, Visit visit) const {
        numbers_.each(code, step, [&](std::int64_t gram) {
            const std::int64_t row = index_.find(gram);
            if (row >= 0) visit(weights_.values(row));
        });
    }

    void add(std::int64_t gram, std::int64_t label, float amount, double before) {
        std::int64_t row = index_.find(gram);
        if (row < 0) {
            row = static_cast<std::int64_t>(grams_.size());
            index_.insert(gram, static_cast<std::int32_t>(row));
            grams_.push_back(gram);
            weights_.grow();
        }
        weights_.add(row, label, amount, before);
    }

  private:
    GramNumbers numbers_;
    WeightRows weights_;
    RowIndex index_;
    std::vector<std::int64_t> grams_;
};

}  // namespace hedgerow
