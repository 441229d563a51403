// The attributes of all training positions as codes, laid out for growing trees. It is built once and shared
// by every tree, and by all output-code bits and phases of a fit that read the same attributes.
//
// The positions of all sequences are in one array of cells. Between two sequences are as many empty cells as
// the window reaches, so reading at an offset needs no bounds check: an empty cell holds the padding code.
// Values that too few positions have for any split get no code of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "data/attribute_reader.hpp"
#include "util/exchange.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

constexpr std::int64_t kAhead = 16;  // how many cells ahead memory is prefetched

// A column to be encoded, the offsets at which it is read, and whether there is an attribute for padding.
struct ColumnSource {
    ColumnView column;
    std::int32_t n_values;
    std::vector<std::int64_t> offsets;
    bool padded;
};

class SlotGroups;

class TreeData {
  public:
    enum class Kind { categorical, numeric, bag };

    // Codes below n_codes are values. The next three mean padding, absent and missing.
    struct Column {
        Kind kind;
        std::int32_t n_values, n_codes = 0;
        bool has_missing;
        std::int64_t place;                        // byte in the row of a cell; -1 for bags
        int code_bytes = 0;                        // of a code in the row: 1, 2 or 4
        std::vector<std::int32_t> values;          // by code
        std::vector<std::int64_t> bag_starts;      // by position
        std::vector<std::int32_t> bag;             // codes, rising within a position
        std::vector<std::int64_t> n_cells;         // by code, 0 for absent
        std::vector<std::int64_t> posting_starts;  // by code: where its cells begin in postings
        std::vector<std::int32_t> postings;        // without the bins of numbers: tests hold for many bins
        std::int64_t n_read() const {
            return std::accumulate(n_cells.begin(), n_cells.end(), std::int64_t{0});
        }
        std::int32_t absent_code() const { return n_codes + 1; }
        std::int32_t missing_code() const { return n_codes + 2; }
    };

    // Reads the codes of a column that take sizeof(Code) bytes.
    template <class Code>
    struct CodeReader {
        const std::uint8_t* first;
        std::int64_t stride;
        std::int32_t operator()(std::int64_t c) const {
            Code code;
            std::memcpy(&code, first + c * stride, sizeof code);
            return code;
        }
    };

    // A column at an offset. Its histogram entries are the codes, then padding, then absent, and then missing
    // if the column has missing values.
    struct Slot {
        const Column* column;
        std::int64_t offset;
        std::int32_t first_id;
        std::int32_t first_entry;
        bool padded = false;      // whether padding is a test
        std::int32_t usual = -1;  // the code that more than half of the positions have; -1 if there is none
        std::int32_t n_entries() const { return column->n_codes + 2 + column->has_missing; }
        std::int32_t n_tests() const { return column->n_codes + padded; }
        std::int32_t absent_entry() const { return first_entry + column->absent_code(); }
        std::int32_t missing_code() const { return column->missing_code(); }
        std::int32_t end() const { return first_entry + n_entries(); }
        std::int32_t id(std::int32_t entry) const {
            const std::int32_t code = entry - first_entry;
            return first_id + (code < column->n_codes ? column->values[code] : column->n_values);
        }
    };

    static constexpr std::int32_t kFewEntries = 1024;

    // IN: starts of n_sequences sequences, and the end; `order`: how many previous labels the trees may test;
    // min_count: values of fewer positions get no code. exchange: if there are other members of a group with
    // sequences of their own, all get the same codes and entries; null if this process has all sequences.
    // Throws std::invalid_argument if something is too large.
    TreeData(const std::int64_t* starts, std::int64_t n_sequences, std::int64_t order, std::int64_t min_count,
             const std::vector<ColumnSource>& sources, std::int64_t n_threads, Exchange* exchange = nullptr);
    TreeData(const TreeData&) = delete;  // slots point to columns
    TreeData& operator=(const TreeData&) = delete;
    ~TreeData();

    // Slots counted together; found when first asked for.
    const SlotGroups& groups() const;

    std::int64_t n_positions, order, min_count;
    std::int64_t n_all_positions;        // of all members of the group
    std::int64_t stride = 0;             // bytes of a cell in `rows`
    std::int32_t n_entries = 0;          // of a histogram
    std::vector<std::int32_t> position;  // by cell, -1 where empty
    std::vector<std::int32_t> cell;      // by position
    std::vector<std::uint8_t> depth;     // by position: how many labels precede it, at most `order`
    std::vector<std::uint8_t> depth_at;  // the same by cell
    std::vector<std::uint8_t> rows;      // (cells, stride): codes, each in as few bytes as its column needs
    // The entries of each cell, without the usual code of a slot, which is what the others leave of a node's
    // total. Empty if the lists would be long.
    std::vector<std::int64_t> entry_starts;  // by cell
    std::vector<std::int32_t> entry_list;
    std::vector<Column> columns;
    std::vector<Slot> slots;

