// Rows of weights, one weight per label, and the sums of weight_rows.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "util/ordered_sum.hpp"

namespace hedgerow {

// Rows follow each other in memory, so rows that were made together are close.
class DenseRows {
  public:
    DenseRows(std::int64_t n_labels, bool summed)
        : stride_((n_labels + kPad - 1) / kPad * kPad), summed_(summed) {}

    std::int64_t size() const { return static_cast<std::int64_t>(values_.size()) / stride_; }
    const float* values(std::int64_t row) const { return values_.data() + row * stride_; }
    float* values(std::int64_t row) { return values_.data() + row * stride_; }
    // Null without sums.
    const double* sums(std::int64_t row) const { return summed_ ? sums_.data() + row * stride_ : nullptr; }
    double* sums(std::int64_t row) { return summed_ ? sums_.data() + row * stride_ : nullptr; }

    // Appends a row of zeros.
    void grow() {
        values_.resize(values_.size() + static_cast<std::size_t>(stride_), 0.0f);
        if (summed_) sums_.resize(values_.size(), 0.0);
    }

    // The same rows without sums; each weight is copy(value, pointer to its sum or null).
    template <class Copy>
    DenseRows copied(const Copy& copy, std::int64_t n_threads) const {
        DenseRows rows(stride_, false);
        rows.values_.resize(values_.size());
        OrderedSum(static_cast<std::int64_t>(values_.size()), n_threads)
            .for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
                for (std::int64_t i = begin; i < end; ++i)
                    rows.values_[i] = copy(values_[i], summed_ ? &sums_[i] : nullptr);
            });
        return rows;
    }

  private:
    static constexpr std::int64_t kPad = 8;  // half a cache line, so that few rows cross a line
    std::int64_t stride_;
    bool summed_;
    std::vector<float> values_;
    std::vector<double> sums_;
};

}  // namespace hedgerow
