#include "linear/postings.hpp"

#include <algorithm>
#include <cmath>

#include "linear/linear_kernels.hpp"
#include "util/parallel.hpp"
#include "util/prefetch.hpp"
#include "util/require.hpp"
#include "util/rounded_sum.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kTaskOccurrences = 4096;  // occurrences that one task of a thread sums
constexpr std::int64_t kRowsAhead = 32;          // rows of a batch: prefetched, then summed

// The least power of two that is not below x; 1 for 0.
double power_of_two_above(double x) {
    int exponent;
    const double fraction = std::frexp(x, &exponent);
    return x == 0 ? 1.0 : std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

}  // namespace

Postings::Postings(const AttributeView& attributes, const Features& features, std::int64_t first,
                   std::int64_t last, std::int64_t skip, const float* largest)
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
    bool is_bounded = true;
    for_each_occurrence([&](std::int32_t id, std::int64_t, float value) {
        ++count[id];
        all_ones = all_ones && value == 1.0f;
        is_bounded = is_bounded && std::fabs(value) <= (largest ? largest[id] : 1.0f);
    });
    require(is_bounded, "no value of an attribute must exceed the largest one");
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
    if (all_ones) return;
    bounds_.resize(ids_.size());
    for (std::size_t i = 0; i < ids_.size(); ++i) {
        // A bound of at most 1 has a unit of which whole residuals are multiples: the plain sum is the same.
        const double bound = power_of_two_above(largest ? largest[ids_[i]] : 1.0);
        const auto is_one = [](float value) { return value == 1.0f; };
        const bool plain =
            bound <= 1 && std::all_of(values_.begin() + starts_[i], values_.begin() + starts_[i + 1], is_one);
        bounds_[i] = plain ? 0.0 : bound;
    }
}

std::int64_t Postings::n_bytes() const {
    const auto size = [](const auto& all) { return all.size() * sizeof(all[0]); };
    return static_cast<std::int64_t>(size(ids_) + size(starts_) + size(positions_) + size(values_) +
                                     size(bounds_) + size(cuts_));
}

// Whether the sums of the i-th attribute are taken feature by feature, not row by row.
bool Postings::goes_by_feature(std::int64_t i, const Features& features) const {
    const std::int64_t n_features = features.starts[ids_[i] + 1] - features.starts[ids_[i]];
    return is_sparse(n_features, features.width) || starts_[i + 1] - starts_[i] == 1;
}

void Postings::add_plain(std::int64_t i, const Features& features, const WholeResiduals& residuals,
                         std::int32_t* row, double* gradient) const {
    const std::int64_t begin = features.starts[ids_[i]], end = features.starts[ids_[i] + 1];
    const std::int64_t width = features.width;
    if (goes_by_feature(i, features)) {
        for (std::int64_t o = starts_[i]; o < starts_[i + 1]; ++o) {
            const std::int32_t* residual = residuals.rows + positions_[o] * width;
            for (std::int64_t f = begin; f < end; ++f)
                gradient[f] += residuals.unit * residual[features.outputs[f]];
        }
        return;
    }
    const std::int32_t* rows[kRowsAhead];
    for (std::int64_t o = starts_[i]; o < starts_[i + 1];) {
        std::int64_t n = 0;
        for (; n < kRowsAhead && o < starts_[i + 1]; ++n, ++o) {
            rows[n] = residuals.rows + positions_[o] * width;
            prefetch(rows[n]);
        }
        std::fill_n(row, width, 0);
        linear_kernels().add_whole_rows(rows, n, width, row);
        for (std::int64_t f = begin; f < end; ++f) gradient[f] += residuals.unit * row[features.outputs[f]];
    }
}

void Postings::add_valued(std::int64_t i, const Features& features, const WholeResiduals& residuals,
                          double* row, double* gradient) const {
    const std::int64_t begin = features.starts[ids_[i]], end = features.starts[ids_[i] + 1];
    const std::int64_t width = features.width;
    const double rounder = rounder_of(residuals.value_unit * bound(i));
    if (goes_by_feature(i, features)) {
        for (std::int64_t o = starts_[i]; o < starts_[i + 1]; ++o) {
            const std::int32_t* residual = residuals.rows + positions_[o] * width;
            const auto number = static_cast<double>(value(o));
            for (std::int64_t f = begin; f < end; ++f)
                gradient[f] += residuals.unit * rounded(number * residual[features.outputs[f]], rounder);
        }
        return;
    }
    ValuedRow rows[kRowsAhead];
    for (std::int64_t o = starts_[i]; o < starts_[i + 1];) {
        std::int64_t n = 0;
        for (; n < kRowsAhead && o < starts_[i + 1]; ++n, ++o) {
            rows[n] = {residuals.rows + positions_[o] * width, static_cast<double>(value(o))};
            prefetch(rows[n].row);
        }
        std::fill_n(row, width, 0.0);
        linear_kernels().add_valued_rows(rows, n, width, rounder, row);
        for (std::int64_t f = begin; f < end; ++f) gradient[f] += residuals.unit * row[features.outputs[f]];
    }
}

// The sum for the i-th attribute that occurs.
inline void Postings::add_attribute(std::int64_t i, const Features& features, const WholeResiduals& residuals,
                                    Sums& sums, double* gradient) const {
    if (bound(i) == 0) return add_plain(i, features, residuals, sums.whole.data(), gradient);
    add_valued(i, features, residuals, sums.valued.data(), gradient);
}

// The same; row: scratch memory, (width).
inline void Postings::add_attribute(std::int64_t i, const Features& features, const double* residuals,
                                    double* row, double* gradient) const {
    const std::int64_t begin = features.starts[ids_[i]], end = features.starts[ids_[i] + 1];
    const std::int64_t width = features.width;
    if (goes_by_feature(i, features)) {
        for (std::int64_t o = starts_[i]; o < starts_[i + 1]; ++o) {
            const double* residual = residuals + positions_[o] * width;
            const auto number = static_cast<double>(value(o));
            for (std::int64_t f = begin; f < end; ++f) gradient[f] += number * residual[features.outputs[f]];
        }
        return;
    }
    std::fill_n(row, width, 0.0);
    for (std::int64_t o = starts_[i]; o < starts_[i + 1]; ++o) {
        const double* residual = residuals + positions_[o] * width;
        const auto number = static_cast<double>(value(o));
        for (std::int64_t y = 0; y < width; ++y) row[y] += number * residual[y];
    }
    for (std::int64_t f = begin; f < end; ++f) gradient[f] += row[features.outputs[f]];
}

void Postings::add_gradient(const Features& features, const WholeResiduals& residuals, double* gradient,
                            std::int64_t n_threads) const {
    const auto width = static_cast<std::size_t>(features.width);
    parallel_for(static_cast<std::int64_t>(cuts_.size()) - 1, n_threads, [&] {
        return [&, sums = Sums{std::vector<std::int32_t>(width), std::vector<double>(width)}](
                   std::int64_t c) mutable {
            for (std::int64_t i = cuts_[c]; i < cuts_[c + 1]; ++i)
                add_attribute(i, features, residuals, sums, gradient);
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
