// Weights that change from one sequence to the next, and are summed as they go without being touched.
//
// A weight w that changes by d_j at step j has, after the steps 1..T, passed through w_i = d_1 + ... + d_i.
// With c_j the number (or weight) of vectors before step j, the sum over all of them is c_T w - (sum of c_j
// d_j): two numbers a weight (Daume 2006). Here `values` is w, and `sums` is what is subtracted.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "data/attribute_reader.hpp"
#include "lattice/lattice.hpp"
#include "linear/linear.hpp"
#include "util/interrupt.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

// Calls learn(i) for each of the n sequences named in `order`, one after the other, and polls for interrupts.
template <class Learn>
void each_in_turn(const std::int64_t* order, std::int64_t n, Learn learn) {
    InterruptPoll poll;
    for (std::int64_t i = 0; i < n; ++i) {
        learn(order[i]);
        poll();
    }
}

// Weights of n-grams, laid out as the rows of a lattice's table; and that table, kept up to date.
//
// An n-gram speaks wherever the last labels are its own: a row of the table is the sum over the histories
// that it begins with. The row of no labels at all is a bias, used only if asked for.
class NGramWeights {
  public:
    NGramWeights(const Topology& topology, bool bias, bool summed)
        : topology_(topology),
          shortest_(bias ? 0 : 1),
          values_(size(), 0.0f),
          sums_(summed ? size() : 0, 0.0),
          table_(size(), 0.0f) {}

    std::size_t size() const { return static_cast<std::size_t>(topology_.n_rows() * topology_.n_labels); }
    const float* table() const { return table_.data(); }
    const std::vector<float>& values() const { return values_; }
    const std::vector<double>& sums() const { return sums_; }

    // visit(cell) for every n-gram that the labels end with at t.
    template <class Visit>
    void each_cell(const std::int32_t* labels, std::int64_t t, Visit visit) const {
        std::int64_t history = 0;
        for (std::int64_t m = 0; m <= std::min(t, topology_.order); ++m) {
            if (m > 0) history = history * topology_.n_labels + labels[t - m];
            if (m >= shortest_) visit((topology_.first_row(m) + history) * topology_.n_labels + labels[t]);
        }
    }

    void add(std::int64_t cell, float amount, double before) {
        const std::int64_t k = topology_.n_labels, label = cell % k;
        values_[cell] += amount;
        if (!sums_.empty()) sums_[cell] += before * static_cast<double>(amount);
        std::int64_t m = 0;
        while (m < topology_.order && topology_.first_row(m + 1) <= cell / k) ++m;
        const std::int64_t history = cell / k - topology_.first_row(m);
        for (std::int64_t width = 1; m <= topology_.order; ++m, width *= k) {
            float* rows = table_.data() + (topology_.first_row(m) + history * width) * k + label;
            for (std::int64_t r = 0; r < width; ++r) rows[r * k] += amount;
        }
    }

  private:
    Topology topology_;
    std::int64_t shortest_;
    std::vector<float> values_;
    std::vector<double> sums_;
    std::vector<float> table_;
};

// Rows of weights over all labels, in the order in which they were first needed, so that what is read
// together lies together.
class WeightRows {
  public:
    WeightRows(std::int64_t n_labels, bool summed)
        : k_(n_labels), stride_((n_labels + kPad - 1) / kPad * kPad), summed_(summed) {}

    std::int64_t n_labels() const { return k_; }
    const float* values(std::int64_t row) const { return values_.data() + row * stride_; }
    // Null if nothing is summed.
    const double* sums(std::int64_t row) const { return summed_ ? sums_.data() + row * stride_ : nullptr; }

    // One more row, of zeros.
    void grow() {
        values_.resize(values_.size() + static_cast<std::size_t>(stride_), 0.0f);
        if (summed_) sums_.resize(values_.size(), 0.0);
    }
    void add(std::int64_t row, std::int64_t label, float amount, double before) {
        const std::int64_t at = row * stride_ + label;
        values_[at] += amount;
        if (summed_) sums_[at] += before * static_cast<double>(amount);
    }