    bool has_missing() const { return std::ranges::any_of(columns, &Column::has_missing); }
    bool lists_entries() const { return !entry_starts.empty(); }
    std::int64_t n_cells() const { return static_cast<std::int64_t>(position.size()); }

    // visit(codes), where codes(cell) is what a slot that is no bag reads at a cell.
    template <class Visit>
    auto with_codes(const Slot& slot, Visit visit) const {
        const std::uint8_t* first = rows.data() + slot.offset * stride + slot.column->place;
        if (slot.column->code_bytes == 1) return visit(CodeReader<std::uint8_t>{first, stride});
        if (slot.column->code_bytes == 2) return visit(CodeReader<std::uint16_t>{first, stride});
        return visit(CodeReader<std::int32_t>{first, stride});
    }
    std::int32_t code(const Slot& slot, std::int32_t c) const {
        return with_codes(slot, [c](auto codes) { return codes(c); });
    }

    // Calls emit(code) for each code that the slot reads at a cell.
    template <class Emit>
    void read(const Slot& slot, std::int32_t c, Emit emit) const {
        const Column& column = *slot.column;
        if (column.kind != Kind::bag) return emit(code(slot, c));
        const std::int32_t t = position[c + slot.offset];
        if (t < 0) return emit(column.n_codes);
        for (std::int64_t i = column.bag_starts[t]; i < column.bag_starts[t + 1]; ++i) emit(column.bag[i]);
    }

    // Whether the value is missing. Padding is not missing.
    bool is_missing(const Slot& slot, std::int32_t c) const {
        const Column& column = *slot.column;
        if (!column.has_missing) return false;
        if (column.kind != Kind::bag) return code(slot, c) == slot.missing_code();
        const std::int32_t t = position[c + slot.offset];
        return t >= 0 && column.bag_starts[t] < column.bag_starts[t + 1] &&
               column.bag[column.bag_starts[t]] == slot.missing_code();
    }

    // Whether the test of a code holds at a cell: the slot reads this code, its bag has it, or it reads this
    // bin or a lower one.
    bool holds(const Slot& slot, std::int32_t tested, std::int32_t c) const {
        const Column& column = *slot.column;
        if (column.kind == Kind::bag) {
            const std::int32_t t = position[c + slot.offset];
            if (t < 0) return tested == column.n_codes;
            return std::binary_search(column.bag.begin() + column.bag_starts[t],
                                      column.bag.begin() + column.bag_starts[t + 1], tested);
        }
        return is_threshold(slot, tested) ? code(slot, c) <= tested : code(slot, c) == tested;
    }

    // Whether the test of a code holds for lower codes too.
    static bool is_threshold(const Slot& slot, std::int32_t code) {
        return slot.column->kind == Kind::numeric && code < slot.column->n_codes;
    }

    // Prefetches what the slot reads at a cell.
    void expect(const Slot& slot, std::int32_t c) const {
        if (slot.column->kind != Kind::bag)
            prefetch(rows.data() + (c + slot.offset) * stride + slot.column->place);
    }

    const Slot& slot_of(std::int32_t entry) const {
        return *(std::ranges::upper_bound(slots, entry, {}, &Slot::first_entry) - 1);
    }

  private:
    void place_cells(const std::int64_t* starts, std::int64_t n_sequences, std::int64_t reach);
    std::vector<std::int64_t> count_values(const ColumnView& source, std::int32_t n_values) const;
    void share_counts(Exchange& exchange, const std::vector<ColumnSource>& sources,
                      std::vector<std::vector<std::int64_t>>& counts);
    void choose_codes(Column& column, const std::vector<std::int64_t>& counts,
                      std::vector<std::int32_t>& code_of) const;
    void count_cells(Column& column, const ColumnView& source, const std::vector<std::int64_t>& counts) const;
    void encode_bag(Column& column, const ColumnView& source, const std::vector<std::int32_t>& code_of) const;
    void index(Column& column, const ColumnView& source, const std::vector<std::int32_t>& code_of) const;
    void place_codes();
    void encode_rows(const std::vector<ColumnSource>& sources,
                     const std::vector<std::vector<std::int32_t>>& code_of, std::int64_t n_threads);
    template <class Code>
    void encode_block(const Column& column, const ColumnView& source,
                      const std::vector<std::int32_t>& code_of, std::int64_t first, std::int64_t last);
    void add_slots(const std::vector<ColumnSource>& sources);
    std::int32_t usual_code(const Slot& slot) const;
    void list_entries();

    mutable std::once_flag grouping_;
    mutable std::unique_ptr<SlotGroups> groups_;
};

}  // namespace hedgerow
