// Which member of a group sums which histogram entries. A slice is the entries of consecutive slots; slices
// have about equally many entries and follow each other by member.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/histogram.hpp"
#include "trees/tree_data.hpp"
#include "util/exchange.hpp"

namespace hedgerow {

class EntrySlices {
  public:
    EntrySlices(const TreeData& data, std::int64_t n_members);

    // The slots and the entries of a member: [first, end).
    std::size_t first_slot(std::int64_t member) const { return slots_[member]; }
    std::size_t end_slot(std::int64_t member) const { return slots_[member + 1]; }
    std::int32_t first_entry(std::int64_t member) const { return entries_[member]; }
    std::int32_t end_entry(std::int64_t member) const { return entries_[member + 1]; }
    std::int32_t size(std::int64_t member) const { return end_entry(member) - first_entry(member); }

    // Writes what a histogram of all entries has in the slice of a member, without empty entries. `marked`:
    // only marked entries are not empty.
    void write(const Histogram& histogram, bool marked, std::int64_t member, Message& to);
    // Adds what a member wrote to a histogram of the slice. `marking`: also marks its places.
    void add(MessageReader& from, std::int64_t member, Histogram& slice, bool marking) const;

  private:
    enum class Form : std::int32_t { list, bitmap };

    std::vector<std::size_t> slots_;
    std::vector<std::int32_t> entries_;
    // Memory of write(): the places of a slice that are not empty, and their sums.
    std::vector<std::int32_t> places_;
    std::vector<Sums> sums_;
    std::vector<std::uint64_t> bits_;
};

}  // namespace hedgerow
