// Reads dicts, one per position, into columns.
//
// Text and lists go straight into a column. Numbers are kept as (key, value) pairs until all positions are
// read, because only then it is known how to store them (docs/sequences.md has the rules):
//   - a nested dict that holds only numbers is a bag, named after the key of the dict;
//   - many numeric keys that are absent at most positions are folded into one bag;
//   - every other key is a dense column, and "outer:inner" is the name of a key of a nested dict.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/column_builder.hpp"
#include "bindings/errors.hpp"
#include "bindings/text.hpp"
#include "bindings/value_reader.hpp"
#include "data/keyed_numbers.hpp"
#include "data/text_batches.hpp"
#include "util/parallel.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

constexpr int kMaxDepth = 32;                   // of nested dicts; stops at a dict that contains itself
constexpr size_t kManyColumns = 1000;           // columns are dense: beyond this many ...
constexpr size_t kManyCells = size_t{1} << 29;  // ... and this many cells (2 GiB), the input should use bags

// Begins to load the entries of a dict.
inline void prefetch_entries(PyObject* item) {
#ifndef Py_LIMITED_API
    if (!PyDict_Check(item)) return;
    const auto* dict = reinterpret_cast<PyDictObject*>(item);
    constexpr Py_ssize_t kHead = 64, kEntry = 16, kMost = 512, kLine = 64;  // bytes
    const auto* keys = reinterpret_cast<const char*>(dict->ma_keys);
    for (Py_ssize_t at = 0; at < std::min(kHead + kEntry * dict->ma_used, kMost); at += kLine)
        prefetch(keys + at);
#endif
}

class DictReader {
  public:
    // known: by name the alphabets of training, see known_column.
    DictReader(const int64_t* starts, int64_t n_sequences, size_t n_positions, TextBatches& batches,
               nb::dict known)
        : place_{starts, n_sequences, 0},
          n_positions_(n_positions),
          batches_(batches),
          known_(std::move(known)) {}

    // Reads the dict of a position. `next` is what is read after it, null if Python code may run before.
    void read(int64_t position, PyObject* item, PyObject* next) {
        place_.position = position;
        if (!PyDict_Check(item))
            refuse(
                "sequence %lld, position %lld: the positions before are dicts, but got %s; use one form "
                "throughout",
                static_cast<long long>(place_.sequence()), static_cast<long long>(place_.offset()),
                type_name(item));
        entries_.clear();
        if (fetched_from_ == item)
            entries_.swap(fetched_);
        else
            fetch(item, entries_);
        fetched_.clear();
        fetched_from_ = next != nullptr && PyDict_CheckExact(next) ? next : nullptr;
        if (fetched_from_ != nullptr) fetch(next, fetched_);
        walk(0, -1, 0);
        if (!held_.empty()) release();
        numbers_.end_position();
    }

    // All columns in the order of their first occurrence, and then the bag of folded numeric keys, if any.
    nb::list finish(int64_t n_threads) {
        const Bags bags = assign_bags();
        std::vector<int32_t> dense;
        std::vector<ColumnBuilder*> built;
        size_t n_columns = bags.names.size();
        for (const int32_t name : order_) {
            if (bags.holds(name)) continue;
            ++n_columns;
            if (key(name).kind == Kind::numeric)
                dense.push_back(name);
            else
                built.push_back(&builder(name));
        }
        check_cells(n_columns);
        parallel_for(static_cast<int64_t>(built.size()), n_threads,
                     [&] { return [&](int64_t i) { built[static_cast<size_t>(i)]->close(); }; });
        std::vector<std::vector<float>> values = numbers_.dense_columns(dense, keys_.size());
        std::vector<nb::tuple> bag_columns = read_bags(bags);
        nb::list columns;
        size_t next_dense = 0, next_bag = 0;
        for (const int32_t name : order_) {
            check_signals();
            const int32_t bag = bags.bag_of(name);
            if (bag >= 0) {  // bags are numbered by first occurrence; the folded one is emitted last
                if (static_cast<size_t>(bag) == next_bag && bags.names[next_bag] != kFolded)
                    columns.append(bag_columns[next_bag++]);
            } else if (key(name).kind == Kind::numeric) {
                columns.append(
                    nb::make_tuple(text(name), "numeric", to_array(std::move(values[next_dense++]))));
            } else {
                columns.append(builder(name).finish());
            }
        }
        if (next_bag < bag_columns.size()) columns.append(bag_columns[next_bag]);
        return columns;
    }

