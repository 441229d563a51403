// The attributes of positions, read through a window.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/attribute_reader.hpp"
#include "data/binning.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

std::pair<Array<int64_t, 1>, Array<int32_t, 1>> ids(const AttributeReader& reader, int64_t first,
                                                    int64_t last) {
    reader.check_range(first, last);
    const AttributeView attributes = reader.view();
    std::vector<int64_t> starts{0};
    std::vector<int32_t> found;
    starts.reserve(static_cast<size_t>(last - first) + 1);
    attributes.for_each_position(first, last, [&](int64_t t, int64_t begin, int64_t end) {
        for_each_id(attributes.slots, t, begin, end, [&found](int32_t id, float) { found.push_back(id); });
        starts.push_back(static_cast<int64_t>(found.size()));
    });
    return {to_array(std::move(starts)), to_array(std::move(found))};
}

Array<float, 1> weights(const AttributeReader& reader, int64_t first, int64_t last) {
    reader.check_range(first, last);
    const AttributeView attributes = reader.view();
    std::vector<float> found;
    attributes.for_each_position(first, last, [&](int64_t t, int64_t begin, int64_t end) {
        for_each_id(attributes.slots, t, begin, end,
                    [&found](int32_t, float weight) { found.push_back(weight); });
    });
    return to_array(std::move(found));
}

Array<bool, 2> missing(const AttributeReader& reader, int64_t first, int64_t last) {
    reader.check_range(first, last);
    const AttributeView attributes = reader.view();
    const Output<bool, 2> mask(
        {static_cast<size_t>(last - first), static_cast<size_t>(attributes.slots.size)});
    bool* to = mask.data();
    attributes.for_each_position(first, last, [&](int64_t t, int64_t begin, int64_t end) {
        for (int64_t s = 0; s < attributes.slots.size; ++s)
            *to++ = is_missing(attributes.slots[s], t, begin, end);
    });
    return mask.array();
}

void check_conjunctions(const Input<int64_t, 1>& starts, const Input<int32_t, 1>& members) {
    const int64_t* s = starts.data();
    const auto n = static_cast<int64_t>(starts.shape(0)) - 1;
    require(n >= 0 && n < std::numeric_limits<int32_t>::max() && s[0] == 0, "starts must begin with 0");
    for (int64_t c = 0; c < n; ++c) require(s[c] < s[c + 1], "a conjunction must have at least one member");
    require(s[n] == static_cast<int64_t>(members.shape(0)), "starts must end at the number of members");
    const int32_t* m = members.data();
    for (int64_t c = 0; c < n; ++c)
        for (int64_t i = s[c]; i < s[c + 1]; ++i)
            require(m[i] >= 0 && (i == s[c] || m[i - 1] < m[i]), "the members of a conjunction must rise");
}

using NumericColumns = std::vector<Input<float, 1>>;

std::vector<Array<float, 1>> edges_of(const NumericColumns& columns,
                                      const std::vector<std::int64_t>& max_bins, std::int64_t n_threads) {
    const auto n = static_cast<std::int64_t>(columns.size());
    require(n_threads >= 1, "there must be at least one thread");
    require(max_bins.size() == columns.size(), "every column must have a number of bins");
    for (const std::int64_t most : max_bins)
        require(most >= 1 && most <= kMostEdges + 1, "there must be 1 to 255 bins");
    std::vector<std::vector<float>> found(columns.size());
    {
        const nb::gil_scoped_release release;
        parallel_for(n, n_threads, [&] {
            return [&, finder = EdgeFinder()](std::int64_t j) mutable {
                found[j] = finder.find(columns[j].data(), static_cast<std::int64_t>(columns[j].shape(0)),
                                       max_bins[j]);
            };
        });
    }
    std::vector<Array<float, 1>> edges;
    for (std::vector<float>& of_column : found) edges.push_back(to_array(std::move(of_column)));
    return edges;
}

std::vector<Array<std::uint8_t, 1>> bins_of(const NumericColumns& columns, const NumericColumns& edges,
                                            std::int64_t n_threads) {
    require(n_threads >= 1, "there must be at least one thread");
    require(columns.size() == edges.size(), "every column must have edges");
    std::vector<Output<std::uint8_t, 1>> found;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        require(static_cast<std::int64_t>(edges[j].shape(0)) <= kMostEdges,
                "there must be at most 254 edges");
        found.emplace_back(std::array{columns[j].shape(0)});
    }
    {
        const nb::gil_scoped_release release;
        parallel_for(static_cast<std::int64_t>(columns.size()), n_threads, [&] {
            return [&](std::int64_t j) {
                find_bins(columns[j].data(), static_cast<std::int64_t>(columns[j].shape(0)), edges[j].data(),
                          static_cast<std::int64_t>(edges[j].shape(0)), found[j].data());
            };
        });
    }
    std::vector<Array<std::uint8_t, 1>> bins;
    for (const Output<std::uint8_t, 1>& of_column : found) bins.push_back(of_column.array());
    return bins;
}

