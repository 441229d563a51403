// Reads columns through a window. Checks every array of Python once and keeps it alive. Other bindings pass
// view() to their algorithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "data/attribute_reader.hpp"
#include "data/binning.hpp"
#include "data/code_range.hpp"
#include "data/conjunctions.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

constexpr int64_t kLongestReach = int64_t{1} << 31;  // so that position + offset cannot overflow

struct BinEdges {
    std::vector<std::vector<float>> by_column;  // at most kMostEdges each, rising
};

class AttributeReader {
  public:
    AttributeReader(Input<int64_t, 1> starts, Input<int64_t, 1> offsets) : starts_(std::move(starts)) {
        check_rising(starts_, "the starts of the sequences");
        const int64_t* first = offsets.data();
        offsets_.assign(first, first + offsets.shape(0));
        if (offsets_.empty()) refuse("a window must have at least one offset");
        for (const int64_t offset : offsets_)
            if (offset < -kLongestReach || offset > kLongestReach)
                refuse("a window must not reach further than %lld positions, but got the offset %lld",
                       static_cast<long long>(kLongestReach), static_cast<long long>(offset));
        padded_ = offsets_.size() > 1 || offsets_[0] != 0;
    }

    // local: the column is read at offset 0 only, for any window.
    void add_categorical(Input<int32_t, 1> codes, int32_t n_values, bool local) {
        check_size(codes.shape(0));
        const CodeRange range(codes.data(), n_positions());
        if (!range.lies_in(n_values)) refuse("a code lies outside its alphabet");
        add(ColumnView{codes.data(), nullptr, nullptr, nullptr, nullptr, nullptr, range.has_missing},
            n_values, local);
        kept_.emplace_back(nb::cast(codes));
    }

    void add_bins(Input<uint8_t, 1> bins, int32_t n_bins, bool local) {
        check_size(bins.shape(0));
        const uint8_t* data = bins.data();
        uint8_t largest = 0, n_used = 0;  // a missing bin plus 1 is 0
        for (int64_t t = 0, n = n_positions(); t < n; ++t) {
            largest = std::max(largest, data[t]);
            n_used = std::max(n_used, static_cast<uint8_t>(data[t] + 1));
        }
        if (n_used > n_bins) refuse("a bin lies beyond the last bin");
        const bool has_missing = largest == kMissingBin;
        add(ColumnView{nullptr, data, nullptr, nullptr, nullptr, nullptr, has_missing}, n_bins, local);
        kept_.emplace_back(nb::cast(bins));
    }

    // Adds the rows of `numbers` (columns, positions) as local columns of bins; edges: by row. One call for
    // hundreds of columns: to a single short sequence, the arrays of each would cost more than its trees.
    void add_rows(const Input<float, 2>& numbers, const BinEdges& bin_edges, int64_t n_threads) {
        const auto& edges = bin_edges.by_column;
        if (edges.size() != numbers.shape(0)) refuse("every row must have edges");
        check_size(numbers.shape(1));
        require(n_threads >= 1, "there must be at least one thread");
        const auto n = static_cast<size_t>(n_positions());
        std::vector<uint8_t>& bins = bins_of_rows_.emplace_back(edges.size() * n);
        {
            const nb::gil_scoped_release release;
            parallel_for(static_cast<int64_t>(edges.size()), n_threads, [&] {
                return [&](int64_t j) {
                    const std::vector<float>& own = edges[static_cast<size_t>(j)];
                    find_bins(numbers.data() + j * n_positions(), n_positions(), own.data(),
                              static_cast<int64_t>(own.size()), bins.data() + j * n_positions());
                };
            });
        }
        for (size_t j = 0; j < edges.size(); ++j) {
            const uint8_t* row = bins.data() + j * n;
            const bool has_missing = std::find(row, row + n, kMissingBin) != row + n;
            add(ColumnView{nullptr, row, nullptr, nullptr, nullptr, nullptr, has_missing},
                static_cast<int32_t>(edges[j].size()) + 1, true);
        }
    }

    void add_bag(Input<int64_t, 1> starts, Input<int32_t, 1> ids, std::optional<Input<float, 1>> weights,
                 int32_t n_values, bool local) {
        check_rising(starts, "the starts of a bag");
        check_size(starts.shape(0) - 1);
        if (starts.data()[n_positions()] != static_cast<int64_t>(ids.shape(0)))
            refuse("the starts of a bag must end at the number of its ids");
        if (weights && weights->shape(0) != ids.shape(0)) refuse("a bag must have one weight for each id");
        const CodeRange range(ids.data(), static_cast<int64_t>(ids.shape(0)));
        if (range.lowest < kMissingId || !range.lies_in(n_values))
            refuse("an id of a bag lies outside its alphabet");
        add(ColumnView{nullptr, nullptr, starts.data(), ids.data(), weights ? weights->data() : nullptr,
                       nullptr, range.has_missing},
            n_values, local);
        kept_.emplace_back(nb::cast(starts));
        kept_.emplace_back(nb::cast(ids));
        if (weights) kept_.emplace_back(nb::cast(*weights));
    }

