// Linear scores of what a AttributeReader reads, their gradient, and the quasi-Newton steps along it.
#include "linear/linear.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/linear_features.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kTile = 512;          // positions that a thread scores at a time
constexpr std::int64_t kOccurrences = 4096;  // occurrences that a thread sums at a time

// (starts, outputs) of the features that occur at least min_count times with the given outputs; or, for all,
// those of the attributes that occur so often, with every output. A negative output is not counted.
std::pair<Array<std::int64_t, 1>, Array<std::int32_t, 1>> observed(const AttributeReader& reader,
                                                                   const Input<std::int32_t, 1>& given,
                                                                   std::int32_t width, std::int64_t min_count,
                                                                   bool all) {
    require(static_cast<std::int64_t>(given.shape(0)) == reader.n_positions(), "an output for each position");
    for (std::size_t t = 0; t < given.shape(0); ++t)
        require(given.data()[t] < width, "outputs below the width");
    const Slots slots = reader.slots();
    const auto n_ids = static_cast<std::size_t>(reader.n_ids());
    std::vector<std::int64_t> first(n_ids + 1, 0);
    const auto each = [&](auto visit) {
        reader.for_each_position(0, reader.n_positions(),
                                 [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
                                     if (given.data()[t] < 0) return;
                                     for_each_id(slots, t, begin, end,
                                                 [&](std::int32_t id, float) { visit(id, given.data()[t]); });
                                 });
    };
    each([&](std::int32_t id, std::int32_t) { ++first[static_cast<std::size_t>(id) + 1]; });
    for (std::size_t i = 0; i < n_ids; ++i) first[i + 1] += first[i];
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> outputs;
    starts.reserve(n_ids + 1);
    if (all) {
        for (std::size_t i = 0; i < n_ids; ++i) {
            if (first[i + 1] - first[i] >= min_count && first[i + 1] > first[i])
                for (std::int32_t y = 0; y < width; ++y) outputs.push_back(y);
            starts.push_back(static_cast<std::int64_t>(outputs.size()));
        }
        return {to_array(std::move(starts)), to_array(std::move(outputs))};
    }
    std::vector<std::int32_t> found(static_cast<std::size_t>(first.back()));
    std::vector<std::int64_t> at(first.begin(), first.end() - 1);
    each([&](std::int32_t id, std::int32_t output) { found[at[id]++] = output; });
    for (std::size_t i = 0; i < n_ids; ++i) {
        std::sort(found.begin() + first[i], found.begin() + first[i + 1]);
        for (std::int64_t j = first[i], next; j < first[i + 1]; j = next) {
            for (next = j + 1; next < first[i + 1] && found[next] == found[j];) ++next;
            if (next - j >= min_count) outputs.push_back(found[j]);
        }
        starts.push_back(static_cast<std::int64_t>(outputs.size()));
    }
    return {to_array(std::move(starts)), to_array(std::move(outputs))};
}

// Weights laid out for scoring.
class LinearScorer {
  public:
    LinearScorer(const LinearFeatures& features, const Input<float, 1>& weights)
        : features_(features), scorer_(checked(features, weights), weights.data()) {}

    // scores (positions first..last, width) <- what the attributes say; positions with fewer than `skip`
    // before them in their sequence get 0.
    void score(const AttributeReader& reader, std::int64_t first, std::int64_t last, std::int64_t skip,
               InOut<float, 2> scores, std::int64_t n_threads) const {
        features_.check(reader);
        reader.check_range(first, last);
        const std::int64_t width = features_.features().width;
        require(static_cast<std::int64_t>(scores.shape(0)) == last - first &&
                    static_cast<std::int64_t>(scores.shape(1)) == width,
                "scores are (positions, outputs)");
        const Slots slots = reader.slots();
        float* to = scores.data();
        const nb::gil_scoped_release release;
        parallel_for((last - first + kTile - 1) / kTile, n_threads, [&] {
            return [&](std::int64_t c) {
                const std::int64_t from = first + c * kTile, until = std::min(last, from + kTile);
                scorer_.score(slots, skip, to + (from - first) * width,
                              [&](auto visit) { reader.for_each_position(from, until, visit); });
            };
        });
    }

  private:
    static Features checked(const LinearFeatures& features, const Input<float, 1>& weights) {
        require(static_cast<std::int64_t>(weights.shape(0)) == features.features().n(),
                "a weight for each feature");
        return features.features();
    }
    LinearFeatures features_;
    Scorer scorer_;
};

