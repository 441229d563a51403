// Which entries a tree can use. An entry that fewer than min_leaf positions of the root have can never be
// split off. Where there are many entries, histograms have places only for the others. The last place of a
// slot with missing values is for missing.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/growth_rules.hpp"
#include "trees/histogram.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

class EntryMap {
  public:
    // Every entry has its own place.
    explicit EntryMap(const TreeData& data);
    // Every entry of the slots [first, last) has a place; others have none.
    EntryMap(const TreeData& data, std::size_t first, std::size_t last);

    // Gives places to the entries that enough positions of the root have. `marked`: only marked entries are
    // not empty.
    void keep(const TreeData& data, const Histogram& root, bool marked, const GrowthRules& rules,
              const Packing& packing);

    std::int32_t n_places() const { return static_cast<std::int32_t>(entries_.size()); }
    // The place of an entry; n_places() for one that has none.
    const std::int32_t* index() const { return index_.data(); }
    std::int32_t entry(std::int32_t place) const { return entries_[place]; }
    std::int32_t first_place(std::size_t slot) const { return slot_starts_[slot]; }

  private:
    std::vector<std::int32_t> index_, entries_, slot_starts_;
};

}  // namespace hedgerow
