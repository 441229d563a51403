#include "linear/postings.hpp"

#include <algorithm>

#include "linear/linear_kernels.hpp"
#include "util/parallel.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kTaskOccurrences = 4096;  // occurrences that one task of a thread sums
constexpr std::int64_t kRowsAhead = 32;          // rows of a batch: prefetched, then summed

}  // namespace

Postings::Postings(const AttributeView& attributes, const Features& features, std::int64_t first,
                   std::int64_t last, std::int64_t skip)
    : first_(first) {
    std::vector<std::int32_t> count(static_cast<std::size_t>(features.n_ids), 0);
    bool all_ones = true;
    const auto for_each_occurrence = [&](auto visit) {
        attributes.for_each_position(first, last, [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
            if (t - begin < skip) return;
            for_each_id(attributes.slots, t, begin, end, [&](std::int32_t id, float value) {
                if (features.starts[id] < features.starts[id + 1]) visit(id, t, value);
            });
        });
    };
    for_each_occurrence([&](std::int32_t id, std::int64_t, float value) {
        ++count[id];
        all_ones = all_ones && value == 1.0f;
    });
    std::int64_t n = 0;
    std::vector<std::int64_t> at(count.size());
    for (std::size_t id = 0; id < count.size(); ++id) {
        if (count[id] == 0) continue;
        if (cuts_.empty() || n - starts_[cuts_.back()] >= kTaskOccurrences)
            cuts_.push_back(static_cast<std::int64_t>(ids_.size()));
        ids_.push_back(static_cast<std::int32_t>(id));
        starts_.push_back(n);
        at[id] = n;
        n += count[id];
    }
    starts_.push_back(n);
    cuts_.push_back(static_cast<std::int64_t>(ids_.size()));
    positions_.resize(static_cast<std::size_t>(n));
    values_.resize(all_ones ? 0 : static_cast<std::size_t>(n));
    for_each_occurrence([&](std::int32_t id, std::int64_t t, float value) {
        if (!all_ones) values_[at[id]] = value;
        positions_[at[id]++] = static_cast<std::int32_t>(t - first_);
    });
}

// The sum for the i-th attribute that occurs.
template <class Real>
void Postings::add_by_feature(std::int64_t i, const Features& features, const Real* residuals,
                              double* gradient) const {
    const std::int64_t begin = features.starts[ids_[i]], end = features.starts[ids_[i] + 1];
    for (std::int64_t o = starts_[i]; o < starts_[i + 1]; ++o) {
        const Real* residual = residuals + positions_[o] * features.width;
        const auto number = static_cast<Real>(value(o));
        for (std::int64_t f = begin; f < end; ++f)
            gradient[f] += static_cast<double>(number * residual[features.outputs[f]]);
    }
}

// The same; row: scratch memory, (width).
inline void Postings::add_attribute(std::int64_t i, const Features& features, const float* residuals,
                                    float* row, double* gradient) const {
    const std::int64_t begin = features.starts[ids_[i]], end = features.starts[ids_[i] + 1];
    const std::int64_t width = features.width;
    if (is_sparse(end - begin, width) || starts_[i + 1] - starts_[i] == 1)
        return add_by_feature(i, features, residuals, gradient);
    // Single precision sums only the rows of one batch: over all occurrences of a frequent attribute it would
    // lose four digits.
    WeightedRow rows[kRowsAhead];
    for (std::int64_t o = starts_[i]; o < starts_[i + 1];) {
        std::int64_t n = 0;
        for (; n < kRowsAhead && o < starts_[i + 1]; ++n, ++o) {
            rows[n] = {residuals + positions_[o] * width, value(o)};
            prefetch(rows[n].row);
        }
        std::fill_n(row, width, 0.0f);
        linear_kernels().add_rows(rows, n, width, row);
        for (std::int64_t f = begin; f < end; ++f)
            gradient[f] += static_cast<double>(row[features.outputs[f]]);
    }
}

inline void Postings::add_attribute(std::int64_t i, const Features& features, const double* residuals,
                                    double* row, double* gradient) const {
    const std::int64_t begin = features.starts[ids_[i]], end = features.starts[ids_[i] + 1];
    const std::int64_t width = features.width;
    if (is_sparse(end - begin, width) || starts_[i + 1] - starts_[i] == 1)
        return add_by_feature(i, features, residuals, gradient);
    std::fill_n(row, width, 0.0);
    for (std::int64_t o = starts_[i]; o < starts_[i + 1]; ++o) {
        const double* residual = residuals + positions_[o] * width;
        const auto number = static_cast<double>(value(o));
        for (std::int64_t y = 0; y < width; ++y) row[y] += number * residual[y];
    }
    for (std::int64_t f = begin; f < end; ++f) gradient[f] += row[features.outputs[f]];
}

void Postings::add_gradient(const Features& features, const float* residuals, double* gradient,
                            std::int64_t n_threads) const {
    parallel_for(static_cast<std::int64_t>(cuts_.size()) - 1, n_threads, [&] {
        return
            [&, row = std::vector<float>(static_cast<std::size_t>(features.width))](std::int64_t c) mutable {
                for (std::int64_t i = cuts_[c]; i < cuts_[c + 1]; ++i)
                    add_attribute(i, features, residuals, row.data(), gradient);
            };
    });
}

void Postings::add_gradient(const Features& features, const double* residuals, double* gradient,
                            std::int64_t n_threads) const {
    parallel_for(static_cast<std::int64_t>(cuts_.size()) - 1, n_threads, [&] {
        return
            [&, row = std::vector<double>(static_cast<std::size_t>(features.width))](std::int64_t c) mutable {
                for (std::int64_t i = cuts_[c]; i < cuts_[c + 1]; ++i)
                    add_attribute(i, features, residuals, row.data(), gradient);
            };
    });
}

}  // namespace hedgerow
