// What trees test, laid out for growing them. Positions of all sequences stand in one row of cells with as
// many empty cells between sequences as a window reaches, so a shifted read never needs a bounds check: an
// empty cell holds the padding symbol. Values too rare for any split have no code of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

constexpr std::int64_t kAhead = 16;  // cells from now

struct TreeData {
    enum class Kind { categorical, numeric, bag };

    struct Column {
        Kind kind;
        std::int32_t n_values, n_codes;  // n_codes is padding, the next nothing, the next missing
        bool has_missing;
        std::int64_t at;                       // its place in a row; -1 for bags
        std::vector<std::int32_t> values;      // by code
        std::vector<std::int64_t> bag_starts;  // by position
        std::vector<std::int32_t> bag;
        std::vector<std::int64_t> posting_starts;  // by code: where its cells begin below
        std::vector<std::int32_t> postings;
    };

    // (column, offset): its entries in a histogram are codes, then padding, then nothing, and then missing
    // if it is that anywhere.
    struct Slot {
        const Column* column;
        std::int64_t offset;
        std::int32_t first_id;
        std::int32_t first_entry;
        std::int32_t usual = -1;  // the code that most positions read, -1 if there is none; not in entry_list
        std::int32_t n_entries() const { return column->n_codes + 2 + column->has_missing; }
        std::int32_t nothing() const { return first_entry + column->n_codes + 1; }
        std::int32_t missing_code() const { return column->n_codes + 2; }
        std::int32_t end() const { return first_entry + n_entries(); }
        std::int32_t id(std::int32_t entry) const {
            const std::int32_t code = entry - first_entry;
            return first_id + (code < column->n_codes ? column->values[code] : column->n_values);
        }
    };

    static constexpr std::int32_t kFewEntries = 1024;
    static constexpr std::int64_t kManyCells = 1 << 26;

    std::int64_t n_positions = 0, stride = 0;
    std::int32_t n_entries = 0;
    std::int64_t min_count;
    std::vector<std::int32_t> position;  // by cell, -1 where empty
    std::vector<std::int32_t> cell;      // by position
    std::vector<std::int32_t> depth;     // by position: how many labels go before it, at most the order
    std::vector<std::uint8_t> depth_at;  // the same by cell
    std::vector<std::int32_t> rows;      // by cell, then column: codes
    std::vector<std::int64_t>
        entry_starts;  // by cell: where its entries begin below; empty where they are not listed
    std::vector<std::int32_t> entry_list;
    std::vector<Column> columns;
    std::vector<Slot> slots;

    // min_count: values of fewer positions get no code.
    TreeData(const std::int64_t* starts, std::int64_t n_sequences, std::int64_t order, std::int64_t reach,
             std::int64_t min_count_)
        : min_count(min_count_) {
        n_positions = starts[n_sequences];
        cell.resize(static_cast<std::size_t>(n_positions));
        depth.resize(static_cast<std::size_t>(n_positions));
        position.reserve(static_cast<std::size_t>(n_positions + (n_sequences + 1) * reach));
        position.assign(static_cast<std::size_t>(reach), -1);
        for (std::int64_t i = 0; i < n_sequences; ++i) {
            for (std::int64_t t = starts[i]; t < starts[i + 1]; ++t) {
                cell[t] = static_cast<std::int32_t>(position.size());
                depth[t] = static_cast<std::int32_t>(std::min(t - starts[i], order));
                position.push_back(static_cast<std::int32_t>(t));
            }
            position.insert(position.end(), static_cast<std::size_t>(reach), -1);
        }
        depth_at.resize(position.size(), 0);
        for (std::int64_t t = 0; t < n_positions; ++t)
            depth_at[cell[t]] = static_cast<std::uint8_t>(depth[t]);
    }

    // Columns first, all of them; then lay_out(), then slots.
    void add_column(const RowColumn& source, std::int32_t n_values) {
        Column column{};
        column.kind = source.codes ? Kind::categorical : source.bins ? Kind::numeric : Kind::bag;
        column.n_values = n_values;
        column.at = column.kind == Kind::bag ? -1 : stride++;
        columns.push_back(std::move(column));
        sources_.push_back(source);
    }

