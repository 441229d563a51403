// Alphabets: builds and checks them, and maps strings to indices.
#include "data/alphabet.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/column_builder.hpp"
#include "bindings/errors.hpp"
#include "bindings/interner.hpp"

namespace hedgerow {
namespace {

void check_text(PyObject* value) {
    if (!PyUnicode_Check(value)) refuse("an alphabet holds str, but got %s; convert it", type_name(value));
}

// A sorted set of strings. The constructor checks the offsets, so that other methods need not.
class SortedSet {
  public:
    SortedSet(Input<uint8_t, 1> blob, Input<int64_t, 1> offsets)
        : blob_(std::move(blob)), offsets_(std::move(offsets)) {
        const auto n = static_cast<int64_t>(offsets_.shape(0)) - 1;
        const int64_t* at = offsets_.data();
        if (n < 0 || at[0] != 0 || at[n] != static_cast<int64_t>(blob_.shape(0)))
            refuse("the offsets of an alphabet must go from 0 to the size of its blob; the data is damaged");
        if (n > std::numeric_limits<int32_t>::max()) refuse("an alphabet holds at most 2147483647 strings");
        for (int64_t i = 0; i < n; ++i)
            if (at[i] > at[i + 1]) refuse("the offsets of an alphabet must not fall; the data is damaged");
        strings_ = {blob_.data(), at, n};
    }

    int64_t size() const { return strings_.size; }

    nb::object text(int64_t i) const {
        if (i < 0 || i >= size()) throw nb::index_error("the index lies outside the alphabet");
        const Bytes bytes = strings_[i];
        nb::object result = nb::steal(PyUnicode_DecodeUTF8(
            reinterpret_cast<const char*>(bytes.data), static_cast<Py_ssize_t>(bytes.size), "surrogatepass"));
        if (!result.is_valid()) throw nb::python_error();
        return result;
    }

    void check() const {
        for (int64_t i = 0; i < size(); ++i) {
            if (!is_utf8(strings_[i]))
                refuse("string %lld of an alphabet must be UTF-8; the data is damaged",
                       static_cast<long long>(i));
            if (i > 0 && compare(strings_[i - 1], strings_[i]) >= 0)
                refuse("the strings of an alphabet must rise, but string %lld does not; the data is damaged",
                       static_cast<long long>(i));
        }
    }

    Array<int32_t, 1> ids(const nb::typed<nb::list, nb::str>& values) const {
        std::vector<int32_t> found;
        found.reserve(values.size());
        std::vector<uint8_t> text;
        for (nb::handle value : values) {
            check_text(value.ptr());
            text.clear();
            append_utf8(text, value.ptr());
            found.push_back(find(strings_, {text.data(), static_cast<int64_t>(text.size())}));
        }
        return to_array(std::move(found));
    }

    // As ids, but None is allowed, and what the set does not have is absent.
    Array<int32_t, 1> codes(const nb::typed<nb::list, nb::object>& values) const {
        std::vector<int32_t> found;
        found.reserve(values.size());
        std::vector<uint8_t> text;
        for (nb::handle value : values) {
            int32_t code = -1;
            if (!value.is_none()) {
                check_text(value.ptr());
                text.clear();
                append_utf8(text, value.ptr());
                code = find(strings_, {text.data(), static_cast<int64_t>(text.size())});
            }
            found.push_back(code < 0 ? kAbsent : code);
        }
        return to_array(std::move(found));
    }

    Array<int32_t, 1> into(const SortedSet& other) const {
        return to_array(indices_in(strings_, other.strings_));
    }

    // Turns codes of this alphabet into codes of `other`, absent where `other` lacks the string; also returns
    // the number of such codes.
    std::pair<Array<int32_t, 1>, int64_t> recode(const Input<int32_t, 1>& codes,
                                                 const SortedSet& other) const {
        const std::vector<int32_t> found = indices_in(strings_, other.strings_);
        std::vector<int32_t> result(codes.data(), codes.data() + codes.shape(0));
        int64_t left_out = 0;
        for (int32_t& code : result) {
            if (code < 0) continue;
            if (code >= size()) refuse("a code lies outside its alphabet");
            code = found[static_cast<size_t>(code)];
            if (code >= 0) continue;
            code = kAbsent;
            ++left_out;
        }
        return {to_array(std::move(result)), left_out};
    }

  private:
    Input<uint8_t, 1> blob_;
    Input<int64_t, 1> offsets_;
    Strings strings_{};
};

std::pair<Array<uint8_t, 1>, Array<int64_t, 1>> sort_strings(const nb::typed<nb::list, nb::str>& values) {
    Interner interner;
    for (nb::handle value : values) {
        check_text(value.ptr());
        interner.intern(value.ptr());
    }
    SortedStrings sorted = interner.sorted();
    return {to_array(std::move(sorted.blob)), to_array(std::move(sorted.offsets))};
}

}  // namespace

void register_alphabet(nb::module_& m) {
    m.def("sort_strings", &sort_strings, nb::arg("values"),
          "Return (blob, offsets) of the distinct strings of a list, sorted.\n\n"
          "Raises InputError if a value is not a str.");
    nb::class_<SortedSet>(m, "SortedSet", "Sorted distinct strings, as a blob of UTF-8 and n + 1 offsets.")
        .def(nb::init<Input<uint8_t, 1>, Input<int64_t, 1>>(), nb::arg("blob").noconvert(),
             nb::arg("offsets").noconvert(),
             "Raises InputError unless the offsets go from 0 to the size of the blob and do not fall.")
        .def("__len__", &SortedSet::size)
        .def("text", &SortedSet::text, nb::arg("i"), nb::sig("def text(self, i: int) -> str"),
             "Return string i.")
        .def("check", &SortedSet::check,
             "Raise InputError unless the strings are UTF-8, distinct and sorted.")
        .def("ids", &SortedSet::ids, nb::arg("values"),
             "Return the index of each str of a list, -1 if the set does not have it.")
        .def("codes", &SortedSet::codes, nb::arg("values"),
             nb::sig("def codes(self, values: list[str | None]) -> "
                     "Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]"),
             "Return the index of each str of a list, -2 for None and if the set does not have it.")
        .def("into", &SortedSet::into, nb::arg("other"),
             "Return the index in `other` of each string, -1 if `other` does not have it.")
        .def("recode", &SortedSet::recode, nb::arg("codes"), nb::arg("other"),
             "Return (codes in `other`, -2 where `other` lacks the string; the number of such codes).");
}

}  // namespace hedgerow
