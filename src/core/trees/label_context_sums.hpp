// The sums of a node by previous label: what a split on a previous label needs.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/examples.hpp"
#include "trees/growing_node.hpp"
#include "trees/layers.hpp"

namespace hedgerow {

class LabelContextSums {
  public:
    LabelContextSums(const Examples& examples, const Layers& layers);

    // Where in label_sums: the sums of the examples whose label at `lag` is v; the next entry has those of
    // the examples whose label at `lag` is another one (not `start`).
    std::int64_t entry(std::int64_t lag, std::int64_t v) const { return 2 * (lag * (examples_.k + 1) + v); }

    // label_sums of a node, from its positions.
    void sum(GrowingNode& node);
    // label_sums of a node with fractions of positions, from the sums before rounding.
    void round(GrowingNode& node) const;
    // label_sums of the larger side of a split on an attribute: parent - smaller side.
    void subtract(GrowingNode& parent, const GrowingNode& small, GrowingNode& large) const;
    // label_sums, in trees of order 1, of the side that no longer has the label `gone`.
    void remove_label(GrowingNode& parent, std::int64_t gone, GrowingNode& rest) const;

  private:
    void sum_columns(GrowingNode& node);
    void sum_by_position(GrowingNode& node);
    std::int64_t sum_newton_columns(GrowingNode& node);
    void sum_kept(GrowingNode& node);
    void sum_fractions(GrowingNode& node);
    void sum_kept_fractions(GrowingNode& node);
    void sum_newton_fractions(GrowingNode& node);
    void sum_newton_fraction_columns(GrowingNode& node) const;
    void sum_fraction_columns(GrowingNode& node);
    template <class Column, class Real, class Put>
    void add_labels(const NodeContexts& contexts, std::int64_t m, const Column* columns,
                    std::vector<Real>& by_label, Put put) const;
    template <class Put>
    void add_kept_labels(const NodeContexts& contexts, std::int32_t c, Put put);

    const Examples& examples_;
    const Layers& layers_;
    std::vector<std::int64_t> by_label_, columns_, n_cells_;
    std::vector<KeptSums> kept_, kept_by_label_;
    std::vector<double> fractional_by_label_, fractional_columns_;
    std::vector<std::int32_t> left_;
};

}  // namespace hedgerow
