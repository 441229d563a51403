// Turns Python objects into ragged columns.
//
// Python code that runs meanwhile may change the objects. Strings, exact numbers, lists and tuples are read
// without running Python code; everything else (numpy scalars, sets, signal handlers) may run Python code, so
// owned references are held around it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/column_builder.hpp"
#include "bindings/errors.hpp"
#include "data/keyed_numbers.hpp"

namespace hedgerow {
namespace {

constexpr int64_t kSignalInterval = 1 << 14;    // positions between two checks for Ctrl-C
constexpr int kMaxDepth = 32;                   // of nested dicts; stops at a dict that contains itself
constexpr size_t kManyColumns = 1000;           // columns are dense: beyond this many ...
constexpr size_t kManyCells = size_t{1} << 29;  // ... and this many cells (2 GiB), the input should use bags

// The numeric scalar types of numpy. float64 is a subclass of float and str_ of str, so they need no entry.
struct NumpyNumbers {
    nb::object integer, floating, boolean;

    NumpyNumbers() {
        nb::module_ numpy = nb::module_::import_("numpy");
        integer = numpy.attr("integer");
        floating = numpy.attr("floating");
        boolean = numpy.attr("bool_");
    }
    bool has(PyObject* value) const {
        for (const nb::object* type : {&integer, &floating, &boolean})
            if (PyType_IsSubtype(Py_TYPE(value), reinterpret_cast<PyTypeObject*>(type->ptr()))) return true;
        return false;
    }
};

[[noreturn]] void refuse_value(const Place& place, PyObject* name, PyObject* value) {
    if (PyBytes_Check(value) || PyByteArray_Check(value))
        reject_value(place, name, "text must be str, but got bytes; decode them");
    if (PyTuple_Check(value))
        reject_value(
            place, name,
            "a value must not be a tuple; use a list or set of str for a bag, and one key for each item "
            "otherwise");
    nb::object rule =
        nb::steal(PyUnicode_FromFormat("a value is str, a number, a bool, None, a list or set of str or a "
                                       "dict of these, but got %s; convert it",
                                       type_name(value)));
    const char* text = rule.is_valid() ? PyUnicode_AsUTF8(rule.ptr()) : nullptr;
    if (text == nullptr) throw nb::python_error();
    reject_value(place, name, text);
}

double to_double(const Place& place, PyObject* name, PyObject* value) {
    const double number = PyFloat_Check(value)  ? PyFloat_AS_DOUBLE(value)
                          : PyLong_Check(value) ? PyLong_AsDouble(value)
                                                : PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw nb::python_error();
        PyErr_Clear();
        reject_value(place, name,
                     "numbers must fit a 32-bit float, but got a larger one; rescale the column");
    }
    return number;
}

void put_bag(ColumnBuilder& column, const Place& place, PyObject* value) {
    column.open_bag(place);
    if (PyList_Check(value)) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); ++i)
            column.add_member(place, PyList_GET_ITEM(value, i));
    } else {
        nb::object members = nb::steal(PyObject_GetIter(value));
        if (!members.is_valid()) throw nb::python_error();
        while (PyObject* next = PyIter_Next(members.ptr())) {
            nb::object member = nb::steal(next);
            column.add_member(place, member.ptr());
        }
        if (PyErr_Occurred()) throw nb::python_error();
    }
    column.close_bag();
}

// Whether a value is a number. Tests the most frequent types first.
bool is_number(PyObject* value, const NumpyNumbers& numpy) {
    return PyFloat_Check(value) || PyLong_Check(value) ||
           (!PyUnicode_Check(value) && !PyList_Check(value) && !PyAnySet_Check(value) && numpy.has(value));
}

