// Weights of label n-grams of any length: the last labels, whatever they are, speak of the next one.
//
// A code holds the last `memory` labels, most recent first, as digits of so many bits that they also hold K,
// which is `start`: no label there yet. Its first j digits are the n-gram of the last j labels. The number of
// an n-gram is that of its digits plus 2^(bits j) - 1, so that 0 is the one of no labels, a bias. Only those
// that have weights take room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/online.hpp"

namespace hedgerow {

class GramNumbers {
  public:
    // Whether all n-grams of this order, times the labels that they speak of, can be numbered.
    static bool fit(std::int64_t n_labels, std::int64_t order) {
        return order < 64 && bits_of(n_labels) * (std::max<std::int64_t>(order, 1) + 1) < 62;
    }

    GramNumbers(std::int64_t n_labels, std::int64_t order, bool bias)
        : start_(n_labels), bits_(bits_of(n_labels)), order_(order), bias_(bias) {}

    std::int64_t memory() const { return std::max<std::int64_t>(order_, 1); }
    std::int64_t order() const { return order_; }
    // All numbers are below.
    std::int64_t n() const { return 2 * power(order_) - 1; }

    // No label yet.
    std::int64_t start() const {
        std::int64_t code = 0;
        for (std::int64_t m = 0; m < memory(); ++m) code = code << bits_ | start_;
        return code;
    }
    std::int64_t next(std::int64_t code, std::int64_t label) const {
        return label << bits_ * (memory() - 1) | shared(code);
    }
    // What codes have in common whose successors by the same label are the same.
    std::int64_t shared(std::int64_t code) const { return code >> bits_; }
    // Of a code that next() made: what the codes share that it can have been made of.
    std::int64_t before(std::int64_t code) const { return code & (power(memory() - 1) - 1); }

    // visit(n-gram) for those that speak at the given step: at most one `start`, for more say the same.
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

// From numbers to rows: low ones in a list, the others by open addressing, never more than half full.
class RowIndex {
  public:
    RowIndex() : listed_(kListed, -1), keys_(16, kNone), rows_(16) {}

    // Negative if it has none.
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
            static_cast<std::size_t>((static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u) >> 20) &
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
    // The n-grams that have a row, by row.
    const std::vector<std::int64_t>& grams() const { return grams_; }
    const float* values(std::int64_t row) const { return weights_.values(row); }
    // Null if nothing is summed.
    const double* sums(std::int64_t row) const { return weights_.sums(row); }

    // visit(weights by label) for each n-gram that speaks after `code` at the given step and has weights.
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