    void lay_out() {
        rows.resize(position.size() * static_cast<std::size_t>(stride));
        for (std::size_t j = 0; j < columns.size(); ++j) encode(columns[j], sources_[j]);
        sources_.clear();
    }

    void add_slot(std::int64_t column, std::int64_t offset, std::int32_t first_id) {
        slots.push_back({&columns[column], offset, first_id, n_entries});
        n_entries += slots.back().n_entries();
    }

    // After the last slot: the entries of each cell are written out where that is not too much. What most
    // positions read in a slot is not among them: it is what the others leave of a node.
    void finish() {
        std::int64_t n_read = 0, n_listed = 0;
        for (Slot& slot : slots) {
            slot.usual = usual_of(slot);
            const std::int64_t read = static_cast<std::int64_t>(slot.column->postings.size());
            const std::vector<std::int64_t>& starts = slot.column->posting_starts;
            n_read += read;
            n_listed += slot.usual < 0 ? read : read - (starts[slot.usual + 1] - starts[slot.usual]);
        }
        if (2 * n_listed > n_read || n_listed > kManyCells) return;
        entry_starts.reserve(position.size() + 1);
        for (std::int32_t c = 0; c < static_cast<std::int32_t>(position.size()); ++c) {
            entry_starts.push_back(static_cast<std::int64_t>(entry_list.size()));
            for (const Slot& slot : slots) {
                if (position[c] < 0) break;
                read(slot, c, [&](std::int32_t code) {
                    if (code != slot.usual) entry_list.push_back(slot.first_entry + code);
                });
            }
        }
        entry_starts.push_back(static_cast<std::int64_t>(entry_list.size()));
    }

