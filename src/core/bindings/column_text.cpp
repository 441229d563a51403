// Reads text files of columns and of items, and writes labels behind lines.
#include "data/column_text.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "data/item_text.hpp"

namespace hedgerow {
namespace {

using Values = std::tuple<Array<int32_t, 1>, Array<uint8_t, 1>, Array<int64_t, 1>>;
using Fault = std::tuple<std::string, int64_t, int64_t, int64_t>;
using Result = std::tuple<Array<int64_t, 1>, Array<int64_t, 1>, Array<int64_t, 1>, std::vector<Values>,
                          int64_t, std::optional<Fault>>;

Bytes view(const nb::bytes& text) {
    return {reinterpret_cast<const uint8_t*>(text.c_str()), static_cast<int64_t>(text.size())};
}

const char* name_of(TextFault::Kind kind) {
    switch (kind) {
        case TextFault::columns:
            return "columns";
        case TextFault::encoding:
            return "encoding";
        case TextFault::nul:
            return "nul";
        case TextFault::number:
            return "number";
        case TextFault::wide:
            return "wide";
        default:
            return "carriage return";
    }
}

Result read_columns(const nb::bytes& text, bool tabs, bool comments, bool documents, bool numbered,
                    int64_t absent_from, int64_t n_columns) {
    require(n_columns >= 0, "n_columns must not be negative");
    ColumnText read;
    std::vector<SortedStrings> sorted;
    {
        const nb::gil_scoped_release free;
        read = read_column_text(view(text), {tabs, comments, documents, numbered, absent_from, n_columns});
        if (read.fault.kind == TextFault::none) {
            for (TextColumn& column : read.columns) {
                sorted.push_back(column.values.sorted());
                for (int32_t& code : column.codes)
                    if (code >= 0) code = sorted.back().rank[static_cast<size_t>(code)];
            }
        }
    }
    std::vector<Values> columns;
    for (size_t c = 0; c < sorted.size(); ++c)
        columns.emplace_back(to_array(std::move(read.columns[c].codes)), to_array(std::move(sorted[c].blob)),
                             to_array(std::move(sorted[c].offsets)));
    std::optional<Fault> fault;
    if (read.fault.kind != TextFault::none)
        fault = Fault(name_of(read.fault.kind), read.fault.line, read.fault.column,
                      static_cast<int64_t>(read.columns.size()));
    return {to_array(std::move(read.starts)),
            to_array(std::move(read.lines)),
            to_array(std::move(read.ends)),
            std::move(columns),
            read.n_lines,
            fault};
}

using Bags = std::tuple<Array<int64_t, 1>, Array<int32_t, 1>, std::optional<Array<float, 1>>,
                        Array<uint8_t, 1>, Array<int64_t, 1>>;
using ItemResult = std::tuple<Array<int64_t, 1>, Array<int64_t, 1>, Values, Bags, Array<double, 1>, int64_t,
                              std::optional<Fault>>;

ItemResult read_items(const nb::bytes& text, bool labelled) {
    ItemText read;
    SortedStrings labels, attributes;
    Items items;
    {
        const nb::gil_scoped_release free;
        read = read_item_text(view(text), labelled);
        labels = read.label_values.sorted();
        attributes = read.attribute_values.sorted();
        if (read.fault.kind == TextFault::none) items = sort_items(read, attributes.rank);
        for (int32_t& label : read.labels) label = labels.rank[static_cast<size_t>(label)];
    }
    std::optional<Array<float, 1>> weights;
    if (items.weighted) weights = to_array(std::move(items.weights));
    std::optional<Fault> fault;
    if (read.fault.kind != TextFault::none)
        fault = Fault(name_of(read.fault.kind), read.fault.line, read.fault.column, 0);
    return {to_array(std::move(read.starts)),
            to_array(std::move(read.lines)),
            Values(to_array(std::move(read.labels)), to_array(std::move(labels.blob)),
                   to_array(std::move(labels.offsets))),
            Bags(to_array(std::move(items.starts)), to_array(std::move(items.ids)), weights,
                 to_array(std::move(attributes.blob)), to_array(std::move(attributes.offsets))),
            to_array(std::move(read.sequence_weights)),
            read.n_lines,
            fault};
}

nb::bytes with_labels(const nb::bytes& text, const Input<int64_t, 1>& ends, const nb::bytes& separator,
                      const Input<uint8_t, 1>& blob, const Input<int64_t, 1>& offsets,
                      const Input<int32_t, 1>& codes) {
    const auto n = static_cast<int64_t>(ends.shape(0)), n_labels = static_cast<int64_t>(offsets.shape(0)) - 1;
    require(static_cast<int64_t>(codes.shape(0)) == n, "there must be one code for each end");
    require(n_labels >= 0 && offsets.data()[0] == 0, "offsets must begin with 0");
    for (int64_t i = 0; i < n_labels; ++i)
        require(offsets.data()[i] <= offsets.data()[i + 1], "offsets must not fall");
    require(offsets.data()[n_labels] == static_cast<int64_t>(blob.shape(0)),
            "offsets must end with the blob");
    int64_t before = 0;
    for (int64_t t = 0; t < n; ++t) {
        require(before <= ends.data()[t] && ends.data()[t] <= view(text).size,
                "ends must rise within the text");
        require(codes.data()[t] >= 0 && codes.data()[t] < n_labels, "codes must be those of labels");
        before = ends.data()[t];
    }
    const std::vector<uint8_t> result = append_labels(view(text), ends.data(), n, view(separator),
                                                      {blob.data(), offsets.data(), n_labels}, codes.data());
    return nb::bytes(reinterpret_cast<const char*>(result.data()), result.size());
}

}  // namespace

void register_column_text(nb::module_& m) {
    m.def("read_columns", &read_columns, nb::arg("text"), nb::arg("tabs"), nb::arg("comments"),
          nb::arg("documents"), nb::arg("numbered"), nb::arg("absent_from"), nb::arg("n_columns"),
          "Return (starts, lines, ends, columns, number of lines, fault) of a text of columns.\n\n"
          "A column is (codes, blob, offsets). A fault is (kind, line, column), with kind 'columns', "
          "'encoding',\n"
          "kind 'columns', 'encoding', 'nul' or 'carriage return'; for 'columns', `column` is the number "
          "found.");
    m.def("read_items", &read_items, nb::arg("text"), nb::arg("labelled"),
          "Return (starts, lines, labels, bags, sequence weights, number of lines, fault) of CRFsuite's "
          "format.\n\n"
          "Labels are (codes, blob, offsets), bags (starts, ids, weights or None, blob, offsets). A fault is "
          "as in\n"
          "read_columns, or of kind 'number'.");
    m.def(
        "has_tabs", [](const nb::bytes& text) { return has_tabs(view(text)); }, nb::arg("text"),
        "Whether the first line that cannot be a comment holds a tab.");
    m.def(
        "end_of_sequences",
        [](const Input<uint8_t, 1>& text, int64_t begin) {
            const auto size = static_cast<int64_t>(text.shape(0));
            require(0 <= begin && begin <= size, "begin must lie in the text");
            return end_of_sequences({text.data(), size}, begin);
        },
        nb::arg("text"), nb::arg("begin"),
        "Return the offset behind the last blank line that begins at or after `begin`, -1 without one.");
    m.def("with_labels", &with_labels, nb::arg("text"), nb::arg("ends"), nb::arg("separator"),
          nb::arg("blob"), nb::arg("offsets"), nb::arg("codes"),
          "Return the text with separator and label inserted at each end.");
}

}  // namespace hedgerow