  private:
    static constexpr std::int64_t kPad = 8;  // half a cache line, so that rows cross few
    std::int64_t k_, stride_;
    bool summed_;
    std::vector<float> values_;
    std::vector<double> sums_;
};

// Weights of attributes: a row for each attribute that was ever changed. Others weigh nothing and take no
// room.
class AttributeWeights {
  public:
    // kept: which of the attributes may have weights.
    AttributeWeights(const std::uint8_t* kept, std::int64_t n_ids, std::int64_t n_labels, bool summed)
        : weights_(n_labels, summed), row_of_(n_ids) {
        for (std::int64_t id = 0; id < n_ids; ++id) row_of_[id] = kept[id] ? kUntouched : kLeftOut;
    }

    std::int64_t n_ids() const { return static_cast<std::int64_t>(row_of_.size()); }
    // The attributes that have a row, by row.
    const std::vector<std::int32_t>& ids() const { return ids_; }
    const float* values(std::int64_t row) const { return weights_.values(row); }
    // Null if nothing is summed.
    const double* sums(std::int64_t row) const { return weights_.sums(row); }
    // The row of an attribute, negative if it has none.
    std::int64_t row(std::int64_t id) const { return row_of_[id]; }

    // scores (end - begin, labels) <- what the attributes of the sequence say.
    void score(const Slots& slots, std::int64_t begin, std::int64_t end, float* scores) {
        score(slots, begin, end, begin, end, scores);
    }

    // The same of the positions first..last alone. Memory is asked long before it is used: for the numbers of
    // rows while attributes are read, for rows while numbers are looked up.
    void score(const Slots& slots, std::int64_t first, std::int64_t last, std::int64_t begin,
               std::int64_t end, float* scores) {
        const std::int64_t k = weights_.n_labels();
        std::fill_n(scores, (last - first) * k, 0.0f);
        reads_.clear();
        rows_.clear();
        ends_.clear();
        for (std::int64_t t = first; t < last; ++t) {
            for_each_id(slots, t, begin, end, [&](std::int32_t id, float value) {
                prefetch(&row_of_[id]);
                Read& read = reads_.push();
                read.id = id;
                read.value = value;
            });
            ends_.push_back(reads_.size());
        }
        const Read* read = reads_.begin();
        for (std::int64_t& stop : ends_) {
            for (; read < reads_.begin() + stop; ++read) {
                const std::int32_t row = row_of_[read->id];
                if (row < 0) continue;
                WeightedRow& added = rows_.push();
                added.row = values(row);
                added.weight = read->value;
                prefetch(added.row);
                prefetch(added.row + k - 1);
            }
            stop = rows_.size();
        }
        const auto add_rows = linear_kernels().add_rows;
        std::int64_t from = 0;
        for (const std::int64_t stop : ends_) {
            if (stop > from) add_rows(rows_.begin() + from, stop - from, k, scores);
            scores += k;
            from = stop;
        }
    }

    bool keeps(std::int32_t id) const { return row_of_[id] != kLeftOut; }

    void add(std::int32_t id, std::int64_t label, float amount, double before) {
        if (row_of_[id] == kUntouched) {
            row_of_[id] = static_cast<std::int32_t>(ids_.size());
            ids_.push_back(id);
            weights_.grow();
        }
        weights_.add(row_of_[id], label, amount, before);
    }

  private:
    static constexpr std::int32_t kUntouched = -1, kLeftOut = -2;
    struct Read {
        std::int32_t id;
        float value;
    };
    WeightRows weights_;
    std::vector<std::int32_t> row_of_;
    std::vector<std::int32_t> ids_;
    Pile<Read> reads_;  // of the positions at hand
    Pile<WeightedRow> rows_;
    std::vector<std::int64_t> ends_;  // of each position
};

}  // namespace hedgerow
