// The best split of a node on an attribute, from its histogram. Where values are missing, the gain of a split
// is that of the positions that have a value; or, where a direction is learned, of all, with the missing ones
// on either side.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trees/entry_map.hpp"
#include "trees/growth_rules.hpp"
#include "trees/histogram.hpp"
#include "trees/objective.hpp"
#include "trees/tree_data.hpp"
#include "util/random.hpp"

namespace hedgerow {

// The entries for which the test holds, the first of them its name; for a threshold, the last bin for which
// it holds.
struct Split {
    double gain = 0;
    std::vector<std::int32_t> entries;
    enum class Side { unknown, no, yes } missing_side = Side::unknown;  // if a direction is learned
    Sums yes, no;  // of the two sides, without missing values if no direction is learned
};

// Whether a node may choose the test of an entry; depends on the key alone.
// A hash of key and entry (SplitMix64) as a number in [0, 1), compared with the fraction of tests.
inline bool is_drawn(std::uint64_t key, std::int32_t entry, double max_features) {
    if (max_features >= 1) return true;
    const std::uint64_t hash = mix_bits(key + kGoldenRatio64 * (static_cast<std::uint64_t>(entry) + 1));
    return static_cast<double>(hash >> 11) < max_features * 0x1p53;
}

class Splitter {
  public:
    Splitter(const TreeData& data, const Objective& objective, const GrowthRules& rules)
        : data_(data), objective_(objective), rules_(rules) {}

    // Sets the meaning of places in the histograms to come.
    void use(const EntryMap& map);

    // Of equal gains the first entry wins; where a direction is learned, missing values on the side where the
    // test does not hold. `marked`: only marked places are not empty. `key` draws the tests where
    // max_features is below 1.
    Split best(const Histogram& histogram, bool marked, const Sums& total, std::uint64_t key);

  private:
    // Consecutive slots whose entries are tests by themselves, or one slot with thresholds or subsets; as
    // places.
    struct Run {
        const TreeData::Slot* slot;
        std::int32_t first, end;
        bool simple;
        std::int32_t missing;  // the place of missing values; -1 if there are none
    };

    std::int64_t scan(const Sums* yes, std::int64_t n, const Sums& total, double* gain) const;
    static Sums missing_of(const Run& run, const Histogram& histogram);
    void try_direction(const Histogram& histogram, bool marked, const Sums& total, std::uint64_t key,
                       bool missing_hold, Split& best);
    bool consider(const Run& run, const Sums& total, Split& best) const;
    bool has_subsets(const TreeData::Slot& slot) const;
    void start_collecting();
    void collect(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key,
                 const Sums& more);
    void collect_simple(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key,
                        const Sums& more);
    void collect_prefixes(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key,
                          const Sums& more);
    void sort_by_value(const LargeVector<Sums>& sums);

    const TreeData& data_;
    Objective objective_;
    GrowthRules rules_;
    const EntryMap* map_ = nullptr;
    std::vector<Run> runs_;
    bool has_missing_ = false;
    std::vector<Sums> candidates_;      // sums where a test holds
    std::vector<std::int32_t> places_;  // of the candidates
    std::vector<std::pair<double, std::int32_t>> ranked_;
};

}  // namespace hedgerow
