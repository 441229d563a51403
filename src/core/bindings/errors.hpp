// How a binding stops: a broken rule becomes an exception of Python, and Ctrl-C is let through.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdarg>

#include "util/require.hpp"

namespace hedgerow {

namespace nb = nanobind;

// Raises hedgerow.errors.InputError; `format` as in PyUnicode_FromFormat.
[[noreturn]] inline void refuse(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    nb::object text = nb::steal(PyUnicode_FromFormatV(format, arguments));
    va_end(arguments);
    if (text.is_valid()) {
        nb::object error = nb::module_::import_("hedgerow.errors").attr("InputError");
        PyErr_SetObject(error.ptr(), text.ptr());
    }
    throw nb::python_error();
}

// The type of a value, for messages.
inline const char* type_name(PyObject* value) {
    return value == Py_None ? "None" : Py_TYPE(value)->tp_name;
}

// Lets Ctrl-C through; call it where no borrowed reference is held, for a handler may run any Python.
inline void check_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace hedgerow
