// What trees test, laid out for growing them. Positions of all sequences stand in one row of cells with as
// many empty cells between sequences as a window reaches, so a shifted read never needs a bounds check: an
// empty cell holds the padding symbol.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace hedgerow {

struct TreeData {
    enum class Kind { categorical, numeric, bag };

    struct Column {
        Kind kind;
        std::int32_t n_values;
        RowColumn source;
        std::vector<std::int32_t> codes;  // by cell, not for bags: n_values is padding, one more nothing
        std::vector<std::int64_t> posting_starts;  // by code (for bags by id): where its cells begin below
        std::vector<std::int32_t> postings;
    };

    // (column, offset): its entries in a histogram are values, then padding, then nothing.
    struct Slot {
        const Column* column;
        std::int64_t offset;
        std::int32_t first_id;
        std::int64_t first_entry;
        bool padded;
        std::int64_t n_ids() const { return column->n_values + (padded ? 1 : 0); }
        std::int64_t n_entries() const { return column->n_values + 2; }
    };

    std::int64_t n_positions = 0, n_entries = 0;
    std::vector<std::int32_t> position;  // by cell, -1 where empty
    std::vector<std::int32_t> cell;      // by position
    std::vector<std::int32_t> depth;     // by position: how many labels go before it, at most the order
    std::vector<Column> columns;
    std::vector<Slot> slots;

    TreeData(const std::int64_t* starts, std::int64_t n_sequences, std::int64_t order, std::int64_t reach) {
        n_positions = starts[n_sequences];
        cell.resize(static_cast<std::size_t>(n_positions));
        depth.resize(static_cast<std::size_t>(n_positions));
        position.assign(static_cast<std::size_t>(reach), -1);
        for (std::int64_t i = 0; i < n_sequences; ++i) {
            for (std::int64_t t = starts[i]; t < starts[i + 1]; ++t) {
                cell[t] = static_cast<std::int32_t>(position.size());
                depth[t] = static_cast<std::int32_t>(std::min(t - starts[i], order));
                position.push_back(static_cast<std::int32_t>(t));
            }
            position.insert(position.end(), static_cast<std::size_t>(reach), -1);
        }
    }

    void add_column(const RowColumn& source, std::int32_t n_values) {
        Column column{source.codes ? Kind::categorical : source.bins ? Kind::numeric : Kind::bag,
                      n_values,
                      source,
                      {},
                      {},
                      {}};
        if (column.kind != Kind::bag) {
            column.codes.resize(position.size());
            for (std::size_t c = 0; c < position.size(); ++c) column.codes[c] = code(column, position[c]);
        }
        index(column);
        columns.push_back(std::move(column));
    }

    void add_slot(std::int64_t column, std::int64_t offset, std::int32_t first_id, bool padded) {
        slots.push_back({&columns[column], offset, first_id, n_entries, padded});
        n_entries += slots.back().n_entries();
    }

    // Calls emit(code) for what the slot reads at a cell.
    template <class Emit>
    void read(const Slot& slot, std::int32_t c, Emit emit) const {
        const Column& column = *slot.column;
        if (column.kind != Kind::bag) return emit(column.codes[c + slot.offset]);
        const std::int32_t t = position[c + slot.offset];
        if (t < 0) return emit(column.n_values);
        for (std::int64_t i = column.source.starts[t]; i < column.source.starts[t + 1]; ++i) {
            if (column.source.ids[i] >= 0) emit(column.source.ids[i]);
        }
    }

    // The slot that owns an id.
    const Slot& slot_of(std::int32_t id) const {
        const auto after = std::upper_bound(slots.begin(), slots.end(), id,
                                            [](std::int32_t i, const Slot& s) { return i < s.first_id; });
        return *(after - 1);
    }

    // Whether the test `id` holds at a cell: the slot reads that value, has it in its bag, or reads a bin not
    // above it.
    bool holds(const Slot& slot, std::int32_t value, std::int32_t c) const {
        const Column& column = *slot.column;
        if (column.kind == Kind::categorical) return column.codes[c + slot.offset] == value;
        if (column.kind == Kind::numeric) {
            const std::int32_t read = column.codes[c + slot.offset];
            return value == column.n_values ? read == value : read <= value;
        }
        const std::int32_t t = position[c + slot.offset];
        if (t < 0) return value == column.n_values;
        return std::binary_search(column.source.ids + column.source.starts[t],
                                  column.source.ids + column.source.starts[t + 1], value);
    }

  private:
    static std::int32_t code(const Column& column, std::int32_t t) {
        if (t < 0) return column.n_values;
        const std::int32_t read = column.kind == Kind::categorical ? column.source.codes[t]
                                  : column.source.bins[t] == kMissingBin
                                      ? -1
                                      : static_cast<std::int32_t>(column.source.bins[t]);
        return read < 0 ? column.n_values + 1 : read;
    }

    // The cells of each code, by counting.
    void index(Column& column) const {
        const auto each = [&](auto visit) {
            const Slot here{&column, 0, 0, 0, false};
            for (std::int32_t c = 0; c < static_cast<std::int32_t>(position.size()); ++c) {
                read(here, c, [&](std::int32_t value) { visit(value, c); });
            }
        };
        column.posting_starts.assign(static_cast<std::size_t>(column.n_values) + 3, 0);
        each([&](std::int32_t value, std::int32_t) { ++column.posting_starts[value + 1]; });
        for (std::size_t v = 1; v < column.posting_starts.size(); ++v) {
            column.posting_starts[v] += column.posting_starts[v - 1];
        }
        column.postings.resize(static_cast<std::size_t>(column.posting_starts.back()));
        std::vector<std::int64_t> at(column.posting_starts.begin(), column.posting_starts.end() - 1);
        each([&](std::int32_t value, std::int32_t c) { column.postings[at[value]++] = c; });
    }
};

}  // namespace hedgerow
