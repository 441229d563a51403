// Which entries a tree can use. An entry that fewer than min_leaf positions of the root have can never be
// split off. Where there are many entries, histograms have places only for the others. The last place of a
// slot with missing values is for missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "trees/growth_rules.hpp"
#include "trees/histogram.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

class EntryMap {
  public:
    // Every entry has its own place.
    explicit EntryMap(const TreeData& data) : index_(static_cast<std::size_t>(data.n_entries)) {
        std::iota(index_.begin(), index_.end(), 0);
        entries_ = index_;
        for (const TreeData::Slot& slot : data.slots) slot_starts_.push_back(slot.first_entry);
        slot_starts_.push_back(data.n_entries);
    }

    // Gives places to the entries that enough positions of the root have. `marked`: only marked entries are
    // not empty.
    void keep(const TreeData& data, const Histogram& root, bool marked, const GrowthRules& rules) {
        entries_.clear();
        slot_starts_.clear();
        for (const TreeData::Slot& slot : data.slots) {
            slot_starts_.push_back(static_cast<std::int32_t>(entries_.size()));
            const bool alone = slot.column->kind != TreeData::Kind::numeric && !rules.uses_subsets();
            const std::int64_t least = alone ? rules.min_leaf : 1;
            root.each(marked, slot.first_entry, slot.absent_entry(), [&](std::int32_t e) {
                if (root.entries[e].count() >= least) entries_.push_back(e);
            });
            if (slot.column->has_missing) entries_.push_back(slot.end() - 1);
        }
        slot_starts_.push_back(n_places());
        std::fill(index_.begin(), index_.end(), n_places());
        for (std::int32_t place = 0; place < n_places(); ++place) index_[entries_[place]] = place;
    }

    std::int32_t n_places() const { return static_cast<std::int32_t>(entries_.size()); }
    // The place of an entry; n_places() for one that has none.
    const std::int32_t* index() const { return index_.data(); }
    std::int32_t entry(std::int32_t place) const { return entries_[place]; }
    std::int32_t first_place(std::size_t slot) const { return slot_starts_[slot]; }

  private:
    std::vector<std::int32_t> index_, entries_, slot_starts_;
};

}  // namespace hedgerow
