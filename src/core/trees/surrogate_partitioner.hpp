// Surrogates (CART): a position whose value is missing goes where the first surrogate sends it whose own
// value is known. A surrogate is the test of another slot that agrees most often with the split; the best
// surrogate comes first.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trees/partitioner.hpp"
#include "trees/split_test.hpp"

namespace hedgerow {

class SurrogatePartitioner : public Partitioner {
  public:
    SurrogatePartitioner(const Examples& examples, Layers& layers, HistogramBuilder& histograms,
                         const Group* group);

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
        const EntryMap& map;
        const Histogram& histogram;
        bool marked;
        Sums total;
    };

    std::vector<Surrogate> find(const GrowingNode& parent, const TreeData::Slot& slot, Range missing);
    void vote(const GrowingNode& parent, Range voters, Range missing, std::int64_t sign, Histogram& votes,
              bool marking);
    std::vector<Surrogate> find_in_group(const GrowingNode& parent, const TreeData::Slot& slot, Range voters,
                                         Range missing, std::int64_t sign);
    void add_rest(const GrowingNode& parent, std::int64_t sign, Histogram& votes) const;
    Sums total_of(const GrowingNode& parent) const;
    std::vector<Surrogate> share(const std::vector<Surrogate>& own) const;
    static void keep_best(std::vector<Surrogate>& found);
    std::vector<Surrogate> rank(const TreeData::Slot& slot, const Votes& votes) const;
    void consider(std::size_t s, const Votes& votes, std::vector<Surrogate>& found) const;
    bool decide(const std::vector<Surrogate>& surrogates, std::int32_t c, bool otherwise) const;

    const TreeData& data_;
    Packing packing_;
    Layers& layers_;
    HistogramBuilder& histograms_;
    const Group* group_;  // null if this process grows trees alone
    PlacesWriter writer_;
    std::unique_ptr<Histogram> of_slice_;  // in a group: the votes of the own slice; empty between uses
    LargeVector<Sums> votes_;
};

}  // namespace hedgerow
