// The softmax of each position on its own, for locally normalised models.
#include "util/softmax.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"

namespace hedgerow {
namespace {

using Feature = std::optional<Input<double, 1>>;

template <class Real>
PositionScores<Real> checked_scores(const Input<Real, 2>& scores, const Feature& eta, const Feature& q,
                                    std::int64_t n_threads) {
    require(scores.shape(1) >= 1, "there must be at least one label");
    require(eta.has_value() == q.has_value(), "eta and q must be given together");
    require(!eta || (eta->shape(0) == scores.shape(1) && q->shape(0) == scores.shape(0)),
            "eta must have one value per label, and q one value per position");
    require(n_threads >= 1, "n_threads must be at least 1");
    return {scores.data(), static_cast<std::int64_t>(scores.shape(0)),
            static_cast<std::int64_t>(scores.shape(1)), eta ? eta->data() : nullptr, q ? q->data() : nullptr};
}

template <class Real>
Array<double, 1> checked_log_gold(const Input<Real, 2>& scores, const Input<std::int32_t, 1>& codes,
                                  const Feature& eta, const Feature& q, std::int64_t n_threads) {
    const PositionScores<Real> checked = checked_scores(scores, eta, q, n_threads);
    require(codes.shape(0) == scores.shape(0), "there must be one code per position");
    for (std::size_t t = 0; t < codes.shape(0); ++t)
        require(codes.data()[t] < checked.n_labels, "codes must be below the number of labels");
    const Output<double, 1> out({scores.shape(0)});
    {
        const nb::gil_scoped_release release;
        log_gold(checked, codes.data(), out.data(), n_threads);
    }
    return out.array();
}

template <class Real>
Array<double, 2> checked_softmax(const Input<Real, 2>& scores, const Feature& eta, const Feature& q,
                                 std::int64_t n_threads) {
    const PositionScores<Real> checked = checked_scores(scores, eta, q, n_threads);
    const Output<double, 2> out({scores.shape(0), scores.shape(1)});
    {
        const nb::gil_scoped_release release;
        softmax(checked, out.data(), n_threads);
    }
    return out.array();
}

WeightedGold checked_gold(const PositionScores<double>& scores, const Input<std::int32_t, 1>& codes,
                          const Input<double, 1>& weights) {
    const auto n = static_cast<std::size_t>(scores.n_positions);
    require(scores.eta != nullptr, "eta and q are needed");
    require(codes.shape(0) == n && weights.shape(0) == n, "there must be one code and weight per position");
    for (std::size_t t = 0; t < n; ++t)
        require(weights.data()[t] == 0 || (codes.data()[t] >= 0 && codes.data()[t] < scores.n_labels),
                "codes must be labels where the weight is not 0");
    return {codes.data(), weights.data()};
}

std::pair<Array<double, 1>, Array<double, 1>> checked_direction_sums(const Input<double, 2>& scores,
                                                                     const Input<std::int32_t, 1>& codes,
                                                                     const Input<double, 1>& weights,
                                                                     const Feature& eta, const Feature& q,
                                                                     double unit, std::int64_t n_threads) {
    const PositionScores<double> checked = checked_scores(scores, eta, q, n_threads);
    const WeightedGold gold = checked_gold(checked, codes, weights);
    require(unit >= 0, "unit must be at least 0");
    const Output<double, 1> gradient({scores.shape(1)}), curvature({scores.shape(1)});
    {
        const nb::gil_scoped_release release;
        direction_sums(checked, gold, unit, gradient.data(), curvature.data(), n_threads);
    }
    return {gradient.array(), curvature.array()};
}

std::pair<Array<double, 1>, Array<double, 1>> checked_along_direction(const Input<double, 2>& scores,
                                                                      const Input<std::int32_t, 1>& codes,
                                                                      const Input<double, 1>& weights,
                                                                      const Feature& eta, const Feature& q,
                                                                      std::int64_t n_threads) {
    const PositionScores<double> checked = checked_scores(scores, eta, q, n_threads);
    const WeightedGold gold = checked_gold(checked, codes, weights);
    const Output<double, 1> along({scores.shape(0)}), variance({scores.shape(0)});
    {
        const nb::gil_scoped_release release;
        along_direction(checked, gold, along.data(), variance.data(), n_threads);
    }
    return {along.array(), variance.array()};
}

template <class Real>
void register_softmax_of(nb::module_& m) {
    m.def("log_gold", &checked_log_gold<Real>, nb::arg("scores").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("eta").none(), nb::arg("q").none(), nb::arg("n_threads"),
          "Return log P(gold) of each position, from scores (positions, labels) plus q * eta.\n\n"
          "A negative code stands for label 0.");
    m.def("softmax", &checked_softmax<Real>, nb::arg("scores").noconvert(), nb::arg("eta").none(),
          nb::arg("q").none(), nb::arg("n_threads"),
          "Return P(label) at each position, from scores (positions, labels) plus q * eta.");
}

}  // namespace

void register_softmax(nb::module_& m) {
    register_softmax_of<float>(m);
    register_softmax_of<double>(m);
    m.def("direction_sums", &checked_direction_sums, nb::arg("scores").noconvert(),
          nb::arg("codes").noconvert(), nb::arg("weights").noconvert(), nb::arg("eta"), nb::arg("q"),
          nb::arg("unit"), nb::arg("n_threads"),
          "Return, by label, the weighted sums over positions of q (gold - P) and of q^2 P, with terms "
          "rounded\nto multiples of a unit, a power of two.");
    m.def("along_direction", &checked_along_direction, nb::arg("scores").noconvert(),
          nb::arg("codes").noconvert(), nb::arg("weights").noconvert(), nb::arg("eta"), nb::arg("q"),
          nb::arg("n_threads"),
          "Return, by position, the weighted sum over labels of eta (gold - P), and the variance of eta "
          "under P.");
}

}  // namespace hedgerow
