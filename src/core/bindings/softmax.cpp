// The softmax of each position on its own, for locally normalised models.
#include "util/softmax.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>

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

template <class Real>
void register_for(nb::module_& m) {
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
    register_for<float>(m);
    register_for<double>(m);
}

}  // namespace hedgerow
