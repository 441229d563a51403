// What every binding of the encoder needs: InputError, and vectors that become arrays without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdarg>
#include <cstdint>
#include <utility>
#include <vector>

namespace hedgerow {

namespace nb = nanobind;

template <class T>
using ArrayIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using ArrayOut = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

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

// Lets Ctrl-C through; call it where no borrowed reference is held, for a handler may run any Python.
inline void check_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

template <class T>
ArrayOut<T> to_array(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return ArrayOut<T>(kept->data(), {kept->size()}, owner);
}

}  // namespace hedgerow