    void add_numbers(Input<float, 1> numbers, bool local) {
        check_size(numbers.shape(0));
        bool valid = true, has_missing = false;
        for (int64_t t = 0; t < n_positions(); ++t) {
            const float number = numbers.data()[t];
            valid &= !std::isinf(number);
            has_missing |= std::isnan(number);
        }
        if (!valid) refuse("a number of a column is infinite; use NaN where a value is missing");
        add(ColumnView{nullptr, nullptr, nullptr, nullptr, nullptr, numbers.data(), has_missing}, 1, local);
        kept_.emplace_back(nb::cast(numbers));
    }

    // Adds one attribute per conjunction; its members are attributes of columns. A position has the attribute
    // if it has all members, with any weights. Call it after all columns are added.
    void add_conjunctions(const Conjunctions& conjunctions) {
        if (conjunctions_.starts != nullptr) refuse("conjunctions must be added only once");
        if (conjunctions.n_ids() > n_ids_)
            refuse("the members of conjunctions must be attributes of the columns");
        if (n_ids_ + conjunctions.n() > std::numeric_limits<int32_t>::max())
            refuse(
                "columns, window and conjunctions make more than 2147483647 attributes; use fewer "
                "conjunctions");
        found_ = conjunctions.find(view());
        conjunctions_ =
            ColumnView{nullptr, nullptr, found_.starts.data(), found_.conjunctions.data(), nullptr, nullptr};
        slots_.push_back({&conjunctions_, 0, static_cast<int32_t>(n_ids_), -1});
        n_ids_ += conjunctions.n();
    }

    Slots slots() const { return {slots_.data(), static_cast<int64_t>(slots_.size())}; }
    AttributeView view() const { return {slots(), starts(), n_sequences(), n_ids_}; }
    int64_t n_ids() const { return n_ids_; }
    int64_t n_positions() const { return starts_.data()[starts_.shape(0) - 1]; }
    int64_t n_sequences() const { return static_cast<int64_t>(starts_.shape(0)) - 1; }
    const int64_t* starts() const { return starts_.data(); }
    const std::vector<int64_t>& offsets() const { return offsets_; }
    size_t n_columns() const { return columns_.size(); }
    // The offsets of column j, and whether it has a padding id.
    const std::vector<int64_t>& offsets(size_t j) const { return is_local_[j] ? here_ : offsets_; }
    bool padded(size_t j) const { return padded_ && !is_local_[j]; }
    const ColumnView& column(size_t j) const { return columns_[j]; }
    int32_t n_values(size_t j) const { return n_values_[j]; }

    void check_range(int64_t first, int64_t last) const {
        if (first < 0 || first > last || last > n_positions())
            refuse("a range of positions must lie in 0..%lld, but got %lld..%lld",
                   static_cast<long long>(n_positions()), static_cast<long long>(first),
                   static_cast<long long>(last));
    }

  private:
    static void check_rising(const Input<int64_t, 1>& starts, const char* what) {
        const int64_t* s = starts.data();
        bool good = starts.shape(0) >= 1 && s[0] == 0;
        for (size_t i = 1; good && i < starts.shape(0); ++i) good = s[i - 1] <= s[i];
        if (!good) refuse("%s must rise from 0", what);
    }

    void check_size(size_t size) const {
        if (static_cast<int64_t>(size) != n_positions())
            refuse("a column must have one value for each of the %lld positions, but has %zu values",
                   static_cast<long long>(n_positions()), size);
    }

    void add(ColumnView column, int32_t n_values, bool local = false) {
        if (conjunctions_.starts != nullptr) refuse("columns must be added before conjunctions");
        if (n_values < 0) refuse("the number of values of a column must not be negative");
        const bool padded = padded_ && !local;
        const std::vector<int64_t>& read_at = local ? here_ : offsets_;
        const int64_t ids_a_slot = int64_t{n_values} + padded;
        if (n_ids_ + ids_a_slot * static_cast<int64_t>(read_at.size()) > std::numeric_limits<int32_t>::max())
            refuse("columns and window make more than 2147483647 attributes; shorten the window");
        columns_.push_back(column);
        n_values_.push_back(n_values);
        is_local_.push_back(local);
        for (const int64_t offset : read_at) {
            const auto first_id = static_cast<int32_t>(n_ids_);
            slots_.push_back({&columns_.back(), offset, first_id, padded ? first_id + n_values : -1});
            n_ids_ += ids_a_slot;
        }
    }

    Input<int64_t, 1> starts_;
    std::vector<int64_t> offsets_;
    const std::vector<int64_t> here_{0};  // the offset of a local column
    bool padded_ = false;
    std::deque<ColumnView> columns_;  // slots point to the elements, which a deque does not move
    std::vector<Slot> slots_;
    std::vector<int32_t> n_values_;
    std::vector<bool> is_local_;
    int64_t n_ids_ = 0;
    ColumnView conjunctions_{};  // starts is null until conjunctions are added
    Conjunctions::Found found_;
    std::vector<nb::object> kept_;
    std::deque<std::vector<uint8_t>> bins_of_rows_;
};

}  // namespace hedgerow
