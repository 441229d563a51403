// Reads lists of Python values or dicts into columns.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/column_builder.hpp"
#include "bindings/dict_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/item_cursor.hpp"
#include "bindings/value_reader.hpp"
#include "data/text_batches.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {
namespace {

constexpr int64_t kSignalInterval = 1 << 14;  // positions between two checks for Ctrl-C
constexpr int64_t kNear = 3, kFar = 8;        // how many positions ahead loading of items begins

void check_starts(const Input<int64_t, 1>& starts, int64_t n_positions) {
    const int64_t* s = starts.data();
    bool good = starts.shape(0) >= 1 && s[0] == 0 && s[starts.shape(0) - 1] == n_positions;
    for (size_t i = 1; good && i < starts.shape(0); ++i) good = s[i - 1] <= s[i];
    if (!good) refuse("starts must rise from 0 to the number of positions");
}

// Calls read(i, item, the next item or null, an item some positions ahead or null) for each item of lists or
// tuples, end to end. There is no next item where Python code may run before it is read. Items lie far apart,
// so loading begins before they are read. Items are borrowed: to count references would write to all of them.
// Raises InputError if a list changes meanwhile.
template <class Read>
void read_all(const nb::list& parts, const PartSizes& sizes, TextBatches& batches, int64_t n_threads,
              Read&& read) {
    const int64_t n = sizes.total();
    const GarbagePause pause;
    ItemCursor cursor(parts), next(parts), near(parts), far(parts);
    next.skip(1);
    near.skip(kNear);
    far.skip(kFar);
    batches.run(n_threads, [&] {
        for (int64_t i = 0; i < n; ++i) {
            if (i % kSignalInterval == 0) {
                batches.drain();
                check_signals();
            }
            PyObject* item = cursor.next();
            if (item == nullptr || !sizes.holds_at(cursor)) refuse("X changed while it was read");
            PyObject* following = next.next();
            if ((i + 1) % kSignalInterval == 0) following = nullptr;
            if (PyObject* ahead = far.next()) prefetch_text(ahead);
            read(i, item, following, near.next());
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

Columns ingest_dicts(const nb::typed<nb::list, nb::any>& parts, const Input<int64_t, 1>& starts,
                     const nb::dict& known, int64_t n_threads) {
    const PartSizes sizes(parts);
    check_starts(starts, sizes.total());
    TextBatches batches;
    DictReader reader(starts.data(), static_cast<int64_t>(starts.shape(0)) - 1,
                      static_cast<size_t>(sizes.total()), batches, known);
    read_all(parts, sizes, batches, n_threads,
             [&](int64_t i, PyObject* item, PyObject* next, PyObject* near) {
                 if (near != nullptr) prefetch_entries(near);
                 reader.read(i, item, next);
             });
    return Columns(reader.finish(n_threads));
}

nb::typed<nb::tuple, nb::any, nb::ellipsis> ingest_values(const nb::typed<nb::list, nb::any>& parts,
                                                          const Input<int64_t, 1>& starts,
                                                          const nb::str& name, const nb::dict& known,
                                                          int64_t n_threads) {
    const PartSizes sizes(parts);
    check_starts(starts, sizes.total());
    const NumpyNumbers numpy;
    TextBatches batches;
    ColumnBuilder column(name, static_cast<size_t>(sizes.total()), batches, known_column(known, name));
    Place place{starts.data(), static_cast<int64_t>(starts.shape(0)) - 1, 0};
    read_all(parts, sizes, batches, n_threads, [&](int64_t i, PyObject* item, PyObject*, PyObject*) {
        place.position = i;
        if (is_text(item)) [[likely]]
            return column.add_text(place, item);
        if (PyDict_Check(item)) refuse_dict(place);
        const nb::object held = nb::borrow(item);  // Python code may run and take it out of its list
        add_value(column, place, item, numpy);
    });
    column.close();
    return nb::typed<nb::tuple, nb::any, nb::ellipsis>(column.finish());
}

}  // namespace

void register_ingest(nb::module_& m) {
    m.def(
        "ingest_dicts", &ingest_dicts, nb::arg("parts"), nb::arg("starts"), nb::arg("known") = nb::dict(),
        nb::arg("n_threads") = 1,
        "Return the columns of dicts, one dict per position, in lists or tuples that are read end to end.\n\n"
        "A column is (name, 'categorical', codes, blob, offsets), (name, 'numeric', values) or\n"
        "(name, 'bag', starts, ids, weights or None, blob, offsets). Columns come in the order of their\n"
        "first occurrence. A nested dict of numbers is a bag. If many numeric keys are absent at most\n"
        "positions, they become one bag (None, 'folded', ...), the last column. `starts` is where each "
        "sequence begins, and the end.\n"
        "known: {name: (kind, alphabet)}. In a column of this name and kind texts are looked up in the\n"
        "alphabet, and the number of texts that it lacks, which are left out, comes instead of blob, "
        "offsets.\n"
        "Raises InputError with sequence, position and column.");
    m.def("ingest_values", &ingest_values, nb::arg("parts"), nb::arg("starts"), nb::arg("name"),
          nb::arg("known") = nb::dict(), nb::arg("n_threads") = 1,
          "Return the column of values, in lists or tuples that are read end to end, in the form of "
          "ingest_dicts.");
}

}  // namespace hedgerow