    // Whether any column misses a value.
    bool has_missing() const {
        return std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.has_missing; });
    }

    // Calls emit(code) for what the slot reads at a cell.
    template <class Emit>
    void read(const Slot& slot, std::int32_t c, Emit emit) const {
        const Column& column = *slot.column;
        if (column.kind != Kind::bag) return emit(rows[(c + slot.offset) * stride + column.at]);
        const std::int32_t t = position[c + slot.offset];
        if (t < 0) return emit(column.n_codes);
        for (std::int64_t i = column.bag_starts[t]; i < column.bag_starts[t + 1]; ++i) emit(column.bag[i]);
    }

    // Whether a value is missing, which none is in most columns. Padding is not missing.
    bool is_missing(const Slot& slot, std::int32_t c) const {
        const Column& column = *slot.column;
        if (!column.has_missing) return false;
        if (column.kind != Kind::bag)
            return rows[(c + slot.offset) * stride + column.at] == slot.missing_code();
        const std::int32_t t = position[c + slot.offset];
        return t >= 0 && column.bag_starts[t] < column.bag_starts[t + 1] &&
               column.bag[column.bag_starts[t]] == slot.missing_code();
    }

    // Tells the processor that the slot will be read at a cell soon.
    void expect(const Slot& slot, std::int32_t c) const {
        if (slot.column->kind != Kind::bag)
            prefetch(rows.data() + (c + slot.offset) * stride + slot.column->at);
    }

    const Slot& slot_of(std::int32_t entry) const {
        const auto after = std::upper_bound(slots.begin(), slots.end(), entry,
                                            [](std::int32_t e, const Slot& s) { return e < s.first_entry; });
        return *(after - 1);
    }

    // Whether the test of a code holds at a cell: the slot reads that code, has it in its bag, or reads a bin
    // not above it.
    bool holds(const Slot& slot, std::int32_t code, std::int32_t c) const {
        const Column& column = *slot.column;
        if (column.kind == Kind::bag) {
            const std::int32_t t = position[c + slot.offset];
            if (t < 0) return code == column.n_codes;
            return std::binary_search(column.bag.begin() + column.bag_starts[t],
                                      column.bag.begin() + column.bag_starts[t + 1], code);
        }
        const std::int32_t read = rows[(c + slot.offset) * stride + column.at];
        return column.kind == Kind::numeric && code < column.n_codes ? read <= code : read == code;
    }

  private:
    // The code that more than half of all positions read.
    std::int32_t usual_of(const Slot& slot) const {
        const Column& column = *slot.column;
        if (column.kind == Kind::bag) return -1;
        const std::vector<std::int64_t>& starts = column.posting_starts;
        for (std::int32_t code = 0; code < column.n_codes; ++code) {
            if (2 * (starts[code + 1] - starts[code]) > n_positions) return code;
        }
        return -1;
    }

    template <class Emit>
    static void each_value(const RowColumn& source, std::int64_t t, Emit emit) {
        if (source.codes) {
            if (source.codes[t] >= 0) emit(source.codes[t]);
        } else if (source.bins) {
            if (source.bins[t] != kMissingBin) emit(static_cast<std::int32_t>(source.bins[t]));
        } else {
            for (std::int64_t i = source.starts[t]; i < source.starts[t + 1]; ++i)
                if (source.ids[i] >= 0) emit(source.ids[i]);
        }
    }

    void encode(Column& column, const RowColumn& source) {
        std::vector<std::int32_t> code_of(static_cast<std::size_t>(column.n_values), 0);
        for (std::int64_t t = 0; t < n_positions; ++t)
            each_value(source, t, [&](std::int32_t v) { ++code_of[v]; });
        for (std::int32_t v = 0; v < column.n_values; ++v) {
            const bool kept = column.kind == Kind::numeric || code_of[v] >= min_count;
            code_of[v] = kept ? static_cast<std::int32_t>(column.values.size()) : -1;
            if (kept) column.values.push_back(v);
        }
        column.n_codes = static_cast<std::int32_t>(column.values.size());
        column.has_missing = source.has_missing;
        const std::int32_t missing = column.n_codes + 2;
        if (column.kind == Kind::bag) {
            column.bag_starts.push_back(0);
            for (std::int64_t t = 0; t < n_positions; ++t) {
                each_value(source, t, [&](std::int32_t v) {
                    if (code_of[v] >= 0) column.bag.push_back(code_of[v]);
                });
                if (is_missing_at(source, t)) column.bag.push_back(missing);
                column.bag_starts.push_back(static_cast<std::int64_t>(column.bag.size()));
            }
        } else {
            for (std::size_t c = 0; c < position.size(); ++c) {
                std::int32_t code = position[c] < 0 ? column.n_codes : column.n_codes + 1;
                if (position[c] >= 0) {
                    if (is_missing_at(source, position[c])) code = missing;
                    each_value(source, position[c], [&](std::int32_t v) {
                        if (code_of[v] >= 0) code = code_of[v];
                    });
                }
                rows[c * static_cast<std::size_t>(stride) + static_cast<std::size_t>(column.at)] = code;
            }
        }
        index(column);
    }

    // The cells of each code, by counting; those that read nothing are never asked for.
    void index(Column& column) const {
        const auto each = [&](auto visit) {
            const Slot here{&column, 0, 0, 0};
            for (std::int32_t c = 0; c < static_cast<std::int32_t>(position.size()); ++c) {
                read(here, c, [&](std::int32_t code) {
                    if (code != column.n_codes + 1) visit(code, c);
                });
            }
        };
        const Slot all{&column, 0, 0, 0};
        column.posting_starts.assign(static_cast<std::size_t>(all.n_entries()) + 1, 0);
        each([&](std::int32_t code, std::int32_t) { ++column.posting_starts[code + 1]; });
        for (std::size_t v = 1; v < column.posting_starts.size(); ++v) {
            column.posting_starts[v] += column.posting_starts[v - 1];
        }
        column.postings.resize(static_cast<std::size_t>(column.posting_starts.back()));
        std::vector<std::int64_t> at(column.posting_starts.begin(), column.posting_starts.end() - 1);
        each([&](std::int32_t code, std::int32_t c) { column.postings[at[code]++] = c; });
    }

    std::vector<RowColumn> sources_;
};

}  // namespace hedgerow
