#include "trees/entry_map.hpp"

#include <algorithm>
#include <numeric>

namespace hedgerow {

EntryMap::EntryMap(const TreeData& data) : index_(static_cast<std::size_t>(data.n_entries)) {
    std::iota(index_.begin(), index_.end(), 0);
    entries_ = index_;
    for (const TreeData::Slot& slot : data.slots) slot_starts_.push_back(slot.first_entry);
    slot_starts_.push_back(data.n_entries);
}

EntryMap::EntryMap(const TreeData& data, std::size_t first, std::size_t last) {
    for (std::size_t s = 0; s < data.slots.size(); ++s) {
        slot_starts_.push_back(n_places());
        const TreeData::Slot& slot = data.slots[s];
        for (std::int32_t e = slot.first_entry; s >= first && s < last && e < slot.end(); ++e)
            entries_.push_back(e);
    }
    slot_starts_.push_back(n_places());
    index_.assign(static_cast<std::size_t>(data.n_entries), n_places());
    for (std::int32_t place = 0; place < n_places(); ++place) index_[entries_[place]] = place;
}

void EntryMap::keep(const TreeData& data, const Histogram& root, bool marked, const GrowthRules& rules,
                    const Packing& packing) {
    entries_.clear();
    slot_starts_.clear();
    for (const TreeData::Slot& slot : data.slots) {
        slot_starts_.push_back(static_cast<std::int32_t>(entries_.size()));
        const bool alone =
            slot.column->kind != TreeData::Kind::numeric && !rules.uses_subsets(slot.column->n_values);
        const std::int64_t least = alone ? rules.min_leaf : 1;
        root.each(marked, slot.first_entry, slot.absent_entry(), [&](std::int32_t e) {
            if (packing.count(root.entries[e].packed) >= least) entries_.push_back(e);
        });
        if (slot.column->has_missing) entries_.push_back(slot.end() - 1);
    }
    slot_starts_.push_back(n_places());
    std::fill(index_.begin(), index_.end(), n_places());
    for (std::int32_t place = 0; place < n_places(); ++place) index_[entries_[place]] = place;
}

}  // namespace hedgerow
