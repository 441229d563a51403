// Python objects into ragged columns: the one place where kernels would have to know Python.
//
// Nothing here trusts what it reads to hold still: strings, exact numbers, lists and tuples are read without
// running Python; around anything else (scalars of numpy, sets, signal handlers) owned references are held.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/column_builder.hpp"
#include "bindings/errors.hpp"

namespace hedgerow {
namespace {

constexpr int64_t kSignalInterval = 1 << 14;  // positions between two looks for Ctrl-C
constexpr int kMaxDepth = 32;                 // of nested dicts: one that holds itself must end
constexpr size_t kManyColumns = 1000;         // columns are dense: beyond this many ...
constexpr size_t kManyCells = size_t{1}
                              << 29;  // ... and this many cells (2 GiB), the input is meant to be bags

// The scalars of numpy that are numbers; float64 is a float and str_ a str, and need no entry.
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

[[noreturn]] void refuse_value(const ColumnBuilder& column, const Place& place, PyObject* value) {
    if (PyBytes_Check(value) || PyByteArray_Check(value))
        column.reject(place, "text must be str, but bytes came; decode them");
    if (PyTuple_Check(value))
        column.reject(
            place,
            "a value must not be a tuple; use a list or set of str for a bag, and one key for each item "
            "otherwise");
    nb::object rule =
        nb::steal(PyUnicode_FromFormat("a value is str, a number, a bool, None, a list or set of str or a "
                                       "dict of these, but %s came; convert it",
                                       Py_TYPE(value)->tp_name));
    const char* text = rule.is_valid() ? PyUnicode_AsUTF8(rule.ptr()) : nullptr;
    if (text == nullptr) throw nb::python_error();
    column.reject(place, text);
}

double to_double(const ColumnBuilder& column, const Place& place, PyObject* value) {
    const double number = PyFloat_Check(value)  ? PyFloat_AS_DOUBLE(value)
                          : PyLong_Check(value) ? PyLong_AsDouble(value)
                                                : PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw nb::python_error();
        PyErr_Clear();
        column.reject(place, "numbers must fit a 32-bit float, but a larger one came; rescale the column");
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

// One value of one column; most frequent types first. A set and a scalar of numpy may run Python, so they are
// held.
void put(ColumnBuilder& column, const Place& place, PyObject* value, const NumpyNumbers& numpy) {
    if (PyUnicode_Check(value)) return column.put_text(place, value);
    if (value == Py_None) return column.put_missing(place.position);
    if (PyFloat_Check(value) || PyLong_Check(value))
        return column.put_number(place, to_double(column, place, value));
    nb::object held = nb::borrow(value);
    if (PyList_Check(value) || PyAnySet_Check(value)) return put_bag(column, place, value);
    if (numpy.has(value)) return column.put_number(place, to_double(column, place, value));
    refuse_value(column, place, value);
}

// Reads dicts. A dict tends to have the keys of the one before, in the same order and as the same objects; so
// the i-th key is first compared by address with the i-th key of last time.
class DictReader {
  public:
    DictReader(const int64_t* starts, int64_t n_sequences, size_t n_positions)
        : place_{starts, n_sequences, 0}, n_positions_(n_positions) {}

    void read(int64_t position, PyObject* item) {
        place_.position = position;
        step_ = 0;
        nb::object held = nb::borrow(item);
        if (!PyDict_Check(item))
            refuse(
                "sequence %lld, position %lld: the positions before are dicts, but %s came; use one form "
                "throughout",
                static_cast<long long>(place_.sequence()), static_cast<long long>(place_.offset()),
                Py_TYPE(item)->tp_name);
        walk(item, -1, 0);
    }

    nb::list finish() {
        nb::list columns;
        for (const int32_t name : order_) {
            check_signals();
            columns.append(columns_[static_cast<size_t>(name)]->finish());
        }
        return columns;
    }

  private:
    struct Step {
        nb::object key;
        int32_t prefix;
        int32_t name;
    };

    void walk(PyObject* dict, int32_t prefix, int depth) {
        if (depth > kMaxDepth)
            refuse("sequence %lld, position %lld: dicts may be nested %d deep, but more came; flatten them",
                   static_cast<long long>(place_.sequence()), static_cast<long long>(place_.offset()),
                   kMaxDepth);
        Py_ssize_t cursor = 0;
        PyObject *key, *value;
        while (PyDict_Next(dict, &cursor, &key, &value)) {
            nb::object held_key = nb::borrow(key);
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
        std::unique_ptr<ColumnBuilder>& column = columns_[static_cast<size_t>(name)];
        if (column == nullptr) column = add_column(name);
        if (column->holds(place_.position))
            column->reject(place_,
                           "column names must differ, but this one came twice (a nested dict joins names "
                           "with ':'); rename a key");
        put(*column, place_, value, numpy_);
    }

    std::unique_ptr<ColumnBuilder> add_column(int32_t name) {
        if (order_.size() >= kManyColumns && (order_.size() + 1) * n_positions_ > kManyCells)
            refuse(
                "X has more than %zu columns (distinct keys of its dicts) over %zu positions; a column is "
                "stored "
                "for every position: put attributes that come and go into one bag, {'bag': ['w=the', ...]}",
                order_.size(), n_positions_);
        nb::object text = nb::steal(PyUnicode_FromObject(names_.text(name)));
        if (!text.is_valid()) throw nb::python_error();
        order_.push_back(name);
        return std::make_unique<ColumnBuilder>(std::move(text), n_positions_);
    }

    // Id of the name "prefix:key".
    int32_t resolve(int32_t prefix, PyObject* key) {
        const size_t i = step_++;
        if (i < steps_.size() && steps_[i].key.ptr() == key && steps_[i].prefix == prefix)
            return steps_[i].name;
        if (!PyUnicode_Check(key))
            refuse("sequence %lld, position %lld: keys must be str, but %s came; convert them",
                   static_cast<long long>(place_.sequence()), static_cast<long long>(place_.offset()),
                   Py_TYPE(key)->tp_name);
        nb::object full = nb::borrow(key);
        if (prefix >= 0) full = nb::steal(PyUnicode_FromFormat("%U:%U", names_.text(prefix), key));
        if (!full.is_valid()) throw nb::python_error();
        const int32_t name = names_.intern(full.ptr());
        if (static_cast<size_t>(name) == columns_.size()) columns_.emplace_back();
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
    Interner names_;                                       // columns and prefixes
    std::vector<std::unique_ptr<ColumnBuilder>> columns_;  // by name; null where a name is only a prefix
    std::vector<int32_t> order_;                           // names that are columns, by first sight
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

// Calls read(i, item) for each item of a list that may change under us.
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
        "sequence %lld, position %lld: the positions before are no dicts, but a dict came; use one form "
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
          "Columns of a flat list of dicts, one for each position, in the order of first sight.\n\n"
          "A column is (name, 'categorical', codes, blob, offsets), (name, 'numeric', values) or\n"
          "(name, 'bag', starts, ids, blob, offsets). `starts` is where each sequence begins, and the end.\n"
          "Raises InputError, naming sequence, position and column.");
    m.def("ingest_values", &ingest_values, nb::arg("values"), nb::arg("starts"), nb::arg("name"),
          "The one column of a flat list of values, as in ingest_dicts.");
}

}  // namespace hedgerow
