// The gradient of linear scores: gradient(a, y) = sum over positions t of value(t, a) residual(t, y).
//
// Sums of whole residuals are exact, so that neither the order of positions nor their division into blocks
// changes a bit. Rows of attributes without values are added as 32-bit numbers, 32 rows at a time, and then
// in double precision. A product with a value is rounded once, to a multiple of a unit that follows from the
// largest value of the attribute in all data (util/rounded_sum.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/features.hpp"

namespace hedgerow {

// Residuals in whole multiples of `unit`. A product with the value of an attribute is rounded to a multiple
// of value_unit times the power of two that is not below the attribute's largest value; value_unit is a power
// of two of at most 1.
struct WholeResiduals {
    const std::int32_t* rows;  // (positions, width)
    double unit;
    double value_unit;
};

// Where the attributes of the positions first..last occur, sorted by attribute. Threads divide the
// attributes, so no two threads add to the same feature; positions rise within an attribute, so the order of
// every sum is fixed.
class Postings {
  public:
    // Positions with fewer than `skip` positions before them in their sequence are left out. largest: by
    // attribute, what no absolute value exceeds; null if all values are 1.
    Postings(const AttributeView& attributes, const Features& features, std::int64_t first, std::int64_t last,
             std::int64_t skip, const float* largest);

    // gradient[f] += sum over occurrences o of f's attribute of value(o) residuals[position(o), output(f)].
    // residuals: (positions first..last, width).
    void add_gradient(const Features& features, const WholeResiduals& residuals, double* gradient,
                      std::int64_t n_threads) const;
    // The same in double precision, where the order of the positions matters.
    void add_gradient(const Features& features, const double* residuals, double* gradient,
                      std::int64_t n_threads) const;

    // The memory that the occurrences take.
    std::int64_t n_bytes() const;

  private:
    struct Sums {  // of one thread, (width) each
        std::vector<std::int32_t> whole;
        std::vector<double> valued;
    };

    void add_attribute(std::int64_t i, const Features& features, const WholeResiduals& residuals, Sums& sums,
                       double* gradient) const;
    void add_plain(std::int64_t i, const Features& features, const WholeResiduals& residuals,
                   std::int32_t* row, double* gradient) const;
    void add_valued(std::int64_t i, const Features& features, const WholeResiduals& residuals, double* row,
                    double* gradient) const;
    void add_attribute(std::int64_t i, const Features& features, const double* residuals, double* row,
                       double* gradient) const;
    bool goes_by_feature(std::int64_t i, const Features& features) const;
    float value(std::int64_t occurrence) const { return values_.empty() ? 1.0f : values_[occurrence]; }
    // Of the values of the i-th attribute: a power of two that none exceeds, or 0 if all are 1.
    double bound(std::int64_t i) const { return bounds_.empty() ? 0.0 : bounds_[i]; }

    std::int64_t first_;
    std::vector<std::int32_t> ids_;     // attributes that occur
    std::vector<std::int64_t> starts_;  // of the occurrences of each of these attributes, and the end
    std::vector<std::int32_t> positions_;
    std::vector<float> values_;       // empty if all values are 1
    std::vector<double> bounds_;      // see bound(); empty if all values are 1
    std::vector<std::int64_t> cuts_;  // indices into ids_: a task of a thread goes from one to the next
};

}  // namespace hedgerow
