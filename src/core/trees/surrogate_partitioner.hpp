// Surrogates (CART): a position whose value is missing goes where the first surrogate sends it whose own
// value is known. A surrogate is the test of another slot that agrees most often with the split; the best
// surrogate comes first.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/partitioner.hpp"
#include "trees/split_test.hpp"

namespace hedgerow {

class SurrogatePartitioner : public Partitioner {
  public:
    SurrogatePartitioner(const TreeData& data, Layers& layers, HistogramBuilder& histograms)
        : data_(data), layers_(layers), histograms_(histograms) {}

    Division divide(const GrowingNode& parent) override;

  private:
    struct Surrogate {
        const TreeData::Slot* slot;
        std::int32_t code;
        bool opposite;
        double agreement;  // the fraction of positions where it goes the same way as the split
    };
    // For each entry the number of positions that have it and go to `yes`, minus those that go to `no`.
    struct Votes {
        const Histogram& histogram;
        bool marked;
        Sums total;
    };

    std::vector<Surrogate> find(const GrowingNode& parent, const TreeData::Slot& slot, Range missing);
    std::vector<Surrogate> rank(const TreeData::Slot& slot, const Votes& votes) const;
    void consider(std::size_t s, const Votes& votes, std::vector<Surrogate>& found) const;
    bool decide(const std::vector<Surrogate>& surrogates, std::int32_t c, bool otherwise) const;

    const TreeData& data_;
    Layers& layers_;
    HistogramBuilder& histograms_;
    std::vector<Sums> votes_;
};

}  // namespace hedgerow
