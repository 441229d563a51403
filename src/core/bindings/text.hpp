// Text of Python as UTF-8. Runs no Python code, even for a subclass of str.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "bindings/errors.hpp"
#include "data/text_interner.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

inline bool is_text(PyObject* value) {
    return Py_TYPE(value) == &PyUnicode_Type || PyUnicode_Check(value);
}

// Begins to load an object of Python, which may be a short str: its characters follow a head of some 48
// bytes, often in another line of the cache.
inline void prefetch_text(PyObject* value) {
    prefetch(value);
    prefetch(reinterpret_cast<const char*>(value) + 48);
}

// The UTF-8 of a str, with lone surrogates as three bytes, which `copies` then keeps. Otherwise the str keeps
// it.
inline Bytes utf8_of(PyObject* text, TextStore& copies) {
#ifndef Py_LIMITED_API
    if (PyUnicode_IS_COMPACT_ASCII(text)) [[likely]]
        return {static_cast<const uint8_t*>(PyUnicode_DATA(text)), PyUnicode_GET_LENGTH(text)};
#endif
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text, &size);
    if (data != nullptr) [[likely]]
        return {reinterpret_cast<const uint8_t*>(data), size};
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
    PyErr_Clear();
    nb::object encoded = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
    if (!encoded.is_valid()) throw nb::python_error();
    return copies.keep({reinterpret_cast<const uint8_t*>(PyBytes_AsString(encoded.ptr())),
                        static_cast<int64_t>(PyBytes_Size(encoded.ptr()))});
}

inline nb::object to_text(Bytes utf8) {
    nb::object text = nb::steal(PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(utf8.data),
                                                     static_cast<Py_ssize_t>(utf8.size), "surrogatepass"));
    if (!text.is_valid()) throw nb::python_error();
    return text;
}

}  // namespace hedgerow
