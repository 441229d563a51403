#include "trees/tree_data.hpp"

#include <cstdlib>
#include <cstring>
#include <numeric>

#include "trees/histogram.hpp"
#include "trees/slot_groups.hpp"
#include "util/parallel.hpp"
#include "util/require.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kMostListed = 1 << 26;  // entries in the lists of all cells
constexpr std::int64_t kBlockBytes = 1 << 17;  // of rows that are written together
constexpr std::int64_t kIndexLimit = std::int64_t{1} << 31;

// emit(value) for each known value of a position.
template <class Emit>
void each_value(const ColumnView& source, std::int64_t t, Emit emit) {
    if (source.codes) {
        if (source.codes[t] >= 0) emit(source.codes[t]);
    } else if (source.bins) {
        if (source.bins[t] != kMissingBin) emit(static_cast<std::int32_t>(source.bins[t]));
    } else {
        for (std::int64_t i = source.starts[t]; i < source.starts[t + 1]; ++i)
            if (source.ids[i] >= 0) emit(source.ids[i]);
    }
}

std::int64_t reach_of(const std::vector<ColumnSource>& sources) {
    std::int64_t reach = 0;
    for (const ColumnSource& source : sources)
        for (const std::int64_t offset : source.offsets) reach = std::max(reach, std::abs(offset));
    return reach;
}

}  // namespace

TreeData::TreeData(const std::int64_t* starts, std::int64_t n_sequences, std::int64_t order_,
                   std::int64_t min_count_, const std::vector<ColumnSource>& sources, std::int64_t n_threads,
                   Exchange* exchange)
    : n_positions(starts[n_sequences]),
      order(order_),
      min_count(min_count_),
      n_all_positions(n_positions),
      columns(sources.size()) {
    const std::int64_t reach = reach_of(sources);
    require(n_positions + (n_sequences + 1) * reach < kIndexLimit,
            "the positions of a process and the padding between its sequences must be fewer than 2^31 for "
            "trees; shorten the window or divide the sequences among workers");
    for (const ColumnSource& source : sources)
        require(source.column.numbers == nullptr, "trees read numbers as bins");
    place_cells(starts, n_sequences, reach);
    const auto by_column = [&](auto work) {
        parallel_for(static_cast<std::int64_t>(sources.size()), n_threads, [&] { return work; });
    };
    std::vector<std::vector<std::int64_t>> own(sources.size());  // by column and value: its positions here
    by_column([&](std::int64_t j) {
        const ColumnView& from = sources[j].column;
        columns[j].kind = from.codes ? Kind::categorical : from.bins ? Kind::numeric : Kind::bag;
        columns[j].n_values = sources[j].n_values;
        columns[j].has_missing = from.has_missing;
        own[j] = count_values(from, sources[j].n_values);
    });
    std::vector<std::vector<std::int64_t>> all;  // the same for all members
    if (exchange) share_counts(*exchange, sources, all = own);
    std::vector<std::vector<std::int32_t>> code_of(sources.size());  // by column and value
    by_column([&](std::int64_t j) {
        Column& column = columns[j];
        const ColumnView& from = sources[j].column;
        choose_codes(column, exchange ? all[j] : own[j], code_of[j]);
        count_cells(column, from, own[j]);
        if (column.kind == Kind::bag) encode_bag(column, from, code_of[j]);
        index(column, from, code_of[j]);
    });
    place_codes();
    encode_rows(sources, code_of, n_threads);
    add_slots(sources);
    list_entries();
}

TreeData::~TreeData() = default;

const SlotGroups& TreeData::groups() const {
    std::call_once(grouping_, [&] { groups_ = std::make_unique<SlotGroups>(*this); });
    return *groups_;
}

void TreeData::place_cells(const std::int64_t* starts, std::int64_t n_sequences, std::int64_t reach) {
    cell.resize(static_cast<std::size_t>(n_positions));
    depth.resize(static_cast<std::size_t>(n_positions));
    position.reserve(static_cast<std::size_t>(n_positions + (n_sequences + 1) * reach));
    position.assign(static_cast<std::size_t>(reach), -1);
    for (std::int64_t i = 0; i < n_sequences; ++i) {
        for (std::int64_t t = starts[i]; t < starts[i + 1]; ++t) {
            cell[t] = static_cast<std::int32_t>(position.size());
            depth[t] = static_cast<std::uint8_t>(std::min(t - starts[i], order));
            position.push_back(static_cast<std::int32_t>(t));
        }
        position.insert(position.end(), static_cast<std::size_t>(reach), -1);
    }
    depth_at.resize(position.size(), 0);
    for (std::int64_t t = 0; t < n_positions; ++t) depth_at[cell[t]] = depth[t];
}

