// Reads flat lists of Python values or dicts into columns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/column_builder.hpp"
#include "bindings/dict_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/value_reader.hpp"

namespace hedgerow {
namespace {

constexpr int64_t kSignalInterval = 1 << 14;  // positions between two checks for Ctrl-C

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
        add_value(column, place, item, numpy);
    });
    return nb::typed<nb::tuple, nb::any, nb::ellipsis>(column.finish());
}

}  // namespace

void register_ingest(nb::module_& m) {
    m.def("ingest_dicts", &ingest_dicts, nb::arg("positions"), nb::arg("starts"),
          "Return the columns of a flat list of dicts, one dict per position.\n\n"
          "A column is (name, 'categorical', codes, blob, offsets), (name, 'numeric', values) or\n"
          "(name, 'bag', starts, ids, weights or None, blob, offsets). Columns come in the order of their\n"
          "first occurrence. A nested dict of numbers is a bag. If many numeric keys are absent at most\n"
          "positions, they set_kind one bag (None, 'folded', ...), the last column. `starts` is where each "
          "sequence begins, and the end.\n"
          "Raises InputError with sequence, position and column.");
    m.def("ingest_values", &ingest_values, nb::arg("values"), nb::arg("starts"), nb::arg("name"),
          "Return the column of a flat list of values, in the form of ingest_dicts.");
}

}  // namespace hedgerow