// Adds one value that is not text. Sets and numpy scalars may run Python code, so a reference is held.
void put_other(ColumnBuilder& column, const Place& place, PyObject* value, const NumpyNumbers& numpy) {
    if (value == Py_None) return column.put_missing(place.position);
    nb::object held = nb::borrow(value);
    if (is_number(value, numpy)) return column.put_number(place, to_double(place, column.name(), value));
    if (PyList_Check(value) || PyAnySet_Check(value)) return put_bag(column, place, value);
    refuse_value(place, column.name(), value);
}

// Adds one value to a column.
inline void put(ColumnBuilder& column, const Place& place, PyObject* value, const NumpyNumbers& numpy) {
    if (PyUnicode_Check(value)) return column.put_text(place, value);
    put_other(column, place, value, numpy);
}

// Reads dicts. Most dicts have the same keys as the previous dict, in the same order and as the same objects,
// so the i-th key is first compared by address with the i-th key of the previous dict.
class DictReader {
  public:
    DictReader(const int64_t* starts, int64_t n_sequences, size_t n_positions)
        : place_{starts, n_sequences, 0}, n_positions_(n_positions) {}

    void read(int64_t position, PyObject* item) {
        place_.position = position;
        step_ = 0;
        if (!PyDict_Check(item))
            refuse(
                "sequence %lld, position %lld: the positions before are dicts, but got %s; use one form "
                "throughout",
                static_cast<long long>(place_.sequence()), static_cast<long long>(place_.offset()),
                type_name(item));
        walk(item, -1, 0);
        numbers_.end_position();
    }

    // All columns in the order of their first occurrence, and then the bag of folded numeric keys, if any.
    nb::list finish() {
        const std::vector<int32_t> numeric = numeric_keys();
        const std::vector<int32_t> folded = numbers_.keys_to_fold(numeric, keys_.size());
        std::vector<char> is_folded(keys_.size(), 0);
        for (const int32_t name : folded) is_folded[static_cast<size_t>(name)] = 1;
        std::vector<int32_t> dense;
        for (const int32_t name : numeric)
            if (!is_folded[static_cast<size_t>(name)]) dense.push_back(name);
        check_cells(order_.size() - folded.size());
        std::vector<std::vector<float>> values = numbers_.dense_columns(dense, keys_.size());
        nb::list columns;
        size_t next = 0;
        for (const int32_t name : order_) {
            check_signals();
            Key& key = keys_[static_cast<size_t>(name)];
            if (is_folded[static_cast<size_t>(name)]) continue;
            if (key.kind == Kind::numeric)
                columns.append(nb::make_tuple(text(name), "numeric", to_array(std::move(values[next++]))));
            else
                columns.append(builder(name).finish());
        }
        if (!folded.empty()) columns.append(folded_bag(folded));
        return columns;
    }

  private:
    struct Step {
        nb::object key;
        int32_t prefix;
        int32_t name;
    };
    struct Key {
        Kind kind = Kind::unknown;
        int64_t last = -1;                      // the last position with this key
        std::unique_ptr<ColumnBuilder> column;  // only for text and bags
    };

    void walk(PyObject* dict, int32_t prefix, int depth) {
        if (depth > kMaxDepth)
            refuse("sequence %lld, position %lld: dicts may be nested %d deep, but got more; flatten them",
                   static_cast<long long>(place_.sequence()), static_cast<long long>(place_.offset()),
                   kMaxDepth);
        Py_ssize_t cursor = 0;
        PyObject *key, *value;
        while (PyDict_Next(dict, &cursor, &key, &value)) {
            const int32_t name = resolve(prefix, key);
            if (PyDict_Check(value)) {
                nb::object held = nb::borrow(value);
                walk(value, name, depth + 1);
            } else {
                put_named(name, value);
            }
        }
    }

