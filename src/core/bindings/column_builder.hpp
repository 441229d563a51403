// Builds one column from values that come position by position; skipped positions are absent.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "bindings/interner.hpp"

namespace hedgerow {

constexpr int32_t kMissing = -1;  // None or NaN
constexpr int32_t kAbsent = -2;   // the dict does not have the key

// A column is `unknown` until its first value other than None or NaN.
enum class Kind { unknown, categorical, numeric, bag };

inline const char* contents(Kind kind) {
    return kind == Kind::categorical ? "text"
           : kind == Kind::numeric   ? "numbers"
                                     : "bags (lists or sets of str)";
}

// The message does not suggest text, because numbers that are converted to str lose their order.
constexpr const char* kCureOfNumbers =
    "give each number a key of its own, {'d0': 0.1, 'd1': 0.2}, or give each sequence as an array "
    "(positions, columns)";

// The place of a value, for messages: sequence and offset are computed only for an error.
struct Place {
    const int64_t* starts;
    int64_t n_sequences;
    int64_t position;

    int64_t sequence() const { return std::upper_bound(starts, starts + n_sequences, position) - starts - 1; }
    int64_t offset() const { return position - starts[sequence()]; }
};

[[noreturn]] inline void refuse_at(const Place& place, PyObject* name, const char* rule) {
    refuse("sequence %lld, position %lld, column %R: %s", static_cast<long long>(place.sequence()),
           static_cast<long long>(place.offset()), name, rule);
}

[[noreturn]] inline void refuse_kind(const Place& place, PyObject* name, Kind before, Kind now) {
    refuse(
        "sequence %lld, position %lld, column %R: a column has one kind, and this one held %s before, but "
        "got %s; make them all the same kind",
        static_cast<long long>(place.sequence()), static_cast<long long>(place.offset()), name,
        contents(before), contents(now));
}

// The number as a 32-bit float. Raises InputError if it is not finite as a float.
inline float to_single(const Place& place, PyObject* name, double number) {
    if (std::isinf(number))
        refuse_at(place, name,
                  "numbers must be finite, but got an infinity; use None where a value is missing");
    if (std::fabs(number) > FLT_MAX)
        refuse_at(place, name, "numbers must fit a 32-bit float, but got a larger one; rescale the column");
    return static_cast<float>(number);
}

class ColumnBuilder {
  public:
    ColumnBuilder(nb::object name, size_t n_positions) : name_(std::move(name)), n_positions_(n_positions) {}

    // Marks `position` as missing; allowed before the kind is known.
    void add_missing(int64_t position) {
        fill(static_cast<size_t>(position));
        if (kind_ == Kind::numeric) {
            numbers_.push_back(std::numeric_limits<float>::quiet_NaN());
        } else if (kind_ == Kind::bag) {
            ids_.push_back(kMissing);
            ends_.push_back(static_cast<int64_t>(ids_.size()));
        } else {
            codes_.push_back(kMissing);
        }
    }

    void add_text(const Place& place, PyObject* text) {
        if (kind_ != Kind::categorical) [[unlikely]]
            set_kind(Kind::categorical, place);
        if (codes_.size() < static_cast<size_t>(place.position)) fill(static_cast<size_t>(place.position));
        codes_.push_back(values_.intern(text));
    }

    void add_number(const Place& place, double number) {
        if (std::isnan(number)) return add_missing(place.position);
        set_kind(Kind::numeric, place);
        const float single = to_single(place, name_.ptr(), number);
        fill(static_cast<size_t>(place.position));
        numbers_.push_back(single);
    }

    // A bag is opened, filled with members and closed.
    void open_bag(const Place& place) {
        set_kind(Kind::bag, place);
        fill(static_cast<size_t>(place.position));
    }
    void add_member(const Place& place, PyObject* member) {
        if (!PyUnicode_Check(member))
            refuse("sequence %lld, position %lld, column %R: a bag holds str, but got %s; %s",
                   static_cast<long long>(place.sequence()), static_cast<long long>(place.offset()),
                   name_.ptr(), type_name(member),
                   PyNumber_Check(member) ? kCureOfNumbers : "turn its members into str");
        ids_.push_back(values_.intern(member));
    }
    void close_bag() { ends_.push_back(static_cast<int64_t>(ids_.size())); }

    PyObject* name() const { return name_.ptr(); }
    Kind kind() const { return kind_; }

    // Returns (name, kind, arrays...), see ingest_dicts. The builder cannot be used afterwards.
    nb::tuple finish() {
        fill(n_positions_);
        if (kind_ == Kind::numeric) return nb::make_tuple(name_, "numeric", to_array(std::move(numbers_)));
        SortedStrings alphabet = values_.sorted();
        nb::object blob = nb::cast(to_array(std::move(alphabet.blob)));
        nb::object offsets = nb::cast(to_array(std::move(alphabet.offsets)));
        if (kind_ == Kind::bag) {
            sort_bags(alphabet.rank);
            return nb::make_tuple(name_, "bag", to_array(std::move(ends_)), to_array(std::move(ids_)),
                                  nb::none(), blob, offsets);
        }
        for (int32_t& code : codes_)
            if (code >= 0) code = alphabet.rank[static_cast<size_t>(code)];
        return nb::make_tuple(name_, "categorical", to_array(std::move(codes_)), blob, offsets);
    }

  private:
    // Marks all positions before `position` that have no value as absent.
    void fill(size_t position) {
        if (kind_ == Kind::numeric) {
            numbers_.resize(position, 0.0f);
        } else if (kind_ == Kind::bag) {
            ends_.resize(position + 1, static_cast<int64_t>(ids_.size()));
        } else {
            codes_.resize(position, kAbsent);
        }
    }

    // Sets the kind of the column, or checks it.
    void set_kind(Kind kind, const Place& place) {
        if (kind_ == kind) return;
        if (kind_ != Kind::unknown) refuse_kind(place, name_.ptr(), kind_, kind);
        std::vector<int32_t> before;  // only missing and absent values
        if (kind != Kind::categorical) before.swap(codes_);
        kind_ = kind;
        if (kind == Kind::categorical) codes_.reserve(n_positions_);
        if (kind == Kind::numeric) numbers_.reserve(n_positions_);
        if (kind == Kind::bag) {
            ends_.reserve(n_positions_ + 1);
            ends_.assign(1, 0);
        }
        for (size_t i = 0; i < before.size(); ++i)
            if (before[i] == kMissing) add_missing(static_cast<int64_t>(i));
    }

    // Replaces ids by ranks, and sorts the ids of each position without duplicates.
    void sort_bags(const std::vector<int32_t>& rank) {
        for (int32_t& id : ids_)
            if (id >= 0) id = rank[static_cast<size_t>(id)];
        auto kept = ids_.begin();
        int64_t begin = 0;
        for (size_t i = 1; i < ends_.size(); ++i) {
            const auto first = ids_.begin() + begin, last = ids_.begin() + ends_[i];
            std::sort(first, last);
            begin = ends_[i];
            kept = std::copy(first, std::unique(first, last), kept);
            ends_[i] = kept - ids_.begin();
        }
        ids_.erase(kept, ids_.end());
    }

    nb::object name_;
    size_t n_positions_;
    Kind kind_ = Kind::unknown;
    Interner values_;
    std::vector<int32_t> codes_;  // categorical, and unknown
    std::vector<float> numbers_;  // numeric
    std::vector<int64_t> ends_;   // bag: 0, then the end of each position in ids_
    std::vector<int32_t> ids_;    // bag
};

}  // namespace hedgerow
