// Features, linear scores and their gradient: checks arguments, works without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/linear_features.hpp"
#include "linear/double_scorer.hpp"
#include "linear/postings.hpp"
#include "linear/residuals.hpp"
#include "linear/scorer.hpp"

namespace hedgerow {
namespace {

constexpr double kLargestFactor = 1 << 25;

nb::tuple count_features_of(const AttributeReader& reader, std::int64_t first, std::int64_t last,
                            const Input<std::int32_t, 1>& outputs, std::int64_t width) {
    reader.check_range(first, last);
    require(width >= 1 && width < (std::int64_t{1} << 31), "the width must be at least 1");
    require(static_cast<std::int64_t>(outputs.shape(0)) == last - first,
            "there must be one output per position");
    for (std::size_t t = 0; t < outputs.shape(0); ++t)
        require(outputs.data()[t] < width, "outputs must be below the width");
    FeatureCounts found = [&] {
        const nb::gil_scoped_release release;
        return count_features(reader.view(), first, last, outputs.data(), width);
    }();
    return nb::make_tuple(to_array(std::move(found.starts)), to_array(std::move(found.outputs)),
                          to_array(std::move(found.counts)));
}

Array<float, 1> largest_values_of(const AttributeReader& reader) {
    std::vector<float> found = [&] {
        const nb::gil_scoped_release release;
        return largest_values(reader.view());
    }();
    return to_array(std::move(found));
}

void whole_residuals_of(const Input<float, 2>& probabilities, const Input<std::int32_t, 1>& gold,
                        const Input<std::int64_t, 1>& starts, const Input<double, 1>& factors,
                        InOut<std::int32_t, 2> residuals, std::int64_t n_threads) {
    const auto n = static_cast<std::int64_t>(probabilities.shape(0));
    const auto width = static_cast<std::int64_t>(probabilities.shape(1));
    const auto n_sequences = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(static_cast<std::int64_t>(gold.shape(0)) == n &&
                static_cast<std::int64_t>(residuals.shape(0)) == n &&
                static_cast<std::int64_t>(residuals.shape(1)) == width,
            "there must be one gold output per position, and one residual per probability");
    require(n_sequences >= 0 && static_cast<std::int64_t>(factors.shape(0)) == n_sequences &&
                starts.data()[0] == 0 && starts.data()[n_sequences] == n,
            "starts must divide the positions among the sequences, which have one factor each");
    for (std::int64_t i = 0; i < n_sequences; ++i)
        require(starts.data()[i] <= starts.data()[i + 1] && factors.data()[i] >= 0 &&
                    factors.data()[i] <= kLargestFactor,
                "starts must not fall, and factors must lie between 0 and 2^25");
    for (std::int64_t t = 0; t < n; ++t)
        require(gold.data()[t] < width, "gold outputs must be below the width");
    const OutputAnswers answers{probabilities.data(), gold.data(), width, starts.data(), n_sequences};
    std::int32_t* to = residuals.data();
    const nb::gil_scoped_release release;
    whole_residuals(answers, factors.data(), to, n_threads);
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
                   std::int64_t last, std::int64_t skip, const std::optional<Input<float, 1>>& largest)
        : features_(features),
          n_positions_(last - first),
          postings_(build(reader, features, first, last, skip, largest)) {}

    void add_gradient(const Input<double, 2>& residuals, InOut<double, 1> gradient,
                      std::int64_t n_threads) const {
        const Features features = checked(residuals, gradient);
        const double* from = residuals.data();
        double* to = gradient.data();
        const nb::gil_scoped_release release;
        postings_.add_gradient(features, from, to, n_threads);
    }

    void add_whole_gradient(const Input<std::int32_t, 2>& residuals, double unit, double value_unit,
                            InOut<double, 1> gradient, std::int64_t n_threads) const {
        const Features features = checked(residuals, gradient);
        const WholeResiduals whole{residuals.data(), unit, value_unit};
        double* to = gradient.data();
        const nb::gil_scoped_release release;
        postings_.add_gradient(features, whole, to, n_threads);
    }