// Where the attributes of positions first..last occur.
class LinearPostings {
  public:
    LinearPostings(const AttributeReader& reader, const LinearFeatures& features, std::int64_t first,
                   std::int64_t last, std::int64_t skip)
        : features_(features),
          n_positions_(last - first),
          postings_(made(reader, features, first, last, skip)) {
        for (std::int64_t i = 0; i < postings_.n_ids(); ++i) {
            if (cuts_.empty() || postings_.first_of(i) - postings_.first_of(cuts_.back()) >= kOccurrences)
                cuts_.push_back(i);
        }
        cuts_.push_back(postings_.n_ids());
    }

    void add_gradient(const Input<float, 2>& residuals, InOut<double, 1> gradient,
                      std::int64_t n_threads) const {
        const Features features = features_.features();
        require(static_cast<std::int64_t>(residuals.shape(0)) == n_positions_ &&
                    static_cast<std::int64_t>(residuals.shape(1)) == features.width &&
                    static_cast<std::int64_t>(gradient.shape(0)) == features.n(),
                "residuals are (positions, outputs), the gradient has a number for each feature");
        const float* from = residuals.data();
        double* to = gradient.data();
        const nb::gil_scoped_release release;
        parallel_for(static_cast<std::int64_t>(cuts_.size()) - 1, n_threads, [&] {
            return [&, row = std::vector<float>(static_cast<std::size_t>(features.width))](
                       std::int64_t c) mutable {
                for (std::int64_t i = cuts_[c]; i < cuts_[c + 1]; ++i)
                    postings_.add(i, features, from, row.data(), to);
            };
        });
    }

  private:
    static Postings made(const AttributeReader& reader, const LinearFeatures& features, std::int64_t first,
                         std::int64_t last, std::int64_t skip) {
        features.check(reader);
        reader.check_range(first, last);
        require(last - first < (std::int64_t{1} << 31), "a block has fewer than 2^31 positions");
        const nb::gil_scoped_release release;
        return Postings(reader.slots(), features.features(), first, skip,
                        [&](auto visit) { reader.for_each_position(first, last, visit); });
    }
    LinearFeatures features_;
    std::int64_t n_positions_;
    Postings postings_;
    std::vector<std::int64_t> cuts_;
};

}  // namespace

void register_linear(nb::module_& m) {
    nb::class_<LinearFeatures>(m, "LinearFeatures", "Which outputs each attribute speaks of.")
        .def(nb::init<Input<std::int64_t, 1>, Input<std::int32_t, 1>, std::int64_t>(),
             nb::arg("starts").noconvert(), nb::arg("outputs").noconvert(), nb::arg("width"),
             "Feature f of attribute i, starts[i] <= f < starts[i + 1], speaks of outputs[f] < width.");
    m.def(
        "observed_features", &observed, nb::arg("reader"), nb::arg("outputs").noconvert(), nb::arg("width"),
        nb::arg("min_count"), nb::arg("all"),
        "(starts, outputs) of the pairs of attribute and output that occur at least min_count times; or, for "
        "all, every pair of an attribute that does.");
    nb::class_<LinearScorer>(m, "LinearScorer", "Weights of features, laid out for scoring.")
        .def(nb::init<const LinearFeatures&, const Input<float, 1>&>(), nb::arg("features"),
             nb::arg("weights").noconvert())
        .def("score", &LinearScorer::score, nb::arg("reader"), nb::arg("first"), nb::arg("last"),
             nb::arg("skip"), nb::arg("scores").noconvert(), nb::arg("n_threads"),
             "Fills scores (positions first..last, width): 0 where fewer than `skip` positions come before.");
    nb::class_<LinearPostings>(m, "LinearPostings", "Where the attributes of some positions occur.")
        .def(nb::init<const AttributeReader&, const LinearFeatures&, std::int64_t, std::int64_t,
                      std::int64_t>(),
             nb::arg("reader"), nb::arg("features"), nb::arg("first"), nb::arg("last"), nb::arg("skip"))
        .def("add_gradient", &LinearPostings::add_gradient, nb::arg("residuals").noconvert(),
             nb::arg("gradient").noconvert(), nb::arg("n_threads"),
             "Adds the sums of residuals (positions, width), times values, to the gradient.");
}

}  // namespace hedgerow