    void put_named(int32_t name, PyObject* value) {
        Key& key = keys_[static_cast<size_t>(name)];
        if (key.last < 0) order_.push_back(name);
        if (key.last == place_.position)
            reject_value(
                place_, names_.text(name),
                "column names must differ, but this one occurs twice (a nested dict joins names with ':'); "
                "rename a key");
        key.last = place_.position;
        if (key.column != nullptr) return put(*key.column, place_, value, numpy_);
        nb::object held = nb::borrow(value);
        if (value == Py_None) return numbers_.add_missing(name, place_.position);
        if (is_number(value, numpy_))
            return put_number(key, name, to_double(place_, names_.text(name), value));
        if (key.kind == Kind::numeric) refuse_after_numbers(name, value);
        put(builder(name), place_, value, numpy_);
    }

    void put_number(Key& key, int32_t name, double number) {
        if (std::isnan(number)) return numbers_.add_missing(name, place_.position);
        key.kind = Kind::numeric;
        numbers_.add(name, to_single(place_, names_.text(name), number));
    }

    [[noreturn]] void refuse_after_numbers(int32_t name, PyObject* value) const {
        if (!PyUnicode_Check(value) && !PyList_Check(value) && !PyAnySet_Check(value))
            refuse_value(place_, names_.text(name), value);
        reject_kind(place_, names_.text(name), Kind::numeric,
                    PyUnicode_Check(value) ? Kind::categorical : Kind::bag);
    }