    std::int64_t n_bytes() const { return postings_.n_bytes(); }

  private:
    template <class Number>
    Features checked(const Input<Number, 2>& residuals, const InOut<double, 1>& gradient) const {
        const Features features = features_.features();
        require(static_cast<std::int64_t>(residuals.shape(0)) == n_positions_ &&
                    static_cast<std::int64_t>(residuals.shape(1)) == features.width &&
                    static_cast<std::int64_t>(gradient.shape(0)) == features.n(),
                "residuals must be (positions, outputs), and the gradient one number per feature");
        return features;
    }
    static Postings build(const AttributeReader& reader, const LinearFeatures& features, std::int64_t first,
                          std::int64_t last, std::int64_t skip,
                          const std::optional<Input<float, 1>>& largest) {
        features.check(reader);
        reader.check_range(first, last);
        require(last - first < (std::int64_t{1} << 31), "a block must have fewer than 2^31 positions");
        require(!largest || static_cast<std::int64_t>(largest->shape(0)) == reader.n_ids(),
                "there must be one largest value per attribute");
        const nb::gil_scoped_release release;
        return {reader.view(), features.features(), first, last, skip, largest ? largest->data() : nullptr};
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
    m.def("count_features", &count_features_of, nb::arg("reader"), nb::arg("first"), nb::arg("last"),
          nb::arg("outputs").noconvert(), nb::arg("width"),
          "Return (starts, outputs, counts): how often each attribute occurs with each output.\n\n"
          "Of the positions first..last; a position with a negative output is not counted.");
    m.def("largest_values", &largest_values_of, nb::arg("reader"),
          "Return the largest absolute value of each attribute, 0 if the attribute does not occur.");
    m.def("whole_residuals", &whole_residuals_of, nb::arg("probabilities").noconvert(),
          nb::arg("gold").noconvert(), nb::arg("starts").noconvert(), nb::arg("factors").noconvert(),
          nb::arg("residuals").noconvert(), nb::arg("n_threads"),
          "Fill residuals with factor * (probability - 1 for the gold output), rounded to whole numbers.\n\n"
          "factors: one for each sequence, at most 2^25. A position with a negative output has no gold.");
    register_scorer<float, Scorer>(m, "LinearScorer", "The weights of features, laid out for scoring.");
    register_scorer<double, DoubleScorer>(m, "LinearScorer64", "The same in double precision; slower.");
    nb::class_<LinearPostings>(m, "LinearPostings", "Where the attributes of positions first..last occur.")
        .def(nb::init<const AttributeReader&, const LinearFeatures&, std::int64_t, std::int64_t, std::int64_t,
                      const std::optional<Input<float, 1>>&>(),
             nb::arg("reader"), nb::arg("features"), nb::arg("first"), nb::arg("last"), nb::arg("skip"),
             nb::arg("largest").noconvert().none() = nb::none(),
             "largest: by attribute, what no absolute value exceeds; None if all values are 1.")
        .def("add_gradient", &LinearPostings::add_gradient, nb::arg("residuals").noconvert(),
             nb::arg("gradient").noconvert(), nb::arg("n_threads"),
             "Add the sum of value * residual over the occurrences of each feature to the gradient.\n\n"
             "residuals: (positions first..last, width).")
        .def("add_whole_gradient", &LinearPostings::add_whole_gradient, nb::arg("residuals").noconvert(),
             nb::arg("unit"), nb::arg("value_unit"), nb::arg("gradient").noconvert(), nb::arg("n_threads"),
             "The same with residuals in whole multiples of a unit, and exact sums.\n\n"
             "A product with a value is rounded to a multiple of unit * value_unit * the power of two that "
             "is\n"
             "not below the largest value of the attribute.")
        .def_prop_ro("n_bytes", &LinearPostings::n_bytes, "The memory that the occurrences take.");
}

}  // namespace hedgerow
