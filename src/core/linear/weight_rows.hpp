// Weights of online learners, and their averages without an extra pass per step.
//
// A weight w that changes by d_j at step j has the values w_i = d_1 + ... + d_i after the steps i = 1..T.
// With c_j the number (or total weight) of vectors before step j, the sum over all vectors is
//
//     sum of w_i = c_T w_T - sum of c_j d_j
//
// so two numbers per weight suffice (Daume 2006): `values` is w, `sums` is the sum of c_j d_j.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "linear/dense_rows.hpp"
#include "linear/row_view.hpp"
#include "linear/sparse_rows.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

// Which weights to copy: the current ones, or their mean over n_vectors vectors, times scale.
struct WeightCopy {
    bool mean;
    std::int64_t n_vectors;
    double scale;

    float operator()(float value, const double* sum) const {
        const double less = mean ? *sum / static_cast<double>(n_vectors) : 0.0;
        return static_cast<float>(scale * (static_cast<double>(value) - less));
    }
};

// Rows of weights, one weight per label. With few labels all rows are dense. With many labels a row begins
// sparse, and becomes dense when a quarter of its weights have changed: adding it to scores is then faster.
class WeightRows {
  public:
    static constexpr std::int64_t kFewLabels = 32;

    WeightRows(std::int64_t n_labels, bool summed)
        : k_(n_labels), longest_(n_labels / 4), dense_(n_labels, summed), sparse_(longest_, summed) {}

    std::int64_t n_labels() const { return k_; }
    bool all_dense() const { return k_ <= kFewLabels; }
    // The weights of a row; needs all_dense().
    const float* values(std::int64_t row) const { return dense_.values(row); }
    RowView view(std::int64_t row) const {
        if (all_dense()) return {dense_.values(row), nullptr, k_};
        const Place& place = places_[row];
        if (place.n < 0) return {dense_.values(place.at), nullptr, k_};
        return {nullptr, sparse_.cells(place.at), place.n};
    }
    // Prefetches what view() reads.
    void prefetch_row(std::int64_t row) const { prefetch(&places_[row]); }

    // Prefetches what add() changes.
    void prefetch_weight(std::int64_t row, std::int64_t label) const {
        const bool is_dense = all_dense() || places_[row].n < 0;
        const std::int64_t at = all_dense() ? row : places_[row].at;
        prefetch(is_dense ? static_cast<const void*>(dense_.values(at) + label)
                          : sparse_.cells(static_cast<std::int32_t>(at)));
        if (const double* sums = is_dense ? dense_.sums(at) : sparse_.sums(static_cast<std::int32_t>(at)))
            prefetch(is_dense ? sums + label : sums);
    }

    // Appends a row of zeros.
    void grow() {
        if (all_dense()) return dense_.grow();
        places_.push_back({sparse_.allocate(SparseRows::kFirstRoom), 0});
    }
    // Sets a weight to minus infinity; it must never change afterwards.
    void forbid(std::int64_t row, std::int64_t label) {
        *weight(row, label).first = -std::numeric_limits<float>::infinity();
    }
    void add(std::int64_t row, std::int64_t label, float amount, double before) {
        const auto [value, sum] = weight(row, label);
        *value += amount;
        if (sum) *sum += before * static_cast<double>(amount);
    }

    // The same rows without sums, of the weights that `copy` says.
    WeightRows copied(const WeightCopy& copy, std::int64_t n_threads) const {
        WeightRows rows(k_, false);
        if (all_dense()) {
            rows.dense_ = dense_.copied(copy, n_threads);
            return rows;
        }
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(places_.size()); ++row) {
            rows.grow();
            for_each_weight(row, copy,
                            [&](std::int32_t label, float weight) { rows.add(row, label, weight, 0); });
        }
        return rows;
    }

    // Calls visit(label, weight) for the weights of a row that are not 0, by rising label.
    template <class Visit>
    void for_each_weight(std::int64_t row, const WeightCopy& copy, Visit visit) const {
        if (all_dense() || places_[row].n < 0) {
            const std::int64_t at = all_dense() ? row : places_[row].at;
            const float* values = dense_.values(at);
            const double* sums = dense_.sums(at);
            for (std::int64_t y = 0; y < k_; ++y) {
                const float weight = copy(values[y], sums ? sums + y : nullptr);
                if (weight != 0) visit(static_cast<std::int32_t>(y), weight);
            }
            return;
        }
        const Place& place = places_[row];
        std::vector<LabelWeight> found(sparse_.cells(place.at), sparse_.cells(place.at) + place.n);
        const double* sums = sparse_.sums(place.at);
        for (std::int64_t i = 0; i < place.n; ++i)
            found[i].weight = copy(found[i].weight, sums ? sums + i : nullptr);
        std::ranges::sort(found, {}, &LabelWeight::label);
        for (const LabelWeight& cell : found)
            if (cell.weight != 0) visit(cell.label, cell.weight);
    }

  private:
    // Where a row is: the number of a dense row (n = -1), or a block of n cells.
    struct Place {
        std::int32_t at;
        std::int32_t n;
    };

    // The weight and its sum (null without sums), which are made if there are none.
    std::pair<float*, double*> weight(std::int64_t row, std::int64_t label) {
        if (all_dense()) return dense_weight(row, label);
        Place& place = places_[row];
        if (place.n < 0) return dense_weight(place.at, label);
        LabelWeight* cells = sparse_.cells(place.at);
        std::int64_t i = 0;
        while (i < place.n && cells[i].label != label) ++i;
        if (i == place.n) {
            if (place.n == longest_) return become_dense(place), dense_weight(place.at, label);
            if (place.n == SparseRows::room(place.n)) widen(place);
            ++place.n;
            sparse_.cells(place.at)[i] = {static_cast<std::int32_t>(label), 0.0f};
            if (double* sums = sparse_.sums(place.at)) sums[i] = 0.0;
        }
        double* sums = sparse_.sums(place.at);
        return {&sparse_.cells(place.at)[i].weight, sums ? sums + i : nullptr};
    }
    std::pair<float*, double*> dense_weight(std::int64_t row, std::int64_t label) {
        double* sums = dense_.sums(row);
        return {dense_.values(row) + label, sums ? sums + label : nullptr};
    }
    void widen(Place& place) {
        const std::int64_t room = SparseRows::room(place.n);
        const std::int32_t wider = sparse_.allocate(2 * room);
        std::copy_n(sparse_.cells(place.at), place.n, sparse_.cells(wider));
        if (sparse_.sums(wider)) std::copy_n(sparse_.sums(place.at), place.n, sparse_.sums(wider));
        sparse_.free(place.at, room);
        place.at = wider;
    }
    void become_dense(Place& place) {
        const std::int64_t row = dense_.size();
        dense_.grow();
        const LabelWeight* cells = sparse_.cells(place.at);
        const double* sums = sparse_.sums(place.at);
        for (std::int64_t i = 0; i < place.n; ++i) {
            const auto [value, sum] = dense_weight(row, cells[i].label);
            *value = cells[i].weight;
            if (sum) *sum = sums[i];
        }
        sparse_.free(place.at, SparseRows::room(place.n));
        place = {static_cast<std::int32_t>(row), -1};
    }

    std::int64_t k_, longest_;
    DenseRows dense_;
    SparseRows sparse_;
    std::vector<Place> places_;  // of each row; empty if all are dense
};

}  // namespace hedgerow
