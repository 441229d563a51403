// The gradient of linear scores: gradient(a, y) = sum over positions t of value(t, a) residual(t, y).
#pragma once

#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/features.hpp"

namespace hedgerow {

// Where the attributes of the positions first..last occur, sorted by attribute. Threads divide the
// attributes, so no two threads add to the same feature; positions rise within an attribute, so the order of
// every sum is fixed.
class Postings {
  public:
    // Positions with fewer than `skip` positions before them in their sequence are left out.
    Postings(const AttributeView& attributes, const Features& features, std::int64_t first, std::int64_t last,
             std::int64_t skip);

    // gradient[f] += sum over occurrences o of f's attribute of value(o) residuals[position(o), output(f)].
    // residuals: (positions first..last, width).
    void add_gradient(const Features& features, const float* residuals, double* gradient,
                      std::int64_t n_threads) const;
    void add_gradient(const Features& features, const double* residuals, double* gradient,
                      std::int64_t n_threads) const;

  private:
    void add_attribute(std::int64_t i, const Features& features, const float* residuals, float* row,
                       double* gradient) const;
    void add_attribute(std::int64_t i, const Features& features, const double* residuals, double* row,
                       double* gradient) const;
    template <class Real>
    void add_by_feature(std::int64_t i, const Features& features, const Real* residuals,
                        double* gradient) const;
    float value(std::int64_t occurrence) const { return values_.empty() ? 1.0f : values_[occurrence]; }

    std::int64_t first_;
    std::vector<std::int32_t> ids_;     // attributes that occur
    std::vector<std::int64_t> starts_;  // of the occurrences of each of these attributes, and the end
    std::vector<std::int32_t> positions_;
    std::vector<float> values_;       // empty if all values are 1
    std::vector<std::int64_t> cuts_;  // indices into ids_: a task of a thread goes from one to the next
};

}  // namespace hedgerow
