// The softmax of every position by itself: what a locally normalised model makes of its scores.
#include "util/softmax.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kPiece = 1024;  // positions that a thread takes at a time
using Feature = std::optional<Input<double, 1>>;

template <class Real>
SpokenScores<Real> spoken(const Input<Real, 2>& scores, const Feature& eta, const Feature& q,
                          std::int64_t n_threads) {
    require(scores.shape(1) >= 1, "there is a label");
    require(eta.has_value() == q.has_value(), "a feature has a direction and values");
    require(!eta || (eta->shape(0) == scores.shape(1) && q->shape(0) == scores.shape(0)),
            "a feature has a number for each label, and a value for each position");
    require(n_threads >= 1, "at least one thread");
    return {scores.data(), static_cast<std::int64_t>(scores.shape(1)), eta ? eta->data() : nullptr,
            q ? q->data() : nullptr};
}

template <class Visit>
void by_position(std::size_t n, std::int64_t n_labels, std::int64_t n_threads, Visit visit) {
    const auto n_positions = static_cast<std::int64_t>(n);
    parallel_for((n_positions + kPiece - 1) / kPiece, n_threads, [&] {
        return
            [&, room = std::vector<double>(static_cast<std::size_t>(n_labels))](std::int64_t piece) mutable {
                const std::int64_t end = std::min((piece + 1) * kPiece, n_positions);
                for (std::int64_t t = piece * kPiece; t < end; ++t) visit(t, room.data());
            };
    });
}

template <class Real>
Array<double, 1> log_gold(const Input<Real, 2>& scores, const Input<std::int32_t, 1>& codes,
                          const Feature& eta, const Feature& q, std::int64_t n_threads) {
    const SpokenScores<Real> given = spoken(scores, eta, q, n_threads);
    require(codes.shape(0) == scores.shape(0), "one code for each position");
    for (std::size_t t = 0; t < codes.shape(0); ++t)
        require(codes.data()[t] < given.n_labels, "codes are below the number of labels");
    const Output<double, 1> found({scores.shape(0)});
    {
        const nb::gil_scoped_release release;
        by_position(scores.shape(0), given.n_labels, n_threads, [&](std::int64_t t, double* room) {
            const auto [highest, sum] = given.powers(t, room);
            const std::int32_t gold = std::max(codes.data()[t], 0);
            found.data()[t] = given.score(t, gold) - highest - std::log(sum);
        });
    }
    return found.array();
}

template <class Real>
Array<double, 2> softmax(const Input<Real, 2>& scores, const Feature& eta, const Feature& q,
                         std::int64_t n_threads) {
    const SpokenScores<Real> given = spoken(scores, eta, q, n_threads);
    const Output<double, 2> found({scores.shape(0), scores.shape(1)});
    {
        const nb::gil_scoped_release release;
        by_position(scores.shape(0), given.n_labels, n_threads, [&](std::int64_t t, double*) {
            double* to = found.data() + t * given.n_labels;
            const double sum = given.powers(t, to).sum;
            for (std::int64_t l = 0; l < given.n_labels; ++l) to[l] /= sum;
        });
    }
    return found.array();
}

template <class Real>
void register_for(nb::module_& m) {
    m.def("log_gold", &log_gold<Real>, nb::arg("scores").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("eta").none(), nb::arg("q").none(), nb::arg("n_threads"),
          "log P(gold) of each position, from scores (positions, labels) and q * eta, if there is a feature; "
          "where a code is below 0, that of label 0.");
    m.def("softmax", &softmax<Real>, nb::arg("scores").noconvert(), nb::arg("eta").none(),
          nb::arg("q").none(), nb::arg("n_threads"), "P of each label at each position, from the same.");
}

}  // namespace

void register_softmax(nb::module_& m) {
    register_for<float>(m);
    register_for<double>(m);
}

}  // namespace hedgerow
