// Adds one Python value to a column: text, a number, a bag, or None.
//
// Python code that runs meanwhile may change the objects. Strings, numbers of Python and numpy, lists and
// sets are read without running Python code, and garbage is not collected meanwhile. Subclasses of sets and
// of numpy's numbers may run Python code, and so may signal handlers: before, collected texts are encoded,
// because they are borrowed, and owned references are held.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <limits>

#include "bindings/column_builder.hpp"
#include "bindings/errors.hpp"

namespace hedgerow {

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

inline bool is_array_of_numbers(PyObject* value) {
    if (!nb::isinstance(value, nb::module_::import_("numpy").attr("ndarray"))) return false;
    const nb::str kind(nb::handle(value).attr("dtype").attr("kind"));
    return std::strchr("biuf", kind.c_str()[0]) != nullptr;
}

[[noreturn]] inline void refuse_value(const Place& place, PyObject* name, PyObject* value) {
    if (PyBytes_Check(value) || PyByteArray_Check(value))
        refuse_at(place, name, "text must be str, but got bytes; decode them");
    if (PyTuple_Check(value))
        refuse_at(
            place, name,
            "a value must not be a tuple; use a list or set of str for a bag, and one key for each item "
            "otherwise");
    nb::object rule = nb::steal(
        PyUnicode_FromFormat("a value is str, a number, a bool, None, a list or set of str or a "
                             "dict of these, but got %s; %s",
                             type_name(value), is_array_of_numbers(value) ? kCureOfNumbers : "convert it"));
    const char* text = rule.is_valid() ? PyUnicode_AsUTF8AndSize(rule.ptr(), nullptr) : nullptr;
    if (text == nullptr) throw nb::python_error();
    refuse_at(place, name, text);
}

// Garbage collection runs finalisers, which are Python code.
class GarbagePause {
  public:
    GarbagePause() : was_enabled_(PyGC_Disable() != 0) {}
    ~GarbagePause() {
        if (was_enabled_) PyGC_Enable();
    }
    GarbagePause(const GarbagePause&) = delete;
    GarbagePause& operator=(const GarbagePause&) = delete;

  private:
    bool was_enabled_;
};

// Whether a class of Python may have replaced the methods of a type of C.
inline bool may_run_python(PyObject* value) {
    return (PyType_GetFlags(Py_TYPE(value)) & Py_TPFLAGS_HEAPTYPE) != 0;
}

// The number; one that does not fit a 32-bit float if it does not fit a double.
inline double to_double(PyObject* value) {
    const double number = PyLong_Check(value) ? PyLong_AsDouble(value) : PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw nb::python_error();
        PyErr_Clear();
        return std::numeric_limits<double>::max();
    }
    return number;
}

inline void add_bag(ColumnBuilder& column, const Place& place, PyObject* value) {
    column.open_bag(place);
    if (PyList_Check(value)) {
        for (Py_ssize_t i = 0; i < NB_LIST_GET_SIZE(value); ++i)
            column.add_member(place, NB_LIST_GET_ITEM(value, i), true);
    } else {
        nb::object members = nb::steal(PyObject_GetIter(value));
        if (!members.is_valid()) throw nb::python_error();
        while (PyObject* next = PyIter_Next(members.ptr())) {
            nb::object member = nb::steal(next);
            column.add_member(place, member.ptr(), false);
        }
        if (PyErr_Occurred()) throw nb::python_error();
    }
    column.close_bag();
}

// Whether a value is a number. Tests the most frequent types first.
inline bool is_number(PyObject* value, const NumpyNumbers& numpy) {
    return PyFloat_Check(value) || PyLong_Check(value) ||
           (!PyUnicode_Check(value) && !PyList_Check(value) && !PyAnySet_Check(value) && numpy.has(value));
}

// Adds one value that is not text.
inline void add_other(ColumnBuilder& column, const Place& place, PyObject* value, const NumpyNumbers& numpy) {
    if (value == Py_None) return column.add_missing(place.position);
    nb::object reference = nb::borrow(value);
    if (may_run_python(value)) column.drain();
    if (is_number(value, numpy)) return column.add_number(place, to_double(value));
    if (PyList_Check(value) || PyAnySet_Check(value)) return add_bag(column, place, value);
    refuse_value(place, column.name(), value);
}

// Adds one value to a column.
inline void add_value(ColumnBuilder& column, const Place& place, PyObject* value, const NumpyNumbers& numpy) {
    if (is_text(value)) [[likely]]
        return column.add_text(place, value);
    add_other(column, place, value, numpy);
}

}  // namespace hedgerow
