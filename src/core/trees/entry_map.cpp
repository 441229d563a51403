#include "trees/entry_map.hpp"

#include <numeric>
#include <utility>

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

void EntryMap::assign(const TreeData& data, std::vector<std::int32_t> entries) {
    entries_ = std::move(entries);
    slot_starts_.clear();
    index_.assign(static_cast<std::size_t>(data.n_entries), n_places());
    std::int32_t place = 0;
    for (const TreeData::Slot& slot : data.slots) {
        slot_starts_.push_back(place);
        for (; place < n_places() && entries_[place] < slot.end(); ++place) index_[entries_[place]] = place;
    }
    slot_starts_.push_back(n_places());
}

}  // namespace hedgerow
