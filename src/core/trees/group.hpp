// Members of a group grow the same trees, each on its own sequences. Their sums are added up by slices of
// entries: each member searches the best split of its slice, and all choose the best of these.
#pragma once

#include <cstdint>

#include "trees/entry_map.hpp"
#include "trees/entry_slices.hpp"
#include "trees/tree_data.hpp"
#include "util/exchange.hpp"

namespace hedgerow {

// What all trees of a group share.
struct GroupLayout {
    std::int64_t rank;
    EntrySlices slices;
    EntryMap map;        // of the own slice
    double reads;        // entries of a position of any member, on average
    bool lists_entries;  // whether some member does

    GroupLayout(const TreeData& data, Exchange& exchange);
};

// The link of one tree to the same tree of the other members.
struct Group {
    const GroupLayout& layout;
    Exchange* exchange = nullptr;

    explicit Group(const GroupLayout& shared, Exchange* link = nullptr) : layout(shared), exchange(link) {}
};

}  // namespace hedgerow
