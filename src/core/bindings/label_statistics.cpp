// Label statistics: checks arguments, works without the GIL.
#include "data/label_statistics.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <cstdint>
#include <memory>
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
    const Input<std::int32_t, 1>& folds, std::int64_t n_folds, std::optional<Input<double, 1>> weights,
    std::int64_t n_threads) {
    const AttributeView attributes = reader.view();
    const std::int64_t n = attributes.n_positions();
    require(n < std::numeric_limits<std::int32_t>::max(),
            "label statistics take fewer than 2^31 positions; fit on fewer sequences");
    require(n_labels >= 1 && n_folds >= 1, "there must be at least one label and one fold");
    check_codes(labels, n, n_labels, kLabelRule);
    check_codes(folds, n, n_folds, kFoldRule);
    require(!weights || static_cast<std::int64_t>(weights->shape(0)) == n,
            "weights must hold a number for every position");
    require(n_threads >= 1, "there must be at least one thread");
    LabelCounts counted;
    {
        const nb::gil_scoped_release release;
        counted = count_labels(attributes, labels.data(), n_labels, folds.data(), n_folds,
                               weights ? weights->data() : nullptr, n_threads);
    }
    return {to_array(std::move(counted.starts)), to_array(std::move(counted.labels)),
            to_array(std::move(counted.counts))};
}

// Statistics of arrays that are checked once, and kept.
class BoundLogRatios {
  public:
    BoundLogRatios(Input<std::int64_t, 1> starts, Input<std::int32_t, 1> labels, Input<double, 1> counts,
                   Input<double, 1> prior, double smoothing, Input<std::int32_t, 1> families,
                   std::int64_t n_families, std::optional<Input<double, 1>> fold_counts,
                   std::optional<Input<std::int32_t, 1>> folds, std::int64_t n_folds)
        : starts_(std::move(starts)),
          labels_(std::move(labels)),
          counts_(std::move(counts)),
          prior_(std::move(prior)),
          families_(std::move(families)),
          fold_counts_(std::move(fold_counts)),
          folds_(std::move(folds)),
          n_families_(n_families) {
        check(smoothing, n_folds);
        LabelStatistics statistics{starts_.data(), labels_.data(), counts_.data(),   size(prior_),
                                   prior_.data(),  smoothing,      families_.data(), n_families};
        if (folds_) {
            statistics.fold_counts = fold_counts_->data();
            statistics.folds = folds_->data();
            statistics.n_folds = n_folds;
        }
        ratios_ = std::make_unique<LogRatios>(statistics, size(starts_) - 1);
    }

    Array<float, 3> sum(const AttributeReader& reader, std::int64_t n_threads) {
        const AttributeView attributes = reader.view();
        require(
            attributes.n_ids == size(starts_) - 1 && attributes.slots.size == size(families_),
            "starts must go from 0 to the number of entries, one for each attribute, and families must hold "
            "a family for every slot");
        require(!folds_ || size(*folds_) == attributes.n_positions(), kFoldRule);
        require(n_threads >= 1, "there must be at least one thread");
        const Output<float, 3> sums({static_cast<std::size_t>(n_families_), prior_.shape(0) + 1,
                                     static_cast<std::size_t>(attributes.n_positions())});
        {
            const nb::gil_scoped_release release;
            ratios_->sum(attributes, sums.data(), n_threads);
        }
        return sums.array();
    }

  private:
    template <class Array1>
    static std::int64_t size(const Array1& array) {
        return static_cast<std::int64_t>(array.shape(0));
    }

    void check(double smoothing, std::int64_t n_folds) const {
        const std::int64_t n_ids = size(starts_) - 1, n_entries = size(labels_), n_labels = size(prior_);
        require(n_ids >= 0 && starts_.data()[0] == 0 && starts_.data()[n_ids] == n_entries,
                "starts must go from 0 to the number of entries, one for each attribute");
        for (std::int64_t v = 0; v < n_ids; ++v)
            require(starts_.data()[v] <= starts_.data()[v + 1], "starts must not fall");
        check_codes(labels_, n_entries, n_labels, "the label of an entry must be below the number of labels");
        require(size(counts_) == n_entries, "every entry must have a count");
        for (std::int64_t y = 0; y < n_labels; ++y)
            require(prior_.data()[y] > 0 && prior_.data()[y] <= 1, "the prior must lie above 0");
        require(std::isfinite(smoothing) && smoothing > 0, "smoothing must be a number above 0");
        require(n_families_ >= 1, "there must be at least one family");
        check_codes(families_, size(families_), n_families_, "families must hold a family for every slot");
        require(folds_.has_value() == fold_counts_.has_value(), "folds and their counts go together");
        if (!folds_) return;
        require(n_folds >= 1 && size(*fold_counts_) == n_entries * n_folds,
                "every entry must have a count for every fold");
        check_codes(*folds_, size(*folds_), n_folds, kFoldRule);
    }

    Input<std::int64_t, 1> starts_;
    Input<std::int32_t, 1> labels_;
    Input<double, 1> counts_, prior_;
    Input<std::int32_t, 1> families_;
    std::optional<Input<double, 1>> fold_counts_;
    std::optional<Input<std::int32_t, 1>> folds_;
    std::int64_t n_families_;
    std::unique_ptr<LogRatios> ratios_;
};

}  // namespace

void register_label_statistics(nb::module_& m) {
    m.def("count_labels", &count, nb::arg("reader"), nb::arg("labels").noconvert(), nb::arg("n_labels"),
          nb::arg("folds").noconvert(), nb::arg("n_folds"), nb::arg("weights").noconvert().none(),
          nb::arg("n_threads"),
          "Count labels by attribute and fold; return (starts, labels, counts).\n\n"
          "Attribute v occurs with labels[starts[v]:starts[v + 1]]; counts holds n_folds numbers for each "
          "of these entries.");
    nb::class_<BoundLogRatios>(m, "LogRatios", "Sums of log P(label | attribute) / P(label) over families.")
        .def(nb::init<Input<std::int64_t, 1>, Input<std::int32_t, 1>, Input<double, 1>, Input<double, 1>,
                      double, Input<std::int32_t, 1>, std::int64_t, std::optional<Input<double, 1>>,
                      std::optional<Input<std::int32_t, 1>>, std::int64_t>(),
             nb::arg("starts").noconvert(), nb::arg("labels").noconvert(), nb::arg("counts").noconvert(),
             nb::arg("prior").noconvert(), nb::arg("smoothing"), nb::arg("families").noconvert(),
             nb::arg("n_families"), nb::arg("fold_counts").noconvert() = nb::none(),
             nb::arg("folds").noconvert() = nb::none(), nb::arg("n_folds") = 0,
             "The arrays must not change. With fold_counts and folds, the counts of a position's own fold "
             "are\n"
             "left out.")
        .def("sum", &BoundLogRatios::sum, nb::arg("reader"), nb::arg("n_threads"),
             "Return (families, labels + 1, positions): sums over the attributes of each family, then those "
             "of\n"
             "log(1 + count of the attribute).");
}

}  // namespace hedgerow
