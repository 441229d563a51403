// The test of a split on an attribute, evaluated on cells.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/tree_data.hpp"

namespace hedgerow {

class SplitTest {
  public:
    // entries: those for which the test holds, all of one slot.
    SplitTest(const TreeData& data, const std::vector<std::int32_t>& entries)
        : data_(data),
          slot_(data.slot_of(entries[0])),
          code_(entries[0] - slot_.first_entry),
          is_single_(entries.size() == 1) {
        if (is_single_) return;
        in_set_.assign(static_cast<std::size_t>(slot_.n_entries()), 0);
        for (const std::int32_t entry : entries) in_set_[entry - slot_.first_entry] = 1;
    }

    const TreeData::Slot& slot() const { return slot_; }
    bool is_single() const { return is_single_; }
    std::int32_t code() const { return code_; }  // of a single entry

    bool holds(std::int32_t c) const {
        if (is_single_) return data_.holds(slot_, code_, c);
        bool in = false;
        data_.read(slot_, c, [&](std::int32_t code) { in = in_set_[code] != 0; });
        return in;
    }
    bool is_missing(std::int32_t c) const { return data_.is_missing(slot_, c); }

  private:
    const TreeData& data_;
    const TreeData::Slot& slot_;
    std::int32_t code_;
    bool is_single_;
    std::vector<std::uint8_t> in_set_;  // by code
};

}  // namespace hedgerow
