// Features, linear scores and their gradient: checks arguments, works without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <utility>

#include "bindings/linear_features.hpp"
#include "linear/double_scorer.hpp"
#include "linear/postings.hpp"
#include "linear/scorer.hpp"

namespace hedgerow {
namespace {

std::pair<Array<std::int64_t, 1>, Array<std::int32_t, 1>> select_features(
    const AttributeReader& reader, const Input<std::int32_t, 1>& outputs, std::int32_t width,
    std::int64_t min_count, bool all) {
    require(static_cast<std::int64_t>(outputs.shape(0)) == reader.n_positions(),
            "there must be one output per position");
    for (std::size_t t = 0; t < outputs.shape(0); ++t)
        require(outputs.data()[t] < width, "outputs must be below the width");
    FeatureLists features = all ? dense_features(reader.view(), outputs.data(), width, min_count)
                                : observed_features(reader.view(), outputs.data(), min_count);
    return {to_array(std::move(features.starts)), to_array(std::move(features.outputs))};
}

// Real: float for Scorer, double for DoubleScorer.
template <class Real, class Kernel>
class LinearScorer {
  public:
    LinearScorer(const LinearFeatures& features, const Input<Real, 1>& weights)
        : features_(features), scorer_(checked(features, weights), weights.data()) {}

    void score(const AttributeReader& reader, std::int64_t first, std::int64_t last, std::int64_t skip,
               InOut<Real, 2> scores, std::int64_t n_threads) const {
        features_.check(reader);
        reader.check_range(first, last);
        require(static_cast<std::int64_t>(scores.shape(0)) == last - first &&
                    static_cast<std::int64_t>(scores.shape(1)) == features_.features().width,
                "scores must be (positions, outputs)");
        Real* to = scores.data();
        const nb::gil_scoped_release release;
        scorer_.score(reader.view(), first, last, skip, to, n_threads);
    }

  private:
    static Features checked(const LinearFeatures& features, const Input<Real, 1>& weights) {
        require(static_cast<std::int64_t>(weights.shape(0)) == features.features().n(),
                "there must be one weight per feature");
        return features.features();
    }
    LinearFeatures features_;
    Kernel scorer_;
};

class LinearPostings {
  public:
    LinearPostings(const AttributeReader& reader, const LinearFeatures& features, std::int64_t first,
                   std::int64_t last, std::int64_t skip)
        : features_(features),
          n_positions_(last - first),
          postings_(build(reader, features, first, last, skip)) {}

    template <class Real>
    void add_gradient(const Input<Real, 2>& residuals, InOut<double, 1> gradient,
                      std::int64_t n_threads) const {
        const Features features = features_.features();
        require(static_cast<std::int64_t>(residuals.shape(0)) == n_positions_ &&
                    static_cast<std::int64_t>(residuals.shape(1)) == features.width &&
                    static_cast<std::int64_t>(gradient.shape(0)) == features.n(),
                "residuals must be (positions, outputs), and the gradient one number per feature");
        const Real* from = residuals.data();
        double* to = gradient.data();
        const nb::gil_scoped_release release;
        postings_.add_gradient(features, from, to, n_threads);
    }

  private:
    static Postings build(const AttributeReader& reader, const LinearFeatures& features, std::int64_t first,
                          std::int64_t last, std::int64_t skip) {
        features.check(reader);
        reader.check_range(first, last);
        require(last - first < (std::int64_t{1} << 31), "a block must have fewer than 2^31 positions");
        const nb::gil_scoped_release release;
        return {reader.view(), features.features(), first, last, skip};
    }
    LinearFeatures features_;
    std::int64_t n_positions_;
    Postings postings_;
};

template <class Real, class Kernel>
void register_scorer(nb::module_& m, const char* name, const char* doc) {
    using Bound = LinearScorer<Real, Kernel>;
    nb::class_<Bound>(m, name, doc)
        .def(nb::init<const LinearFeatures&, const Input<Real, 1>&>(), nb::arg("features"),
             nb::arg("weights").noconvert())
        .def("score", &Bound::score, nb::arg("reader"), nb::arg("first"), nb::arg("last"), nb::arg("skip"),
             nb::arg("scores").noconvert(), nb::arg("n_threads"),
             "Fill scores (positions first..last, width).\n\n"
             "A position with fewer than `skip` positions before it in its sequence gets 0.");
}

}  // namespace

void register_linear(nb::module_& m) {
    nb::class_<LinearFeatures>(m, "LinearFeatures", "The features (attribute, output) of a linear model.")
        .def(nb::init<Input<std::int64_t, 1>, Input<std::int32_t, 1>, std::int64_t>(),
             nb::arg("starts").noconvert(), nb::arg("outputs").noconvert(), nb::arg("width"),
             "Attribute i has the outputs outputs[starts[i]:starts[i + 1]], rising and below width.");
    m.def("observed_features", &select_features, nb::arg("reader"), nb::arg("outputs").noconvert(),
          nb::arg("width"), nb::arg("min_count"), nb::arg("all"),
          "Return (starts, outputs) of the pairs of attribute and output that occur at least min_count "
          "times.\n\n"
          "With all=True: every output for each attribute that occurs at least min_count times.");
    register_scorer<float, Scorer>(m, "LinearScorer", "The weights of features, laid out for scoring.");
    register_scorer<double, DoubleScorer>(m, "LinearScorer64", "The same in double precision; slower.");
    nb::class_<LinearPostings>(m, "LinearPostings", "Where the attributes of positions first..last occur.")
        .def(nb::init<const AttributeReader&, const LinearFeatures&, std::int64_t, std::int64_t,
                      std::int64_t>(),
             nb::arg("reader"), nb::arg("features"), nb::arg("first"), nb::arg("last"), nb::arg("skip"))
        .def("add_gradient", &LinearPostings::add_gradient<double>, nb::arg("residuals").noconvert(),
             nb::arg("gradient").noconvert(), nb::arg("n_threads"))
        .def("add_gradient", &LinearPostings::add_gradient<float>, nb::arg("residuals").noconvert(),
             nb::arg("gradient").noconvert(), nb::arg("n_threads"),
             "Add the sum of value * residual over the occurrences of each feature to the gradient.\n\n"
             "residuals: (positions first..last, width).");
}

}  // namespace hedgerow
