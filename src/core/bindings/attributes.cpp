// Slots: attribute ids through a window.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/attribute_reader.hpp"

namespace hedgerow {
namespace {

std::pair<Array<int64_t, 1>, Array<int32_t, 1>> ids(const AttributeReader& reader, int64_t first,
                                                    int64_t last) {
    reader.check_range(first, last);
    const Slots slots = reader.slots();
    std::vector<int64_t> starts{0};
    std::vector<int32_t> found;
    starts.reserve(static_cast<size_t>(last - first) + 1);
    reader.for_each_position(first, last, [&](int64_t t, int64_t begin, int64_t end) {
        for_each_id(slots, t, begin, end, [&found](int32_t id, float) { found.push_back(id); });
        starts.push_back(static_cast<int64_t>(found.size()));
    });
    return {to_array(std::move(starts)), to_array(std::move(found))};
}

Array<float, 1> weights(const AttributeReader& reader, int64_t first, int64_t last) {
    reader.check_range(first, last);
    const Slots slots = reader.slots();
    std::vector<float> found;
    reader.for_each_position(first, last, [&](int64_t t, int64_t begin, int64_t end) {
        for_each_id(slots, t, begin, end, [&found](int32_t, float weight) { found.push_back(weight); });
    });
    return to_array(std::move(found));
}

Array<bool, 2> missing(const AttributeReader& reader, int64_t first, int64_t last) {
    reader.check_range(first, last);
    const Slots slots = reader.slots();
    const Output<bool, 2> mask({static_cast<size_t>(last - first), static_cast<size_t>(slots.size)});
    bool* to = mask.data();
    reader.for_each_position(first, last, [&](int64_t t, int64_t begin, int64_t end) {
        for (int64_t s = 0; s < slots.size; ++s) *to++ = is_missing(slots[s], t, begin, end);
    });
    return mask.array();
}

void check_conjunctions(const Input<int64_t, 1>& starts, const Input<int32_t, 1>& members) {
    const int64_t* s = starts.data();
    const auto n = static_cast<int64_t>(starts.shape(0)) - 1;
    require(n >= 0 && n < std::numeric_limits<int32_t>::max() && s[0] == 0, "starts begin with 0");
    for (int64_t c = 0; c < n; ++c) require(s[c] < s[c + 1], "a conjunction has members");
    require(s[n] == static_cast<int64_t>(members.shape(0)), "starts end at the number of members");
    const int32_t* m = members.data();
    for (int64_t c = 0; c < n; ++c)
        for (int64_t i = s[c]; i < s[c + 1]; ++i)
            require(m[i] >= 0 && (i == s[c] || m[i - 1] < m[i]), "the members of a conjunction rise");
}

}  // namespace

void register_attributes(nb::module_& m) {
    nb::class_<Conjunctions>(m, "Conjunctions", "Sets of attributes that a position shows together.")
        .def(
            "__init__",
            [](Conjunctions* self, const Input<int64_t, 1>& starts, const Input<int32_t, 1>& members) {
                check_conjunctions(starts, members);
                new (self) Conjunctions(starts.data(), members.data(), starts.shape(0) - 1);
            },
            nb::arg("starts").noconvert(), nb::arg("members").noconvert(),
            "Conjunction c has the attributes members[starts[c]:starts[c + 1]], rising.");
    nb::class_<AttributeReader>(m, "AttributeReader",
                                "Columns read through a window; every array is checked when it is added.")
        .def(nb::init<Input<int64_t, 1>, Input<int64_t, 1>>(), nb::arg("starts").noconvert(),
             nb::arg("offsets").noconvert(),
             "Sequences from their starts and the end, and the offsets of the window.")
        .def("add_categorical", &AttributeReader::add_categorical, nb::arg("codes").noconvert(),
             nb::arg("n_values"), nb::arg("local") = false,
             "One code for each position; negative where missing (-1) or absent (-2). A local column is read "
             "at "
             "the position itself alone.")
        .def("add_bins", &AttributeReader::add_bins, nb::arg("bins").noconvert(), nb::arg("n_bins"),
             nb::arg("local") = false, "One bin for each position, 255 where missing.")
        .def("add_numbers", &AttributeReader::add_numbers, nb::arg("numbers").noconvert(),
             nb::arg("local") = false,
             "One number for each position, the weight of the column's one attribute; NaN where missing.")
        .def("add_bag", &AttributeReader::add_bag, nb::arg("starts").noconvert(), nb::arg("ids").noconvert(),
             nb::arg("weights").noconvert().none(), nb::arg("n_values"),
             "Where each position begins in ids and the end; ids, -1 alone where missing; a weight for each "
             "or None.")
        .def("add_conjunctions", &AttributeReader::add_conjunctions, nb::arg("conjunctions"),
             "An attribute for each conjunction of attributes of the columns, which were all added before.")
        .def_prop_ro("n_ids", &AttributeReader::n_ids, "How many attribute ids there are.")
        .def_prop_ro("n_positions", &AttributeReader::n_positions, "How many positions there are.")
        .def("ids", &ids, nb::arg("first"), nb::arg("last"),
             "(starts, ids) of the positions first..last: the ids of the i-th are ids[starts[i]:starts[i + "
             "1]].")
        .def("weights", &weights, nb::arg("first"), nb::arg("last"),
             "The weight of each id that `ids` gives.")
        .def("missing", &missing, nb::arg("first"), nb::arg("last"),
             "Whether each slot (columns, then offsets) reads a missing value at each position.");
}

}  // namespace hedgerow
