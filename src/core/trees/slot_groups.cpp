#include "trees/slot_groups.hpp"

#include <algorithm>
#include <utility>

namespace hedgerow {

SlotGroups::SlotGroups(const TreeData& data) {
    std::int64_t n_read = 0;
    for (const TreeData::Slot& slot : data.slots) n_read += slot.column->n_read();
    if (data.n_entries > TreeData::kFewEntries || n_read > kFewCells) return;
    std::vector<std::uint8_t> grouped(data.slots.size(), 0);
    find_groups(data, grouped);
    if (!groups_.empty()) list(data, grouped);
}

// Groups consecutive slots, as many as fit into a table.
void SlotGroups::find_groups(const TreeData& data, std::vector<std::uint8_t>& grouped) {
    place_.assign(static_cast<std::size_t>(data.n_entries), -1);
    Group open;
    std::vector<std::size_t> members;
    double additions = 0;
    const auto close = [&] {
        if (members.size() > 1 && additions >= kWorthIt) {
            for (const std::size_t s : members) grouped[s] = 1;
            saved_ += additions - 1;
            n_places_ += open.size;
            groups_.push_back(std::move(open));
        }
        open = {};
        members.clear();
        additions = 0;
    };
    for (std::size_t s = 0; s < data.slots.size(); ++s) {
        const TreeData::Slot& slot = data.slots[s];
        if (slot.column->kind == TreeData::Kind::bag) continue;
        Part part;
        const double unusual = read_part(data, slot, part);
        const auto n = static_cast<std::int32_t>(part.entries.size());
        if (n < 2 || n > kMostPlaces / 2) continue;
        if (open.size * n > kMostPlaces) close();
        open.size *= n;
        open.parts.push_back(std::move(part));
        members.push_back(s);
        additions += unusual;
    }
    close();
}

// Lists the entries of a slot that occur; returns the fraction of positions without the usual code.
double SlotGroups::read_part(const TreeData& data, const TreeData::Slot& slot, Part& part) {
    std::int64_t n_usual = 0;
    for (const std::int32_t c : data.cell) {
        data.read(slot, c, [&](std::int32_t code) {
            std::int32_t& place = place_[slot.first_entry + code];
            n_usual += code == slot.usual;
            if (place >= 0) return;
            place = static_cast<std::int32_t>(part.entries.size());
            part.entries.push_back(slot.first_entry + code);
        });
    }
    return 1 - static_cast<double>(n_usual) / static_cast<double>(data.n_positions);
}

void SlotGroups::list(const TreeData& data, const std::vector<std::uint8_t>& grouped) {
    std::vector<const TreeData::Slot*> inside, others;
    for (std::size_t s = 0; s < data.slots.size(); ++s)
        (grouped[s] ? inside : others).push_back(&data.slots[s]);
    places_.assign(data.position.size() * groups_.size(), 0);
    std::uint16_t* to = places_.data();
    for (std::size_t c = 0; c < data.position.size(); ++c, to += groups_.size()) {
        starts_.push_back(static_cast<std::int64_t>(list_.size()));
        if (data.position[c] < 0) continue;
        const auto cell = static_cast<std::int32_t>(c);
        std::int32_t table = 0;
        auto slot = inside.begin();
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            std::int32_t place = 0;
            for (const Part& part : groups_[g].parts) {
                data.read(**slot, cell, [&](std::int32_t code) {
                    place = place * static_cast<std::int32_t>(part.entries.size()) +
                            place_[(*slot)->first_entry + code];
                });
                ++slot;
            }
            to[g] = static_cast<std::uint16_t>(table + place);
            table += groups_[g].size;
        }
        for (const TreeData::Slot* other : others) {
            data.read(*other, cell, [&](std::int32_t code) {
                if (code != other->usual)
                    list_.push_back(static_cast<std::uint16_t>(other->first_entry + code));
            });
        }
    }
    starts_.push_back(static_cast<std::int64_t>(list_.size()));
}

void SlotGroups::add_up(std::vector<Sums>& tables, LargeVector<Sums>& entries) const {
    Sums* table = tables.data();
    Sums halves[kMostPlaces + 64];  // rows and columns of each level, half as many as one level above
    for (const Group& group : groups_) {
        add_up(group.parts.data(), group.parts.size(), table, group.size, halves, entries.data());
        table += group.size;
    }
    std::fill(tables.begin(), tables.end(), Sums{});
}

// Divides the slots into two halves: sums by row belong to the first half, sums by column to the second.
void SlotGroups::add_up(const Part* parts, std::size_t n, const Sums* table, std::int32_t size, Sums* room,
                        Sums* entries) {
    if (n == 1) {
        for (std::int32_t i = 0; i < size; ++i) entries[parts->entries[i]] += table[i];
        return;
    }
    const std::size_t half = n / 2;
    std::int32_t n_columns = 1;
    for (std::size_t j = half; j < n; ++j) n_columns *= static_cast<std::int32_t>(parts[j].entries.size());
    const std::int32_t n_rows = size / n_columns;
    Sums *rows = room, *columns = rows + n_rows, *rest = columns + n_columns;
    std::fill(columns, rest, Sums{});
    for (std::int32_t i = 0; i < n_rows; ++i, table += n_columns) {
        Sums row;
        for (std::int32_t j = 0; j < n_columns; ++j) {
            row += table[j];
            columns[j] += table[j];
        }
        rows[i] = row;
    }
    add_up(parts, half, rows, n_rows, rest, entries);
    add_up(parts + half, n - half, columns, n_columns, rest, entries);
}

}  // namespace hedgerow