    // The builder of a column of text or bags. Created on first use, with the missing values so far.
    ColumnBuilder& builder(int32_t name) {
        Key& key = keys_[static_cast<size_t>(name)];
        if (key.column == nullptr) {
            check_cells(++n_builders_);
            key.column = std::make_unique<ColumnBuilder>(text(name), n_positions_);
            for (const int64_t t : numbers_.take_missing(name)) key.column->put_missing(t);
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

    std::vector<int32_t> numeric_keys() const {
        std::vector<int32_t> numeric;
        for (const int32_t name : order_)
            if (keys_[static_cast<size_t>(name)].kind == Kind::numeric) numeric.push_back(name);
        return numeric;
    }

    nb::tuple folded_bag(const std::vector<int32_t>& folded) const {
        Interner members;
        for (const int32_t name : folded) members.intern(names_.text(name));
        SortedStrings alphabet = members.sorted();
        std::vector<int32_t> id_of(keys_.size(), -1);
        for (size_t i = 0; i < folded.size(); ++i) id_of[static_cast<size_t>(folded[i])] = alphabet.rank[i];
        KeyedNumbers::Bag bag = numbers_.bag(id_of);
        nb::object weights = nb::none();
        if (bag.has_weights) weights = nb::cast(to_array(std::move(bag.weights)));
        return nb::make_tuple(nb::none(), "folded", to_array(std::move(bag.starts)),
                              to_array(std::move(bag.ids)), weights, to_array(std::move(alphabet.blob)),
                              to_array(std::move(alphabet.offsets)));
    }

    nb::object text(int32_t name) const {
        nb::object text = nb::steal(PyUnicode_FromObject(names_.text(name)));
        if (!text.is_valid()) throw nb::python_error();
        return text;
    }

    // The id of the name "prefix:key".
    int32_t resolve(int32_t prefix, PyObject* key) {
        const size_t i = step_++;
        if (i < steps_.size() && steps_[i].key.ptr() == key && steps_[i].prefix == prefix)
            return steps_[i].name;
        if (!PyUnicode_Check(key))
            refuse("sequence %lld, position %lld: keys must be str, but got %s; convert them",
                   static_cast<long long>(place_.sequence()), static_cast<long long>(place_.offset()),
                   type_name(key));
        nb::object full = nb::borrow(key);
        if (prefix >= 0) full = nb::steal(PyUnicode_FromFormat("%U:%U", names_.text(prefix), key));
        if (!full.is_valid()) throw nb::python_error();
        const int32_t name = names_.intern(full.ptr());
        if (static_cast<size_t>(name) == keys_.size()) keys_.emplace_back();
        Step step{nb::borrow(key), prefix, name};
        if (i < steps_.size()) {
            std::swap(steps_[i], step);
        } else {
            steps_.push_back(std::move(step));
        }
        return name;
    }

    Place place_;
    size_t n_positions_;
    NumpyNumbers numpy_;
    Interner names_;              // of columns and prefixes
    std::vector<Key> keys_;       // by name; never seen where a name is only a prefix
    std::vector<int32_t> order_;  // names that have values, by first sight
    size_t n_builders_ = 0;
    KeyedNumbers numbers_;
    std::vector<Step> steps_;
    size_t step_ = 0;
};

void check_starts(const Input<int64_t, 1>& starts, size_t n_positions) {
    const int64_t* s = starts.data();
    bool good =
        starts.shape(0) >= 1 && s[0] == 0 && s[starts.shape(0) - 1] == static_cast<int64_t>(n_positions);
    for (size_t i = 1; good && i < starts.shape(0); ++i) good = s[i - 1] <= s[i];
    if (!good) refuse("starts must rise from 0 to the number of positions");
}

// Calls read(i, item) for each item of a list. Raises InputError if the list changes meanwhile.
template <class Read>
void read_all(const nb::list& items, Read&& read) {
    const auto size = static_cast<int64_t>(items.size());
    for (int64_t i = 0; i < size; ++i) {
        if (i % kSignalInterval == kSignalInterval - 1) check_signals();
        if (static_cast<int64_t>(PyList_GET_SIZE(items.ptr())) != size) refuse("X changed while it was read");
        nb::object item = nb::borrow(PyList_GET_ITEM(items.ptr(), i));
        read(i, item.ptr());
    }
}

[[noreturn]] void refuse_dict(const Place& place) {
    refuse(
        "sequence %lld, position %lld: the positions before are not dicts, but got a dict; use one form "
        "throughout",
        static_cast<long long>(place.sequence()), static_cast<long long>(place.offset()));
}

using Columns = nb::typed<nb::list, nb::typed<nb::tuple, nb::any, nb::ellipsis>>;

Columns ingest_dicts(const nb::typed<nb::list, nb::any>& positions, const Input<int64_t, 1>& starts) {
    const size_t n = positions.size();
    check_starts(starts, n);
    DictReader reader(starts.data(), static_cast<int64_t>(starts.shape(0)) - 1, n);
    read_all(positions, [&reader](int64_t i, PyObject* item) { reader.read(i, item); });
    return Columns(reader.finish());
}

nb::typed<nb::tuple, nb::any, nb::ellipsis> ingest_values(const nb::typed<nb::list, nb::any>& values,
                                                          const Input<int64_t, 1>& starts,
                                                          const nb::str& name) {
    const size_t n = values.size();
    check_starts(starts, n);
    const NumpyNumbers numpy;
    ColumnBuilder column(name, n);
    Place place{starts.data(), static_cast<int64_t>(starts.shape(0)) - 1, 0};
    read_all(values, [&](int64_t i, PyObject* item) {
        place.position = i;
        if (PyDict_Check(item)) refuse_dict(place);
        put(column, place, item, numpy);
    });
    return nb::typed<nb::tuple, nb::any, nb::ellipsis>(column.finish());
}

}  // namespace

void register_ingest(nb::module_& m) {
    m.def("ingest_dicts", &ingest_dicts, nb::arg("positions"), nb::arg("starts"),
          "Return the columns of a flat list of dicts, one dict per position.\n\n"
          "A column is (name, 'categorical', codes, blob, offsets), (name, 'numeric', values) or\n"
          "(name, 'bag', starts, ids, weights or None, blob, offsets). Columns come in the order of their\n"
          "first occurrence. If many numeric keys are absent at most positions, they become one bag\n"
          "(None, 'folded', ...), the last column. `starts` is where each sequence begins, and the end.\n"
          "Raises InputError with sequence, position and column.");
    m.def("ingest_values", &ingest_values, nb::arg("values"), nb::arg("starts"), nb::arg("name"),
          "Return the column of a flat list of values, in the form of ingest_dicts.");
}

}  // namespace hedgerow
