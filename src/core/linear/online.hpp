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
#include <utility>
#include <vector>

#include "data/attribute_reader.hpp"
#include "lattice/lattice.hpp"
#include "linear/linear_kernels.hpp"
#include "util/append_buffer.hpp"
#include "util/interrupt.hpp"
#include "util/label_context.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

// Calls learn(i) for each of the n sequences i in `order`, one after the other, and polls for interrupts.
template <class Learn>
void for_each_example(const std::int64_t* order, std::int64_t n, Learn learn) {
    InterruptPoll poll;
    for (std::int64_t i = 0; i < n; ++i) {
        learn(order[i]);
        poll();
    }
}

// to[i] <- scale w_i, or for the mean over n_vectors vectors scale (w_i - sums_i / n_vectors). sums: null for
// the current weights.
inline void copy_weights(const float* values, const double* sums, std::int64_t size, std::int64_t n_vectors,
                         double scale, float* to) {
    const auto n = static_cast<double>(n_vectors);
    for (std::int64_t i = 0; i < size; ++i)
        to[i] = static_cast<float>(scale * (static_cast<double>(values[i]) - (sums ? sums[i] / n : 0.0)));
}

// The weights of label n-grams, in the layout of a lattice's transition table, and the table itself.
//
// An n-gram of m + 1 labels is a label context of m labels and the next label. Its weight applies wherever
// the label context ends with these m labels, so a cell of the table is a sum over the m:
//
//     table(c, y) = sum over m = shortest..order of values(the last m labels of c, y)
//
// The context of no labels is a bias, which is optional.
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

    // Calls visit(cell) for every n-gram that ends at position t of `labels`.
    template <class Visit>
    void for_each_cell(const std::int32_t* labels, std::int64_t t, Visit visit) const {
        const std::int64_t k = topology_.n_labels;
        for_each_label_context(labels, t, std::min(t, topology_.order), k,
                               [&](std::int64_t m, std::int64_t context) {
                                   if (m >= shortest_)
                                       visit((topology_.first_row(m) + context) * k + labels[t]);
                               });
    }

    // values[cell] += amount, and the same in every cell of the table that the n-gram applies to.
    void add(std::int64_t cell, float amount, double before) {
        const std::int64_t k = topology_.n_labels, label = cell % k;
        values_[cell] += amount;
        if (!sums_.empty()) sums_[cell] += before * static_cast<double>(amount);
        std::int64_t m = 0;
        while (m < topology_.order && topology_.first_row(m + 1) <= cell / k) ++m;
        const std::int64_t context = cell / k - topology_.first_row(m);
        for (std::int64_t width = 1; m <= topology_.order; ++m, width *= k) {
            float* rows = table_.data() + (topology_.first_row(m) + context * width) * k + label;
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

// The weights of attributes. Only attributes whose weights have changed have a row; all other weights are 0.
class AttributeWeights {
  public:
    // kept: which attributes may have weights.
    AttributeWeights(const std::uint8_t* kept, std::int64_t n_ids, std::int64_t n_labels, bool summed)
        : weights_(n_labels, summed), row_of_(n_ids) {
        for (std::int64_t id = 0; id < n_ids; ++id) row_of_[id] = kept[id] ? kUnchanged : kLeftOut;
    }

    std::int64_t n_ids() const { return static_cast<std::int64_t>(row_of_.size()); }
    // The attribute of each row.
    const std::vector<std::int32_t>& ids() const { return ids_; }
    const float* values(std::int64_t row) const { return weights_.values(row); }
    // Null without sums.
    const double* sums(std::int64_t row) const { return weights_.sums(row); }
    // The row of an attribute; negative if there is none.
    std::int64_t row(std::int64_t id) const { return row_of_[id]; }

    // OUT: scores (end - begin, labels) of the sequence [begin, end).
    void score(const Slots& slots, std::int64_t begin, std::int64_t end, float* scores) {
        score(slots, begin, end, begin, end, scores);
    }

    // OUT: scores (last - first, labels) of the positions first..last of the sequence [begin, end):
    //
    //     scores(t, y) = sum over the attributes a of position t of value(t, a) weight(a, y)
    //
    // Three passes, each of which prefetches what the next one reads: attributes, row numbers, rows.
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

    // weight(id, label) += amount; before: c_j of the formula at the top.
    void add(std::int32_t id, std::int64_t label, float amount, double before) {
        if (row_of_[id] == kUnchanged) {
            row_of_[id] = static_cast<std::int32_t>(ids_.size());
            ids_.push_back(id);
            weights_.grow();
        }
        weights_.add(row_of_[id], label, amount, before);
    }

  private:
    static constexpr std::int32_t kUnchanged = -1, kLeftOut = -2;
    struct Read {
        std::int32_t id;
        float value;
    };
    WeightRows weights_;
    std::vector<std::int32_t> row_of_;
    std::vector<std::int32_t> ids_;
    AppendBuffer<Read> reads_;  // of the positions that are being scored
    AppendBuffer<WeightedRow> rows_;
    std::vector<std::int64_t> ends_;  // by position, in reads_ and then in rows_
};

}  // namespace hedgerow
