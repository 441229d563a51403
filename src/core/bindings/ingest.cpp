// Reads flat lists of Python values or dicts into columns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/column_builder.hpp"
#include "bindings/dict_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/value_reader.hpp"
#include "data/text_batches.hpp"
#include "util/prefetch.hpp"

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

// Calls read(i, item, the next item or null) for each item of a list. There is no next item where Python code
// may run before it is read. Raises InputError if the list changes meanwhile.
template <class Read>
void read_all(const nb::list& items, TextBatches& batches, int64_t n_threads, Read&& read) {
    const auto size = static_cast<int64_t>(items.size());
    const GarbagePause pause;
    batches.run(n_threads, [&] {
        for (int64_t i = 0; i < size; ++i) {
            if (i % kSignalInterval == 0) {
                batches.drain();
                check_signals();
            }
            if (static_cast<int64_t>(NB_LIST_GET_SIZE(items.ptr())) != size)
                refuse("X changed while it was read");
            nb::object item = nb::borrow(NB_LIST_GET_ITEM(items.ptr(), i));
            const bool has_next = i + 1 < size && (i + 1) % kSignalInterval != 0;
            read(i, item.ptr(), has_next ? NB_LIST_GET_ITEM(items.ptr(), i + 1) : nullptr);
            batches.hand_over_if_full();
        }
    });
}

[[noreturn]] void refuse_dict(const Place& place) {
    refuse(
        "sequence %lld, position %lld: the positions before are not dicts, but got a dict; use one form "
        "throughout",
        static_cast<long long>(place.sequence()), static_cast<long long>(place.offset()));
}

using Columns = nb::typed<nb::list, nb::typed<nb::tuple, nb::any, nb::ellipsis>>;

Columns ingest_dicts(const nb::typed<nb::list, nb::any>& positions, const Input<int64_t, 1>& starts,
                     const nb::dict& known, int64_t n_threads) {
    const size_t n = positions.size();
    check_starts(starts, n);
    TextBatches batches;
    DictReader reader(starts.data(), static_cast<int64_t>(starts.shape(0)) - 1, n, batches, known);
    read_all(positions, batches, n_threads,
             [&reader](int64_t i, PyObject* item, PyObject* next) { reader.read(i, item, next); });
    return Columns(reader.finish(n_threads));
}

nb::typed<nb::tuple, nb::any, nb::ellipsis> ingest_values(const nb::typed<nb::list, nb::any>& values,
                                                          const Input<int64_t, 1>& starts,
                                                          const nb::str& name, const nb::dict& known,
                                                          int64_t n_threads) {
    const size_t n = values.size();
    check_starts(starts, n);
    const NumpyNumbers numpy;
    TextBatches batches;
    ColumnBuilder column(name, n, batches, known_column(known, name));
    Place place{starts.data(), static_cast<int64_t>(starts.shape(0)) - 1, 0};
    read_all(values, batches, n_threads, [&](int64_t i, PyObject* item, PyObject* next) {
        prefetch(next);
        place.position = i;
        if (is_text(item)) [[likely]]
            return column.add_text(place, item);
        if (PyDict_Check(item)) refuse_dict(place);
        add_value(column, place, item, numpy);
    });
    column.close();
    return nb::typed<nb::tuple, nb::any, nb::ellipsis>(column.finish());
}

}  // namespace

void register_ingest(nb::module_& m) {
    m.def("ingest_dicts", &ingest_dicts, nb::arg("positions"), nb::arg("starts"),
          nb::arg("known") = nb::dict(), nb::arg("n_threads") = 1,
          "Return the columns of a flat list of dicts, one dict per position.\n\n"
          "A column is (name, 'categorical', codes, blob, offsets), (name, 'numeric', values) or\n"
          "(name, 'bag', starts, ids, weights or None, blob, offsets). Columns come in the order of their\n"
          "first occurrence. A nested dict of numbers is a bag. If many numeric keys are absent at most\n"
          "positions, they become one bag (None, 'folded', ...), the last column. `starts` is where each "
          "sequence begins, and the end.\n"
          "known: {name: (kind, alphabet)}. In a column of this name and kind texts are looked up in the\n"
          "alphabet, and the number of texts that it lacks, which are left out, comes instead of blob, "
          "offsets.\n"
          "Raises InputError with sequence, position and column.");
    m.def("ingest_values", &ingest_values, nb::arg("values"), nb::arg("starts"), nb::arg("name"),
          nb::arg("known") = nb::dict(), nb::arg("n_threads") = 1,
          "Return the column of a flat list of values, in the form of ingest_dicts.");
}

}  // namespace hedgerow
