// Alphabets: builds and checks them, and maps strings to indices.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/sorted_set.hpp"
#include "data/text_interner.hpp"

namespace hedgerow {
namespace {

std::pair<Array<uint8_t, 1>, Array<int64_t, 1>> sort_strings(const nb::typed<nb::list, nb::str>& values) {
    TextStore copies;
    TextInterner interner;  // the list keeps the texts
    intern_texts(values, interner, copies);
    return to_arrays(interner.sorted());
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
        .def(
            "part_codes", &SortedSet::part_codes, nb::arg("texts"), nb::arg("part"), nb::arg("outside"),
            nb::arg("n_threads") = 1,
            "Return (the index of a part of each string of `texts`, -2 if the text or the set does not have "
            "it; the texts whose part is undecided).\n\n"
            "Lower case and shapes of texts that are not ASCII are undecided. A text or lower-case text that "
            "begins with `outside` has an apostrophe at its end.")
        .def("part_alphabets", &SortedSet::part_alphabets, nb::arg("names"), nb::arg("more"),
             nb::arg("outside"), nb::arg("n_threads") = 1,
             "Return (blob, offsets) of the distinct parts of all strings, sorted, for each name of a part; "
             "also the strings of its list in `more`.\n\n"
             "Parts are those of part_codes; undecided ones are left out.")
        .def("into", &SortedSet::into, nb::arg("other"),
             "Return the index in `other` of each string, -1 if `other` does not have it.")
        .def("merged", &SortedSet::merged, nb::arg("other"),
             "Return (blob, offsets) of the strings of both sets, sorted, each once.")
        .def("recode", &SortedSet::recode, nb::arg("codes"), nb::arg("other"), nb::arg("n_threads") = 1,
             "Return (codes in `other`, -2 where `other` lacks the string; the number of such codes).");
}

}  // namespace hedgerow
