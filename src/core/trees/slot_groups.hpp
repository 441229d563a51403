// Slots counted together. The codes of a position in all slots of a group are one number, the place in a
// table of sums. A node then takes one addition for each position and group; sums over rows and columns of
// the table give the sums of each slot.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/histogram.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

class SlotGroups {
  public:
    explicit SlotGroups(const TreeData& data);

    // Additions that grouping saves for a position on average; and the places of all tables.
    double saved() const { return saved_; }
    std::int32_t n_places() const { return n_places_; }

    std::int64_t n_groups() const { return static_cast<std::int64_t>(groups_.size()); }
    // (cells, groups): the places in the tables, which follow each other.
    const std::uint16_t* places() const { return places_.data(); }

    // By cell: the entries of other slots without their usual codes.
    const std::vector<std::int64_t>& starts() const { return starts_; }
    const std::vector<std::uint16_t>& list() const { return list_; }

    // Adds the tables to entries. OUT: tables, all zero.
    void add_up(std::vector<Sums>& tables, LargeVector<Sums>& entries) const;

  private:
    static constexpr std::int64_t kFewCells = 1 << 23;  // in all lists
    // Of a table, which should stay in the nearest cache.
    static constexpr std::int32_t kMostPlaces = 1 << 10;
    static constexpr double kWorthIt = 1.5;  // additions that a group must replace

    // A slot of a group: the entries that occur.
    struct Part {
        std::vector<std::int32_t> entries;
    };
    struct Group {
        std::vector<Part> parts;
        std::int32_t size = 1;
    };

    void find_groups(const TreeData& data, std::vector<std::uint8_t>& grouped);
    double read_part(const TreeData& data, const TreeData::Slot& slot, Part& part);
    void list(const TreeData& data, const std::vector<std::uint8_t>& grouped);
    static void add_up(const Part* parts, std::size_t n, const Sums* table, std::int32_t size, Sums* room,
                       Sums* entries);

    std::vector<Group> groups_;
    std::vector<std::int32_t> place_;  // by entry: its number among the entries of its slot
    double saved_ = 0;
    std::int32_t n_places_ = 0;
    std::vector<std::uint16_t> places_;
    std::vector<std::int64_t> starts_;
    std::vector<std::uint16_t> list_;
};

}  // namespace hedgerow
