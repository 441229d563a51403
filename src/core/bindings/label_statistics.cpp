// Label statistics: checks arguments, works without the GIL.
#include "data/label_statistics.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"

namespace hedgerow {
namespace {

void check_codes(const Input<std::int32_t, 1>& codes, std::int64_t size, std::int64_t n, const char* rule) {
    require(static_cast<std::int64_t>(codes.shape(0)) == size, rule);
    for (std::int64_t i = 0; i < size; ++i) require(codes.data()[i] >= 0 && codes.data()[i] < n, rule);
}

constexpr char kLabelRule[] = "labels must hold a label for every position";
constexpr char kFoldRule[] = "folds must hold a fold for every position";

std::tuple<Array<std::int64_t, 1>, Array<std::int32_t, 1>, Array<double, 1>> count(
    const AttributeReader& reader, const Input<std::int32_t, 1>& labels, std::int64_t n_labels,
    const Input<std::int32_t, 1>& folds, std::int64_t n_folds, std::optional<Input<double, 1>> weights) {
    const AttributeView attributes = reader.view();
    const std::int64_t n = attributes.n_positions();
    require(n < std::numeric_limits<std::int32_t>::max(), "statistics take fewer than 2^31 positions");
    require(n_labels >= 1 && n_folds >= 1, "there must be at least one label and one fold");
    check_codes(labels, n, n_labels, kLabelRule);
    check_codes(folds, n, n_folds, kFoldRule);
    require(!weights || static_cast<std::int64_t>(weights->shape(0)) == n,
            "weights must hold a number for every position");
    LabelCounts counted;
    {
        const nb::gil_scoped_release release;
        counted = count_labels(attributes, labels.data(), n_labels, folds.data(), n_folds,
                               weights ? weights->data() : nullptr);
    }
    return {to_array(std::move(counted.starts)), to_array(std::move(counted.labels)),
            to_array(std::move(counted.counts))};
}

Array<float, 3> log_ratios(const AttributeReader& reader, const Input<std::int64_t, 1>& starts,
                           const Input<std::int32_t, 1>& labels, const Input<double, 1>& counts,
                           const Input<double, 1>& prior, double smoothing,
                           const Input<std::int32_t, 1>& families, std::int64_t n_families,
                           std::optional<Input<double, 1>> fold_counts,
                           std::optional<Input<std::int32_t, 1>> folds, std::int64_t n_folds,
                           std::int64_t n_threads) {
    const AttributeView attributes = reader.view();
    const auto n_entries = static_cast<std::int64_t>(labels.shape(0));
    const auto n_labels = static_cast<std::int64_t>(prior.shape(0));
    require(static_cast<std::int64_t>(starts.shape(0)) == attributes.n_ids + 1 && starts.data()[0] == 0 &&
                starts.data()[attributes.n_ids] == n_entries,
            "starts must go from 0 to the number of entries, one for each attribute");
    for (std::int64_t v = 0; v < attributes.n_ids; ++v)
        require(starts.data()[v] <= starts.data()[v + 1], "starts must not fall");
    check_codes(labels, n_entries, n_labels, "the label of an entry must be below the number of labels");
    require(static_cast<std::int64_t>(counts.shape(0)) == n_entries, "every entry must have a count");
    for (std::int64_t y = 0; y < n_labels; ++y)
        require(prior.data()[y] > 0 && prior.data()[y] <= 1, "the prior must lie above 0");
    require(std::isfinite(smoothing) && smoothing > 0, "smoothing must be a number above 0");
    require(n_families >= 1 && n_threads >= 1, "there must be at least one family and one thread");
    check_codes(families, attributes.slots.size, n_families, "families must hold a family for every slot");
    require(folds.has_value() == fold_counts.has_value(), "folds and their counts go together");
    LabelStatistics statistics{starts.data(), labels.data(), counts.data(),   n_labels,
                               prior.data(),  smoothing,     families.data(), n_families};
    if (folds) {
        require(n_folds >= 1 && static_cast<std::int64_t>(fold_counts->shape(0)) == n_entries * n_folds,
                "every entry must have a count for every fold");
        check_codes(*folds, attributes.n_positions(), n_folds, kFoldRule);
        statistics.fold_counts = fold_counts->data();
        statistics.folds = folds->data();
        statistics.n_folds = n_folds;
    }
    const Output<float, 3> ratios({static_cast<std::size_t>(n_families),
                                   static_cast<std::size_t>(n_labels) + 1,
                                   static_cast<std::size_t>(attributes.n_positions())});
    {
        const nb::gil_scoped_release release;
        sum_log_ratios(attributes, statistics, ratios.data(), n_threads);
    }
    return ratios.array();
}

}  // namespace

void register_label_statistics(nb::module_& m) {
    m.def("count_labels", &count, nb::arg("reader"), nb::arg("labels").noconvert(), nb::arg("n_labels"),
          nb::arg("folds").noconvert(), nb::arg("n_folds"), nb::arg("weights").noconvert().none(),
          "Count labels by attribute and fold; return (starts, labels, counts).\n\n"
          "Attribute v occurs with labels[starts[v]:starts[v + 1]]; counts holds n_folds numbers for each "
          "of these entries.");
    m.def("label_log_ratios", &log_ratios, nb::arg("reader"), nb::arg("starts").noconvert(),
          nb::arg("labels").noconvert(), nb::arg("counts").noconvert(), nb::arg("prior").noconvert(),
          nb::arg("smoothing"), nb::arg("families").noconvert(), nb::arg("n_families"),
          nb::arg("fold_counts").noconvert().none(), nb::arg("folds").noconvert().none(), nb::arg("n_folds"),
          nb::arg("n_threads"),
          "Return (families, labels + 1, positions): sums of log P(label | attribute) / P(label) over the\n"
          "attributes of each family, then of log(1 + count of the attribute).\n\n"
          "With fold_counts and folds, the counts of a position's own fold are left out.");
}

}  // namespace hedgerow
