// Weighting (C4.5): a position whose value is missing goes to both sides, a fraction to each, as large as
// that side's share of the examples whose value is known. The sums of a fraction are rounded to whole
// numbers, and the rest is on the other side: nothing is lost, so histograms can still be subtracted. The
// larger fraction counts as the position. By the published rule both fractions do, so that a side needs no
// whole position; then counts, and so histograms, do not subtract.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trees/partitioner.hpp"
#include "trees/split_test.hpp"

namespace hedgerow {

class FractionalPartitioner : public Partitioner {
  public:
    FractionalPartitioner(const Examples& examples, Layers& layers, Missing rule, const Group* group)
        : data_(examples.data),
          examples_(examples),
          layers_(layers),
          counts_twice_(rule == Missing::published_weighting),
          group_(group) {}

    Division divide(const GrowingNode& parent) override;

    // The examples of the positions in a range of a node, fractions as fractions.
    static double count_examples(const Examples& examples, const Layer& layer, const NodeContexts& contexts,
                                 Range range);

  private:
    // Where the positions of the larger side begin, and whether the test holds for the smaller side, in
    // front.
    struct Cut {
        std::int64_t middle;
        bool yes_is_smaller;
    };

    // Examples where the value is known, on the smaller side and on the larger side; and how many positions
    // have none.
    struct Known {
        double small, large;
        std::int64_t n_missing;
    };

    Cut move_smaller_side(const GrowingNode& parent, const SplitTest& test);
    template <class Side>
    Cut move_smaller_side(Layer& layer, Range range, const TreeData::Slot& slot, Side side);
    bool yes_is_smaller(std::int64_t n_yes, std::int64_t n_missing, std::int64_t n) const;
    Known count_known(const GrowingNode& parent, std::int64_t middle) const;
    void move_fractions(GrowingNode& small, GrowingNode& large, bool small_is_yes, double true_fraction);

    const TreeData& data_;
    const Examples& examples_;
    Layers& layers_;
    bool counts_twice_;   // whether a position in parts counts on both sides
    const Group* group_;  // null if this process grows trees alone
    std::vector<std::int32_t> places_;
    std::vector<std::int32_t> missing_;  // places of the positions whose value is missing
};

}  // namespace hedgerow
