// Surrogates (CART): a position whose value is missing goes where the first surrogate sends it whose own
// value is known. A surrogate is the test of another slot that agrees most often with the split; the best
// surrogate comes first.
//
// The published rule ranks the tests of all other slots, whether or not they hold at positions of the node,
// by the share of the examples that they predict. All values of a slot are missing together, so only the best
// test of a slot can decide: the others are not stored. Otherwise positions are counted, a surrogate must
// agree more often than sending all positions to the larger side, and there are at most kMostSurrogates.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trees/partitioner.hpp"
#include "trees/split_test.hpp"

namespace hedgerow {

class SurrogatePartitioner : public Partitioner {
  public:
    SurrogatePartitioner(const Examples& examples, Layers& layers, HistogramBuilder& histograms, Missing rule,
                         const Group* group);

    Division divide(const GrowingNode& parent) override;

  private:
    struct Surrogate {
        const TreeData::Slot* slot;
        std::int32_t code;
        bool opposite;
        double agreement;  // the fraction of votes for the way that it goes
    };
    // What the other tests are compared with: the surrogates, and whether most votes are for `yes`.
    struct Ranking {
        std::vector<Surrogate> surrogates;
        bool most_hold;
    };
    // For each entry the votes for `yes` minus those for `no`, of the positions that have it, and the number
    // of these votes as `packed`.
    struct Votes {
        const EntryMap& map;
        const Histogram& histogram;
        bool marked;
        Sums total;
    };

    Ranking find(const GrowingNode& parent, const TreeData::Slot& slot, Range missing);
    Sums vote(const GrowingNode& parent, Range voters, Range missing, std::int64_t sign, Histogram& votes,
              bool marking);
    Ranking find_in_group(const GrowingNode& parent, const TreeData::Slot& slot, Range voters, Range missing,
                          std::int64_t sign);
    bool counts_by_rest(const GrowingNode& parent) const {
        return !published_ && parent.histogram != nullptr;
    }
    void add_rest(const GrowingNode& parent, std::int64_t sign, Histogram& votes) const;
    std::vector<Surrogate> share(const std::vector<Surrogate>& own) const;
    void keep_best(std::vector<Surrogate>& found) const;
    std::vector<Surrogate> rank(const TreeData::Slot& slot, const Votes& votes) const;
    void consider(std::size_t s, const Votes& votes, std::vector<Surrogate>& found) const;
    bool decide(const std::vector<Surrogate>& surrogates, std::int32_t c, bool otherwise) const;

    const TreeData& data_;
    const Examples& examples_;
    bool published_;
    Packing packing_;
    Layers& layers_;
    HistogramBuilder& histograms_;
    const Group* group_;  // null if this process grows trees alone
    PlacesWriter writer_;
    std::unique_ptr<Histogram> of_slice_;  // in a group: the votes of the own slice; empty between uses
    LargeVector<Sums> votes_;
};

}  // namespace hedgerow
