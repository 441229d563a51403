// Dense weights of label n-grams, in the layout of a lattice's transition table.
//
// An n-gram of m + 1 labels is a label context of m labels and the next label. Its weight applies wherever
// the label context ends with these m labels, so a cell of the table is a sum over the m:
//
//     table(c, y) = sum over m = 0..order of weight(the last m labels of c, y)
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lattice/topology.hpp"
#include "linear/weight_rows.hpp"
#include "util/label_context.hpp"

namespace hedgerow {

// IN: the weight of each n-gram. OUT: the transition table, each cell a sum over n-grams as above.
void sum_shorter_contexts(const Topology& topology, float* table);
// The transpose. IN: a number for each cell of the table. OUT: for each n-gram the sum over the cells that
// its weight is a part of.
void sum_longer_contexts(const Topology& topology, double* cells);

// The weights of n-grams with their sums (weight_rows.hpp), and the transition table that follows from them.
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

    std::vector<float> copied(const WeightCopy& copy) const {
        std::vector<float> weights(size());
        for (std::size_t i = 0; i < size(); ++i)
            weights[i] = copy(values_[i], sums_.empty() ? nullptr : &sums_[i]);
        return weights;
    }

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
    void add(std::int64_t cell, float amount, double before);

  private:
    Topology topology_;
    std::int64_t shortest_;
    std::vector<float> values_;
    std::vector<double> sums_;
    std::vector<float> table_;
};

}  // namespace hedgerow
