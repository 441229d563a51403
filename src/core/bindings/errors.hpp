// How a binding stops: a broken rule becomes an exception of Python, and Ctrl-C is let through.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdarg>
#include <string>

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

// The type of a value, for messages, and its module if it is not a class of Python; valid until the next
// call.
inline const char* type_name(PyObject* value) {
    static std::string name;
    nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(value)));
    const std::string home = nb::str(type.attr("__module__")).c_str();
    name = nb::str(type.attr("__qualname__")).c_str();
    if (home != "builtins" && !(PyType_GetFlags(Py_TYPE(value)) & Py_TPFLAGS_HEAPTYPE))
        name = home + "." + name;
    return value == Py_None ? "None" : name.c_str();
}

// Lets Ctrl-C through; call it where no borrowed reference is held, for a handler may run any Python.
inline void check_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace hedgerow
