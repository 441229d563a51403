#include "lattice/sparse_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace hedgerow {
namespace {

constexpr std::int64_t kFewLabels = 96;     // whole rows are quicker for so few
constexpr std::int64_t kLargestShare = 10;  // of the cells, one in so many at most

// By label: the score that more than half of its cells have, if there is one (Boyer & Moore).
template <class Real>
std::vector<Real> usual_scores(const Real* rows, std::int64_t k) {
    std::vector<Real> usual(rows, rows + k);
    std::vector<std::int32_t> votes(static_cast<std::size_t>(k), 0);
    for (std::int64_t h = 0; h < k; ++h) {
        const Real* row = rows + h * k;
        for (std::int64_t y = 0; y < k; ++y) {
            const bool same = row[y] == usual[y], lost = !same && votes[y] == 0;
            usual[y] = lost ? row[y] : usual[y];
            votes[y] += same || lost ? 1 : -1;
        }
    }
    return usual;
}

// The rows in the order of their numbers of cells: a processor then foresees how long each takes.
std::vector<std::int32_t> by_size(const std::vector<std::int32_t>& firsts) {
    std::vector<std::int32_t> order(firsts.size() - 1);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::less(), [&](std::int32_t i) { return firsts[i + 1] - firsts[i]; });
    return order;
}

}  // namespace

template <class Real>
std::optional<SparseTable> SparseTable::of(const Real* table, std::int64_t k, const std::int64_t* also,
                                           std::int64_t n_also) {
    const std::int64_t most = k * k / kLargestShare;
    if (k < kFewLabels || n_also > most + k) return std::nullopt;
    std::vector<std::int64_t> listed(also, also + n_also);
    std::sort(listed.begin(), listed.end());
    const Real* rows = table + k;
    const std::vector<Real> usual = usual_scores(rows, k);
    SparseTable made;
    made.k_ = k;
    made.usual_.assign(static_cast<std::size_t>(k), -1);
    auto next = std::lower_bound(listed.begin(), listed.end(), k);
    for (std::int64_t h = 0; h < k; ++h) {
        made.context_firsts_.push_back(static_cast<std::int32_t>(made.labels_.size()));
        for (std::int64_t y = 0; y < k; ++y) {
            const bool is_listed = next != listed.end() && *next == (1 + h) * k + y;
            while (next != listed.end() && *next == (1 + h) * k + y) ++next;
            if (is_listed || rows[h * k + y] != usual[y])
                made.labels_.push_back(static_cast<std::int32_t>(y));
            else
                made.usual_[y] = static_cast<std::int32_t>(h);
        }
        if (made.n_cells() > most) return std::nullopt;
    }
    made.context_firsts_.push_back(static_cast<std::int32_t>(made.labels_.size()));
    made.label_firsts_.assign(static_cast<std::size_t>(k + 1), 0);
    for (const std::int32_t y : made.labels_) ++made.label_firsts_[y + 1];
    for (std::int64_t y = 0; y < k; ++y) made.label_firsts_[y + 1] += made.label_firsts_[y];
    std::vector<std::int32_t> ends(made.label_firsts_.begin(), made.label_firsts_.end() - 1);
    made.contexts_.resize(made.labels_.size());
    made.places_.resize(made.labels_.size());
    for (std::int64_t h = 0; h < k; ++h) {
        for (std::int32_t c = made.context_firsts_[h]; c < made.context_firsts_[h + 1]; ++c) {
            const std::int32_t at = ends[made.labels_[c]]++;
            made.contexts_[at] = static_cast<std::int32_t>(h);
            made.places_[at] = c;
        }
    }
    made.context_order_ = by_size(made.context_firsts_);
    made.label_order_ = by_size(made.label_firsts_);
    made.read(table);
    return made;
}

template <class Real>
void SparseTable::read(const Real* table) {
    constexpr double never = -std::numeric_limits<double>::infinity();
    const Real* rows = table + k_;
    start_.assign(table, table + k_);
    base_.resize(static_cast<std::size_t>(k_));
    for (std::int64_t y = 0; y < k_; ++y) base_[y] = usual_[y] < 0 ? never : rows[usual_[y] * k_ + y];
    exps_.resize(labels_.size());
    for (std::int64_t h = 0; h < k_; ++h)
        for (std::int32_t c = context_firsts_[h]; c < context_firsts_[h + 1]; ++c)
            exps_[c] = rows[h * k_ + labels_[c]];
    const auto highest = [](const std::vector<double>& x) {
        return x.empty() ? -std::numeric_limits<double>::infinity() : *std::max_element(x.begin(), x.end());
    };
    const auto exponentiate = [](std::vector<double>& x, double shift) {
        for (double& one : x) one -= shift;
        fast_lane<double>().exponentials(x.data(), static_cast<std::int64_t>(x.size()));
    };
    const double of_start = highest(start_), of_rows = std::max(highest(base_), highest(exps_));
    shifts_[0] = of_start == never ? 0 : of_start;
    shifts_[1] = of_rows == never ? 0 : of_rows;
    exponentiate(start_, shifts_[0]);
    exponentiate(base_, shifts_[1]);
    exponentiate(exps_, shifts_[1]);
    excess_.resize(exps_.size());
    exps_by_label_.resize(exps_.size());
    excess_by_label_.resize(exps_.size());
    for (std::size_t c = 0; c < exps_.size(); ++c) excess_[c] = exps_[c] - base_[labels_[c]];
    for (std::size_t c = 0; c < exps_.size(); ++c) {
        exps_by_label_[c] = exps_[places_[c]];
        excess_by_label_[c] = excess_[places_[c]];
    }
}

SparseTransitions SparseTable::rows() const {
    return {k_,
            n_cells(),
            start_.data(),
            base_.data(),
            {context_order_.data(), context_firsts_.data(), labels_.data(), exps_.data(), excess_.data()},
            {label_order_.data(), label_firsts_.data(), contexts_.data(), exps_by_label_.data(),
             excess_by_label_.data()},
            shifts_};
}

std::int64_t SparseTable::place(std::int64_t h, std::int64_t y) const {
    const auto first = labels_.begin() + context_firsts_[h], last = labels_.begin() + context_firsts_[h + 1];
    const auto found = std::lower_bound(first, last, static_cast<std::int32_t>(y));
    if (found != last && *found == y) return k_ + (found - labels_.begin());
    return k_ + n_cells() + y;
}

void SparseTable::add(const double* counts, double* table) const {
    for (std::int64_t y = 0; y < k_; ++y) table[y] += counts[y];
    double* rows = table + k_;
    for (std::int64_t h = 0; h < k_; ++h)
        for (std::int32_t c = context_firsts_[h]; c < context_firsts_[h + 1]; ++c)
            rows[h * k_ + labels_[c]] += counts[k_ + c];
    for (std::int64_t y = 0; y < k_; ++y)
        if (usual_[y] >= 0) rows[usual_[y] * k_ + y] += counts[k_ + n_cells() + y];
}

template std::optional<SparseTable> SparseTable::of(const float*, std::int64_t, const std::int64_t*,
                                                    std::int64_t);
template std::optional<SparseTable> SparseTable::of(const double*, std::int64_t, const std::int64_t*,
                                                    std::int64_t);
template void SparseTable::read(const float*);
template void SparseTable::read(const double*);

}  // namespace hedgerow
