// Which entries a tree can use. An entry that fewer than min_leaf positions of the root have can never be
// split off. Where there are many entries, histograms have places only for the others. The last place of a
// slot with missing values is for missing.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/growth_rules.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

class EntryMap {
  public:
    // Every entry has its own place.
    explicit EntryMap(const TreeData& data);
    // Every entry of the slots [first, last) has a place; others have none.
    EntryMap(const TreeData& data, std::size_t first, std::size_t last);

    // The entries of the slots [first, last) that enough positions of the root have, ascending.
    // each(begin, end, visit) calls visit(entry, count) for the entries [begin, end) that a position has,
    // ascending.
    template <class Each>
    static std::vector<std::int32_t> usable(const TreeData& data, std::size_t first, std::size_t last,
                                            const GrowthRules& rules, Each each) {
        std::vector<std::int32_t> entries;
        for (std::size_t s = first; s < last; ++s) {
            const TreeData::Slot& slot = data.slots[s];
            const bool alone =
                slot.column->kind != TreeData::Kind::numeric && !rules.uses_subsets(slot.column->n_values);
            const std::int64_t least = alone ? rules.min_leaf : 1;
            each(slot.first_entry, slot.absent_entry(), [&](std::int32_t entry, std::int64_t count) {
                if (count >= least) entries.push_back(entry);
            });
            if (slot.column->has_missing) entries.push_back(slot.end() - 1);
        }
        return entries;
    }
    // Gives places to these entries, which ascend, and to no others.
    void assign(const TreeData& data, std::vector<std::int32_t> entries);

    std::int32_t n_places() const { return static_cast<std::int32_t>(entries_.size()); }
    // The place of an entry; n_places() for one that has none.
    const std::int32_t* index() const { return index_.data(); }
    std::int32_t entry(std::int32_t place) const { return entries_[place]; }
    std::int32_t first_place(std::size_t slot) const { return slot_starts_[slot]; }

  private:
    std::vector<std::int32_t> index_, entries_, slot_starts_;
};

}  // namespace hedgerow
