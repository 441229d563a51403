// A transition table most of whose cells have the score that is usual for their label, such as 0: only the
// other cells are listed. Sums over paths then cost labels plus listed cells for a position, not the square
// of the labels (sparse_sums.cpp; bounded transition costs, Siddiqi & Moore 2005).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lattice/fast_lane.hpp"

namespace hedgerow {

class SparseTable {
  public:
    // Lists the cells of a table of order 1 that differ from the usual score of their label, and `also`,
    // cells of the table in any order. Nothing if there are few labels, or if so many cells differ that the
    // whole table is quicker.
    template <class Real>
    static std::optional<SparseTable> of(const Real* table, std::int64_t k,
                                         const std::int64_t* also = nullptr, std::int64_t n_also = 0);

    // Reads the scores of the listed cells, and of one other cell for each label, from a table that may have
    // changed there. IN: a table [1 + k, k].
    template <class Real>
    void read(const Real* table);

    std::int64_t n_labels() const { return k_; }
    std::int64_t n_cells() const { return static_cast<std::int64_t>(labels_.size()); }
    SparseTransitions rows() const;

    // The counts of sequences are those of the start row, of the listed cells, and for each label that of all
    // other cells together.
    std::int64_t n_counts() const { return 2 * k_ + n_cells(); }
    // The place of a cell [h, y] among the counts.
    std::int64_t place(std::int64_t h, std::int64_t y) const;
    // The label of a place.
    std::int64_t label(std::int64_t place) const {
        if (place < k_) return place;
        return place < k_ + n_cells() ? labels_[place - k_] : place - k_ - n_cells();
    }
    // table += counts; what other cells of a label have together goes to one of them.
    void add(const double* counts, double* table) const;

  private:
    std::int64_t k_ = 0;
    // The listed cells by label context, and by label.
    std::vector<std::int32_t> context_firsts_, labels_, label_firsts_, contexts_, places_;
    std::vector<std::int32_t> context_order_, label_order_;  // by the number of listed cells
    std::vector<std::int32_t> usual_;  // by label: a label context whose cell is not listed, or -1
    std::vector<double> start_, base_, exps_, excess_, exps_by_label_, excess_by_label_;
    double shifts_[2] = {0, 0};
};

}  // namespace hedgerow
