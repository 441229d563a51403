// Builds one column from values that come position by position; skipped positions are absent.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "bindings/sorted_set.hpp"
#include "bindings/text.hpp"
#include "data/text_batches.hpp"
#include "data/text_codes.hpp"

namespace hedgerow {

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

// The alphabet that training has for a column of this kind; unknown if it has none.
struct Known {
    Kind kind = Kind::unknown;
    KnownStrings strings{};
};

// The entry of a column in a dict {name: (kind, SortedSet)}.
inline Known known_column(const nb::dict& known, const nb::object& name) {
    PyObject* found = PyDict_GetItemWithError(known.ptr(), name.ptr());
    if (found == nullptr && PyErr_Occurred()) throw nb::python_error();
    if (found == nullptr) return {};
    const auto [kind, strings] = nb::cast<std::pair<std::string, SortedSet*>>(nb::handle(found));
    return {kind == "bag" ? Kind::bag : Kind::categorical, strings->known()};
}

class ColumnBuilder {
  public:
    // Texts are encoded with those of other columns, in `batches`. If the column is of the kind of `known`,
    // its texts are looked up there.
    ColumnBuilder(nb::object name, size_t n_positions, TextBatches& batches, Known known = {})
        : name_(std::move(name)), n_positions_(n_positions), batches_(batches), known_(known) {}

    ColumnBuilder(const ColumnBuilder&) = delete;
    ColumnBuilder& operator=(const ColumnBuilder&) = delete;

    // Marks `position` as missing; allowed before the kind is known.
    void add_missing(int64_t position) {
        if (kind_ == Kind::unknown) return missing_.push_back(position);
        fill(static_cast<size_t>(position));
        if (kind_ == Kind::numeric) {
            numbers_.push_back(std::numeric_limits<float>::quiet_NaN());
        } else {
            collect(missing_text());
            if (kind_ == Kind::bag) close_bag();
        }
    }

    void add_text(const Place& place, PyObject* text) {
        if (kind_ != Kind::categorical) [[unlikely]]
            set_kind(Kind::categorical, place);
        if (n_collected_ < static_cast<size_t>(place.position)) fill(static_cast<size_t>(place.position));
        collect(utf8_of(text, texts_.copies()));
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
    // lasting: whether the member stays alive until Python code runs.
    void add_member(const Place& place, PyObject* member, bool lasting) {
        if (!is_text(member))
            refuse("sequence %lld, position %lld, column %R: a bag holds str, but got %s; %s",
                   static_cast<long long>(place.sequence()), static_cast<long long>(place.offset()),
                   name_.ptr(), type_name(member),
                   PyNumber_Check(member) ? kCureOfNumbers : "turn its members into str");
        const Bytes text = utf8_of(member, texts_.copies());
        collect(lasting ? text : texts_.copies().keep(text));
    }
    void close_bag() { ends_.push_back(static_cast<int64_t>(n_collected_)); }

    PyObject* name() const { return name_.ptr(); }
    // Encodes all collected texts, of other columns too, because Python code may free them.
    void drain() { batches_.drain(); }

    // Sorts and ranks, without using Python. All texts must have been encoded.
    void close() {
        if (kind_ == Kind::unknown) {
            texts_.codes.assign(n_positions_, kAbsent);
            for (const int64_t position : missing_) texts_.codes[static_cast<size_t>(position)] = kMissing;
        } else if (kind_ == Kind::categorical) {
            texts_.codes.resize(n_positions_, kAbsent);
        } else {
            fill(n_positions_);
        }
        if (kind_ == Kind::numeric) return;
        if (!texts_.is_known()) alphabet_ = texts_.sort();
        if (kind_ == Kind::bag) sort_bags();
    }

    // Returns (name, kind, arrays...), see ingest_dicts. The builder cannot be used afterwards.
    nb::tuple finish() {
        if (kind_ == Kind::numeric) return nb::make_tuple(name_, "numeric", to_array(std::move(numbers_)));
        nb::list parts;
        parts.append(name_);
        parts.append(kind_ == Kind::bag ? "bag" : "categorical");
        if (kind_ == Kind::bag) parts.append(to_array(std::move(ends_)));
        parts.append(to_array(std::move(texts_.codes)));
        if (kind_ == Kind::bag) parts.append(nb::none());
        if (texts_.is_known()) {
            parts.append(texts_.left_out);
        } else {
            parts.append(to_array(std::move(alphabet_.blob)));
            parts.append(to_array(std::move(alphabet_.offsets)));
        }
        return nb::tuple(parts);
    }

  private:
    void collect(Bytes text) {
        texts_.collect(text);
        ++n_collected_;
        batches_.count_text();
    }

    // Marks all positions before `position` that have no value as absent.
    void fill(size_t position) {
        if (kind_ == Kind::numeric) {
            numbers_.resize(position, 0.0f);
        } else if (kind_ == Kind::bag) {
            ends_.resize(position + 1, static_cast<int64_t>(n_collected_));
        } else if (n_collected_ < position) {
            texts_.collect(absent_texts(static_cast<int64_t>(position - n_collected_)));
            n_collected_ = position;
        }
    }

    // Sets the kind of the column, or checks it.
    void set_kind(Kind kind, const Place& place) {
        if (kind_ == kind) return;
        if (kind_ != Kind::unknown) refuse_kind(place, name_.ptr(), kind_, kind);
        kind_ = kind;
        if (kind == Kind::numeric) {
            numbers_.reserve(n_positions_);
        } else {
            batches_.add(texts_);
            if (known_.kind == kind) texts_.look_up(known_.strings, kind == Kind::bag);
        }
        if (kind == Kind::categorical) texts_.codes.reserve(n_positions_);
        if (kind == Kind::bag) {
            ends_.reserve(n_positions_ + 1);
            ends_.assign(1, 0);
        }
        for (const int64_t position : missing_) add_missing(position);
    }

    // Sorts the ids of each position, without duplicates. Members that a known alphabet lacks are left out.
    void sort_bags() {
        std::vector<int32_t>& ids = texts_.codes;
        const int64_t n_known =
            texts_.is_known() ? known_.strings.strings.size : std::numeric_limits<int32_t>::max();
        auto kept = ids.begin();
        int64_t begin = 0;
        for (size_t i = 1; i < ends_.size(); ++i) {
            const auto first = ids.begin() + begin, last = ids.begin() + ends_[i];
            std::sort(first, last);
            begin = ends_[i];
            const auto distinct = std::unique(first, last);
            const auto found = std::lower_bound(first, distinct, n_known);
            texts_.left_out += distinct - found;
            kept = std::copy(first, found, kept);
            ends_[i] = kept - ids.begin();
        }
        ids.erase(kept, ids.end());
    }

    nb::object name_;
    size_t n_positions_;
    TextBatches& batches_;
    Known known_;
    Kind kind_ = Kind::unknown;
    std::vector<int64_t> missing_;  // unknown: the positions so far, all missing
    std::vector<float> numbers_;    // numeric
    TextCodes texts_;               // categorical, and the members of a bag
    size_t n_collected_ = 0;        // categorical: positions so far; bag: members so far
    std::vector<int64_t> ends_;     // bag: 0, then the end of each position
    SortedStrings alphabet_;
};

}  // namespace hedgerow