  private:
    struct Entry {
        PyObject *key, *value;
    };
    // A key object whose name was looked up before.
    struct SeenKey {
        nb::object key;
        int32_t prefix = -1;
        int32_t name = -1;
    };
    struct Key {
        Kind kind = Kind::unknown;
        int32_t parent = -1;                    // the key of the dict that holds this key
        int64_t last = -1;                      // the last position with this key
        std::unique_ptr<ColumnBuilder> column;  // only for text and bags
    };

    static constexpr int32_t kFolded = -1;  // instead of a name: the bag of folded keys

    // Which keys are stored in which bag.
    struct Bags {
        std::vector<int32_t> names;                   // by bag: the key of the nested dicts, or kFolded
        std::vector<KeyedNumbers::Member> member_of;  // by key
        std::vector<std::vector<int32_t>> members;    // by bag: its keys
        std::vector<int32_t> bag_named;               // by key: the bag of this name, -1 if there is none

        int32_t bag_of(int32_t name) const {
            const auto i = static_cast<size_t>(name);
            return member_of[i].bag >= 0 ? member_of[i].bag : bag_named[i];
        }
        bool holds(int32_t name) const { return bag_of(name) >= 0; }
        void add(int32_t bag, int32_t name) {
            member_of[static_cast<size_t>(name)].bag = bag;
            members[static_cast<size_t>(bag)].push_back(name);
        }
    };

    // Appends the entries of a dict. Its values lie far apart, so loading begins before they are read.
    static void fetch(PyObject* dict, std::vector<Entry>& entries) {
        Py_ssize_t cursor = 0;
        Entry entry;
        while (PyDict_Next(dict, &cursor, &entry.key, &entry.value)) {
            prefetch_text(entry.value);
            entries.push_back(entry);
        }
    }

    // Adds the entries from `first` on, which are those of the dict named `prefix`.
    void walk(size_t first, int32_t prefix, int depth) {
        if (depth > kMaxDepth)
            refuse("sequence %lld, position %lld: dicts may be nested %d deep, but got more; flatten them",
                   static_cast<long long>(place_.sequence()), static_cast<long long>(place_.offset()),
                   kMaxDepth);
        const size_t end = entries_.size();
        for (size_t i = first; i < end; ++i) {
            const auto [key, value] = entries_[i];
            const int32_t name = resolve(prefix, key);
            if (is_text(value)) [[likely]] {
                add_named(name, value);
            } else if (PyDict_Check(value)) {
                fetch(value, entries_);
                walk(end, name, depth + 1);
                entries_.resize(end);
            } else {
                if (may_run_python(value)) hold();
                add_named(name, value);
            }
        }
    }

    // Before Python code runs: encodes collected texts, and keeps the entries that are being read alive.
    void hold() {
        batches_.drain();
        fetched_from_ = nullptr;
        for (const auto [key, value] : entries_) {
            held_.push_back(nb::borrow(key));
            held_.push_back(nb::borrow(value));
        }
    }
    void release() {  // which may run Python code too
        batches_.drain();
        held_.clear();
    }

    void add_named(int32_t name, PyObject* value) {
        Key& key = keys_[static_cast<size_t>(name)];
        if (key.last < 0) [[unlikely]]
            order_.push_back(name);
        if (key.last == place_.position) [[unlikely]]
            refuse_same_name(name);
        key.last = place_.position;
        if (key.column == nullptr) return add_without_column(key, name, value);
        if (is_text(value)) [[likely]]
            return key.column->add_text(place_, value);
        add_value(*key.column, place_, value, numpy_);
    }

    // Adds a number or None, or the first value of a column of text or bags.
    void add_without_column(Key& key, int32_t name, PyObject* value) {
        if (value == Py_None) return numbers_.add_missing(name, place_.position);
        if (PyFloat_CheckExact(value)) return add_number(key, name, PyFloat_AsDouble(value));
        if (is_number(value, numpy_)) return add_number(key, name, to_double(value));
        if (key.kind == Kind::numeric) refuse_after_numbers(name, value);
        add_value(builder(name), place_, value, numpy_);
    }

    void add_number(Key& key, int32_t name, double number) {
        if (std::isnan(number)) return numbers_.add_missing(name, place_.position);
        key.kind = Kind::numeric;
        numbers_.add(name, single(name, number));
    }

