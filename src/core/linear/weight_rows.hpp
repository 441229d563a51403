// Weights of online learners, and their averages without an extra pass per step.
//
// A weight w that changes by d_j at step j has the values w_i = d_1 + ... + d_i after the steps i = 1..T.
// With c_j the number (or total weight) of vectors before step j, the sum over all vectors is
//
//     sum of w_i = c_T w_T - sum of c_j d_j
//
// so two numbers per weight suffice (Daume 2006): `values` is w, `sums` is the sum of c_j d_j.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace hedgerow {

// to[i] <- scale w_i, or for the mean over n_vectors vectors scale (w_i - sums_i / n_vectors). sums: null for
// the current weights.
inline void copy_weights(const float* values, const double* sums, std::int64_t size, std::int64_t n_vectors,
                         double scale, float* to) {
    const auto n = static_cast<double>(n_vectors);
    for (std::int64_t i = 0; i < size; ++i)
        to[i] = static_cast<float>(scale * (static_cast<double>(values[i]) - (sums ? sums[i] / n : 0.0)));
}

// Rows of weights, one weight per label. Rows are stored in the order of their first change, so rows that are
// used together tend to be close in memory.
class WeightRows {
  public:
    WeightRows(std::int64_t n_labels, bool summed)
        : k_(n_labels), stride_((n_labels + kPad - 1) / kPad * kPad), summed_(summed) {}

    std::int64_t n_labels() const { return k_; }
    const float* values(std::int64_t row) const { return values_.data() + row * stride_; }
    // Null without sums.
    const double* sums(std::int64_t row) const { return summed_ ? sums_.data() + row * stride_ : nullptr; }

    // Appends a row of zeros.
    void grow() {
        values_.resize(values_.size() + static_cast<std::size_t>(stride_), 0.0f);
        if (summed_) sums_.resize(values_.size(), 0.0);
    }
    // Sets a weight to minus infinity; it must never change afterwards.
    void forbid(std::int64_t row, std::int64_t label) {
        values_[row * stride_ + label] = -std::numeric_limits<float>::infinity();
    }
    void add(std::int64_t row, std::int64_t label, float amount, double before) {
        const std::int64_t at = row * stride_ + label;
        values_[at] += amount;
        if (summed_) sums_[at] += before * static_cast<double>(amount);
    }

  private:
    static constexpr std::int64_t kPad = 8;  // half a cache line, so that few rows cross a line
    std::int64_t k_, stride_;
    bool summed_;
    std::vector<float> values_;
    std::vector<double> sums_;
};

}  // namespace hedgerow