std::vector<std::int64_t> TreeData::count_values(const ColumnView& source, std::int32_t n_values) const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(n_values), 0);
    for (std::int64_t t = 0; t < n_positions; ++t)
        each_value(source, t, [&](std::int32_t v) { ++counts[v]; });
    return counts;
}

// IN/OUT: counts. Also shares the number of positions, and which columns have missing values.
void TreeData::share_counts(Exchange& exchange, const std::vector<ColumnSource>& sources,
                            std::vector<std::vector<std::int64_t>>& counts) {
    Message layout;
    MessageWriter writer(layout);
    writer.put(order);
    writer.put(min_count);
    for (std::size_t j = 0; j < sources.size(); ++j) {
        writer.put(columns[j].kind);
        writer.put(columns[j].n_values);
        writer.put(std::int64_t{sources[j].padded});
        writer.put_list(sources[j].offsets);
    }
    for (const Received& other : exchange.gather(layout))
        require(std::equal(other.data, other.data + other.size, layout.begin(), layout.end()),
                "all members of a group must have the same columns, alphabets, window and growth rules");
    std::vector<std::int64_t> numbers{n_positions};
    for (std::size_t j = 0; j < columns.size(); ++j) {
        numbers.push_back(columns[j].has_missing);
        numbers.insert(numbers.end(), counts[j].begin(), counts[j].end());
    }
    sum_over_members(exchange, numbers);
    n_all_positions = numbers[0];
    auto next = numbers.begin() + 1;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        columns[j].has_missing = *next++ > 0;
        std::copy_n(next, counts[j].size(), counts[j].begin());
        next += static_cast<std::ptrdiff_t>(counts[j].size());
    }
}

// IN: how many positions of all members have each value. OUT: code_of, by value; -1 for values that too few
// positions have.
void TreeData::choose_codes(Column& column, const std::vector<std::int64_t>& counts,
                            std::vector<std::int32_t>& code_of) const {
    code_of.assign(static_cast<std::size_t>(column.n_values), -1);
    for (std::int32_t v = 0; v < column.n_values; ++v) {
        if (column.kind != Kind::numeric && counts[v] < min_count) continue;
        code_of[v] = static_cast<std::int32_t>(column.values.size());
        column.values.push_back(v);
    }
    column.n_codes = static_cast<std::int32_t>(column.values.size());
}

// The cells of each code. IN: how many positions of this process have each value.
void TreeData::count_cells(Column& column, const ColumnView& source,
                           const std::vector<std::int64_t>& counts) const {
    for (const std::int32_t v : column.values) column.n_cells.push_back(counts[v]);
    column.n_cells.push_back(n_cells() - n_positions);  // padding
    column.n_cells.push_back(0);                        // absent
    if (!column.has_missing) return;
    column.n_cells.push_back(0);
    for (std::int64_t t = 0; t < n_positions; ++t) column.n_cells.back() += is_missing_at(source, t);
}

void TreeData::encode_bag(Column& column, const ColumnView& source,
                          const std::vector<std::int32_t>& code_of) const {
    column.bag_starts.push_back(0);
    for (std::int64_t t = 0; t < n_positions; ++t) {
        each_value(source, t, [&](std::int32_t v) {
            if (code_of[v] >= 0) column.bag.push_back(code_of[v]);
        });
        if (is_missing_at(source, t)) column.bag.push_back(column.missing_code());
        column.bag_starts.push_back(static_cast<std::int64_t>(column.bag.size()));
    }
}

// Lists the cells of each code. Absent values are never tested and not listed.
void TreeData::index(Column& column, const ColumnView& source,
                     const std::vector<std::int32_t>& code_of) const {
    const Slot here{&column, 0, 0, 0};
    column.posting_starts.assign(1, 0);
    for (std::int32_t code = 0; code < here.n_entries(); ++code)
        column.posting_starts.push_back(column.posting_starts.back() +
                                        (is_threshold(here, code) ? 0 : column.n_cells[code]));
    column.postings.resize(static_cast<std::size_t>(column.posting_starts.back()));
    if (column.postings.empty()) return;
    std::vector<std::int64_t> at(column.posting_starts.begin(), column.posting_starts.end() - 1);
    const auto add = [&](std::int32_t code, std::int32_t c) { column.postings[at[code]++] = c; };
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(n_cells()); ++c) {
        const std::int32_t t = position[c];
        if (t < 0) {
            add(column.n_codes, c);
            continue;
        }
        if (column.has_missing && is_missing_at(source, t)) add(column.missing_code(), c);
        if (column.kind == Kind::numeric) continue;
        each_value(source, t, [&](std::int32_t v) {
            if (code_of[v] >= 0) add(code_of[v], c);
        });
    }
}