    float single(int32_t name, double number) const {
        if (std::fabs(number) <= FLT_MAX) [[likely]]
            return static_cast<float>(number);
        return to_single(place_, text(name).ptr(), number);
    }

    [[noreturn]] void refuse_same_name(int32_t name) const {
        refuse_at(place_, text(name).ptr(),
                  "column names must differ, but this one occurs twice (a nested dict joins names with ':'); "
                  "rename a key");
    }

    [[noreturn]] void refuse_after_numbers(int32_t name, PyObject* value) const {
        if (!is_text(value) && !PyList_Check(value) && !PyAnySet_Check(value))
            refuse_value(place_, text(name).ptr(), value);
        refuse_kind(place_, text(name).ptr(), Kind::numeric,
                    PyUnicode_Check(value) ? Kind::categorical : Kind::bag);
    }

    // The builder of a column of text or bags. Created on first use, with the missing values so far.
    ColumnBuilder& builder(int32_t name) {
        Key& key = keys_[static_cast<size_t>(name)];
        if (key.column == nullptr) {
            check_cells(++n_builders_);
            nb::object title = text(name);
            const Known known = known_column(known_, title);
            key.column = std::make_unique<ColumnBuilder>(title, n_positions_, batches_, known);
            for (const int64_t t : numbers_.take_missing(name)) key.column->add_missing(t);
        }
        return *key.column;
    }

    void check_cells(size_t n_columns) const {
        if (n_columns > kManyColumns && n_columns * n_positions_ > kManyCells)
            refuse(
                "X has more than %zu columns (distinct keys of its dicts) over %zu positions; a column is "
                "stored for every position: put rare attributes into one bag, {'bag': ['w=the', ...]}",
                n_columns - 1, n_positions_);
    }

    Bags assign_bags() const {
        const std::vector<char> is_bag = dicts_of_numbers();
        Bags bags;
        bags.member_of.resize(keys_.size());
        bags.bag_named.assign(keys_.size(), -1);
        const auto new_bag = [&bags](int32_t name) {
            bags.names.push_back(name);
            bags.members.emplace_back();
            return static_cast<int32_t>(bags.names.size()) - 1;
        };
        std::vector<int32_t> numeric;
        for (const int32_t name : order_) {
            const int32_t owner = is_bag[static_cast<size_t>(name)] ? name : key(name).parent;
            if (owner >= 0 && is_bag[static_cast<size_t>(owner)]) {
                int32_t& bag = bags.bag_named[static_cast<size_t>(owner)];
                if (bag < 0) bag = new_bag(owner);
                if (owner != name) bags.add(bag, name);
            } else if (key(name).kind == Kind::numeric) {
                numeric.push_back(name);
            }
        }
        const std::vector<int32_t> folded = numbers_.keys_to_fold(numeric, keys_.size());
        const int32_t last = folded.empty() ? -1 : new_bag(kFolded);
        for (const int32_t name : folded) bags.add(last, name);
        return bags;
    }

    // By key: whether it holds dicts in which every value is a number, and otherwise at most None.
    std::vector<char> dicts_of_numbers() const {
        std::vector<char> is_bag(keys_.size(), 0);
        for (const int32_t name : order_)
            if (key(name).parent >= 0) is_bag[static_cast<size_t>(key(name).parent)] = 1;
        for (const int32_t name : order_) {
            const Key& k = key(name);
            if (k.column != nullptr || k.kind == Kind::numeric) is_bag[static_cast<size_t>(name)] = 0;
            if (k.parent >= 0 && (k.kind != Kind::numeric || numbers_.is_missing_somewhere(name)))
                is_bag[static_cast<size_t>(k.parent)] = 0;
        }
        return is_bag;
    }