void check_edges(const NumericColumns& edges) {
    for (const auto& of_column : edges) {
        require(static_cast<std::int64_t>(of_column.shape(0)) <= kMostEdges,
                "there must be at most 254 edges");
        const float* first = of_column.data();
        for (std::size_t i = 1; i < of_column.shape(0); ++i)
            require(first[i - 1] < first[i], "edges must rise");
    }
}

}  // namespace

void register_attributes(nb::module_& m) {
    m.def("bin_edges", &edges_of, nb::arg("columns"), nb::arg("max_bins"), nb::arg("n_threads"),
          "Return for each column the edges of its bins, at most max_bins of them, with about equal counts.");
    m.def(
        "find_bins", &bins_of, nb::arg("columns"), nb::arg("edges"), nb::arg("n_threads"),
        "Return for each value of each column how many of the rising edges are at or below it; 255 for NaN.");
    nb::class_<BinEdges>(m, "BinEdges", "The edges of the bins of many columns, checked once.")
        .def(
            "__init__",
            [](BinEdges* self, const NumericColumns& edges) {
                check_edges(edges);
                new (self) BinEdges();
                for (const auto& of_column : edges)
                    self->by_column.emplace_back(of_column.data(), of_column.data() + of_column.shape(0));
            },
            nb::arg("edges"), "edges: for each column at most 254 numbers, rising.");
    nb::class_<Conjunctions>(m, "Conjunctions", "Sets of attributes that a position must have together.")
        .def(
            "__init__",
            [](Conjunctions* self, const Input<int64_t, 1>& starts, const Input<int32_t, 1>& members) {
                check_conjunctions(starts, members);
                new (self) Conjunctions(starts.data(), members.data(), starts.shape(0) - 1);
            },
            nb::arg("starts").noconvert(), nb::arg("members").noconvert(),
            "Conjunction c has the attributes members[starts[c]:starts[c + 1]], rising.");
    nb::class_<AttributeReader>(m, "AttributeReader",
                                "Reads columns through a window; checks every array when it is added.")
        .def(nb::init<Input<int64_t, 1>, Input<int64_t, 1>>(), nb::arg("starts").noconvert(),
             nb::arg("offsets").noconvert(),
             "starts: where each sequence begins, and the end; offsets: of the window.")
        .def("add_categorical", &AttributeReader::add_categorical, nb::arg("codes").noconvert(),
             nb::arg("n_values"), nb::arg("local") = false,
             "Add a column with one code per position: -1 where missing, -2 where absent.\n\n"
             "A local column is read at offset 0 only.")
        .def("add_bins", &AttributeReader::add_bins, nb::arg("bins").noconvert(), nb::arg("n_bins"),
             nb::arg("local") = false, "Add a column with one bin per position, 255 where missing.")
        .def("add_rows", &AttributeReader::add_rows, nb::arg("numbers").noconvert(), nb::arg("edges"),
             nb::arg("n_threads"), "Add a local column of bins for each row of numbers (columns, positions).")
        .def("add_numbers", &AttributeReader::add_numbers, nb::arg("numbers").noconvert(),
             nb::arg("local") = false,
             "Add a column with one number per position, the weight of a single attribute; NaN where "
             "missing.")
        .def("add_bag", &AttributeReader::add_bag, nb::arg("starts").noconvert(), nb::arg("ids").noconvert(),
             nb::arg("weights").noconvert().none(), nb::arg("n_values"), nb::arg("local") = false,
             "Add a column of bags.\n\n"
             "starts: where the ids of each position begin, and the end; ids: a single -1 where missing;\n"
             "weights: one per id, or None if all weights are 1.")
        .def("add_conjunctions", &AttributeReader::add_conjunctions, nb::arg("conjunctions"),
             "Add one attribute per conjunction of attributes of the columns; no column may follow.")
        .def_prop_ro("n_ids", &AttributeReader::n_ids, "The number of attribute ids.")
        .def_prop_ro("n_positions", &AttributeReader::n_positions, "The number of positions.")
        .def("ids", &ids, nb::arg("first"), nb::arg("last"),
             "Return (starts, ids): position first + i has the attributes ids[starts[i]:starts[i + 1]].")
        .def("weights", &weights, nb::arg("first"), nb::arg("last"),
             "Return the weight of each id that ids(first, last) returns.")
        .def("missing", &missing, nb::arg("first"), nb::arg("last"),
             "Return a mask (positions, slots) of missing values; a slot is a column at an offset.");
}

}  // namespace hedgerow