// The widest codes first, so that every code is aligned.
void TreeData::place_codes() {
    for (const int bytes : {4, 2, 1}) {
        for (Column& column : columns) {
            const int needed = column.missing_code() < 1 << 8 ? 1 : column.missing_code() < 1 << 16 ? 2 : 4;
            if (column.kind == Kind::bag) column.place = -1;
            if (column.kind == Kind::bag || needed != bytes) continue;
            column.code_bytes = bytes;
            column.place = stride;
            stride += bytes;
        }
    }
    stride = (stride + 3) / 4 * 4;
    rows.resize(position.size() * static_cast<std::size_t>(stride));
}

// Blocks of cells, so that the rows which the columns are written to stay in a near cache.
void TreeData::encode_rows(const std::vector<ColumnSource>& sources,
                           const std::vector<std::vector<std::int32_t>>& code_of, std::int64_t n_threads) {
    if (stride == 0) return;
    const std::int64_t size = std::max<std::int64_t>(1, kBlockBytes / stride);
    parallel_for((n_cells() + size - 1) / size, n_threads, [&] {
        return [&](std::int64_t block) {
            const std::int64_t first = block * size, last = std::min(n_cells(), first + size);
            for (std::size_t j = 0; j < columns.size(); ++j) {
                const Column& column = columns[j];
                if (column.kind == Kind::bag) continue;
                const auto encode = column.code_bytes == 1   ? &TreeData::encode_block<std::uint8_t>
                                    : column.code_bytes == 2 ? &TreeData::encode_block<std::uint16_t>
                                                             : &TreeData::encode_block<std::int32_t>;
                (this->*encode)(column, sources[j].column, code_of[j], first, last);
            }
        };
    });
}

template <class Code>
void TreeData::encode_block(const Column& column, const ColumnView& source,
                            const std::vector<std::int32_t>& code_of, std::int64_t first, std::int64_t last) {
    std::uint8_t* to = rows.data() + first * stride + column.place;
    for (std::int64_t c = first; c < last; ++c, to += stride) {
        std::int32_t code = position[c] < 0 ? column.n_codes : column.absent_code();
        if (position[c] >= 0) {
            if (is_missing_at(source, position[c])) code = column.missing_code();
            each_value(source, position[c], [&](std::int32_t v) {
                if (code_of[v] >= 0) code = code_of[v];
            });
        }
        const auto stored = static_cast<Code>(code);
        std::memcpy(to, &stored, sizeof stored);
    }
}

void TreeData::add_slots(const std::vector<ColumnSource>& sources) {
    std::int32_t first_id = 0;
    std::int64_t entries = 0;
    for (std::size_t j = 0; j < sources.size(); ++j) {
        for (const std::int64_t offset : sources[j].offsets) {
            entries += columns[j].n_codes + 3;
            require(entries < kIndexLimit,
                    "columns and window must make fewer than 2^31 tests; shorten the window or use fewer "
                    "columns");
            slots.push_back({&columns[j], offset, first_id, n_entries, sources[j].padded});
            slots.back().usual = usual_code(slots.back());
            n_entries += slots.back().n_entries();
            first_id += sources[j].n_values + (sources[j].padded ? 1 : 0);
        }
    }
}

std::int32_t TreeData::usual_code(const Slot& slot) const {
    const Column& column = *slot.column;
    if (column.kind == Kind::bag) return -1;
    for (std::int32_t code = 0; code < column.n_codes; ++code) {
        if (2 * column.n_cells[code] > n_positions) return code;
    }
    return -1;
}

void TreeData::list_entries() {
    std::int64_t n_read = 0, n_listed = 0;
    for (const Slot& slot : slots) {
        const std::int64_t read = slot.column->n_read();
        n_read += read;
        n_listed += slot.usual < 0 ? read : read - slot.column->n_cells[slot.usual];
    }
    if (2 * n_listed > n_read || n_listed > kMostListed) return;
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

}  // namespace hedgerow
