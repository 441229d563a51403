// Which member of a group sums which histogram entries. A slice is the entries of consecutive slots; slices
// have about equally many entries and follow each other by member.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/compact_sums.hpp"
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

  private:
    std::vector<std::size_t> slots_;
    std::vector<std::int32_t> entries_;
};

// Writes consecutive places of a histogram into a message, without those that are empty.
class PlacesWriter {
  public:
    explicit PlacesWriter(const Packing& packing) : packing_(packing), compact_(packing) {}

    // The places [first, end). `marked`: only marked places are not empty.
    void write(const Histogram& histogram, bool marked, std::int32_t first, std::int32_t end, Message& to);
    // The same, with the number of positions at each place instead of sums.
    void write_counts(const Histogram& histogram, bool marked, std::int32_t first, std::int32_t end,
                      Message& to);

  private:
    void write_places(const Histogram& histogram, bool marked, std::int32_t first, std::int32_t end,
                      MessageWriter& to);

    Packing packing_;
    CompactSums compact_;
    // Memory of these functions: the places that are not empty, and their sums.
    std::vector<std::int32_t> places_;
    std::vector<Sums> sums_;
    std::vector<std::uint64_t> bits_;
};

// Adds what a PlacesWriter wrote of n places to a histogram whose first places these are. `marking`: also
// marks them.
void add_places(MessageReader& from, std::int32_t n, const Packing& packing, Histogram& to, bool marking);
// Adds the counts of n places.
void add_counts(MessageReader& from, std::int32_t n, std::vector<std::int64_t>& to);

}  // namespace hedgerow