    std::vector<nb::tuple> read_bags(Bags bags) {
        std::vector<SortedStrings> alphabets;
        std::vector<KeyedNumbers::Bag> filled(bags.names.size());
        for (size_t b = 0; b < bags.names.size(); ++b) {
            alphabets.push_back(alphabet_of(bags, b));
            if (bags.names[b] != kFolded) filled[b].missing = numbers_.take_missing(bags.names[b]);
        }
        numbers_.fill_bags(filled, bags.member_of);
        std::vector<nb::tuple> columns;
        for (size_t b = 0; b < filled.size(); ++b) {
            KeyedNumbers::Bag& bag = filled[b];
            const bool folded = bags.names[b] == kFolded;
            nb::object weights = nb::none();
            if (bag.has_weights) weights = nb::cast(to_array(std::move(bag.weights)));
            columns.push_back(nb::make_tuple(
                folded ? nb::none() : text(bags.names[b]), folded ? "folded" : "bag",
                to_array(std::move(bag.starts)), to_array(std::move(bag.ids)), weights,
                to_array(std::move(alphabets[b].blob)), to_array(std::move(alphabets[b].offsets))));
        }
        return columns;
    }

    // The sorted members of bag b. Also sets the ids of its keys.
    SortedStrings alphabet_of(Bags& bags, size_t b) const {
        const int64_t cut = bags.names[b] == kFolded ? 0 : names_.text(bags.names[b]).size + 1;
        TextInterner members;
        for (const int32_t name : bags.members[b]) {
            const Bytes full = names_.text(name);
            members.intern({full.data + cut, full.size - cut});
        }
        SortedStrings alphabet = members.sorted();
        for (size_t i = 0; i < bags.members[b].size(); ++i)
            bags.member_of[static_cast<size_t>(bags.members[b][i])].id = alphabet.rank[i];
        return alphabet;
    }

    Key& key(int32_t name) { return keys_[static_cast<size_t>(name)]; }
    const Key& key(int32_t name) const { return keys_[static_cast<size_t>(name)]; }

    nb::object text(int32_t name) const { return to_text(names_.text(name)); }

    // The id of the name "prefix:key". Nearly all keys are objects that occur in many dicts, so the address
    // decides first. Two places for each address: few keys push each other out.
    int32_t resolve(int32_t prefix, PyObject* key) {
        const size_t place =
            (reinterpret_cast<uintptr_t>(key) >> 4 ^ static_cast<uintptr_t>(prefix + 1)) % seen_.size();
        SeenKey &seen = seen_[place], &other = seen_[place ^ 1];
        if (seen.key.ptr() == key && seen.prefix == prefix) [[likely]]
            return seen.name;
        if (other.key.ptr() == key && other.prefix == prefix) return other.name;
        const int32_t name = resolve_new(prefix, key);
        if (PyUnicode_CheckExact(key)) {  // to release a key must not run Python code
            other = std::move(seen);
            seen = SeenKey{nb::borrow(key), prefix, name};
        }
        return name;
    }

    int32_t resolve_new(int32_t prefix, PyObject* key) {
        if (!is_text(key))
            refuse("sequence %lld, position %lld: keys must be str, but got %s; convert them",
                   static_cast<long long>(place_.sequence()), static_cast<long long>(place_.offset()),
                   type_name(key));
        TextStore copies;
        Bytes full = utf8_of(key, copies);
        if (prefix >= 0) {
            const Bytes outer = names_.text(prefix);
            joined_.assign(outer.data, outer.data + outer.size);
            joined_.push_back(':');
            joined_.insert(joined_.end(), full.data, full.data + full.size);
            full = {joined_.data(), static_cast<int64_t>(joined_.size())};
        }
        const int32_t name = names_.intern(full);
        if (static_cast<size_t>(name) == keys_.size()) keys_.emplace_back();
        if (prefix >= 0) set_parent(name, prefix);
        return name;
    }

    // A key may occur both as "outer:inner" and in a nested dict, but not in two different nested dicts.
    void set_parent(int32_t name, int32_t parent) {
        if (key(name).parent >= 0 && key(name).parent != parent) refuse_same_name(name);
        key(name).parent = parent;
    }

    Place place_;
    size_t n_positions_;
    TextBatches& batches_;
    nb::dict known_;
    NumpyNumbers numpy_;
    std::vector<Entry> entries_;  // of the dict that is read, and of those in it
    std::vector<Entry> fetched_;  // of the next dict
    PyObject* fetched_from_ = nullptr;
    std::vector<nb::object> held_;
    std::array<SeenKey, 512> seen_;
    std::vector<uint8_t> joined_;
    TextInterner names_{true};    // of columns and prefixes
    std::vector<Key> keys_;       // by name; never seen where a name is only a prefix
    std::vector<int32_t> order_;  // names that have values, by first sight
    size_t n_builders_ = 0;
    KeyedNumbers numbers_;
};

}  // namespace hedgerow
