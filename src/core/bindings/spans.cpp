// Probabilities of spans: checks every shape, and calls the core without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "lattice/span_sums.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kSpansPerTask = 256;

template <class Real>
Array<double, 1> probabilities(std::int64_t order, const Input<Real, 3>& pair,
                               const Input<std::int64_t, 1>& starts, const Input<bool, 2>& joins,
                               const Input<std::int32_t, 1>& types, const Input<std::int64_t, 1>& firsts,
                               const Input<std::int64_t, 1>& ends, const Input<std::int32_t, 1>& span_types,
                               std::int64_t n_threads) {
    const auto k = static_cast<std::int64_t>(types.shape(0));
    const Topology topology{k, order};
    require(k >= 1 && order >= 0 && topology.is_manageable() && n_threads >= 1,
            "n_labels^(order + 1) must be from 1 to 2^40, and n_threads at least 1");
    require(static_cast<std::int64_t>(pair.shape(1)) == topology.n_label_contexts() &&
                static_cast<std::int64_t>(pair.shape(2)) == k,
            "pair is (positions, labels^order, labels)");
    require(static_cast<std::int64_t>(joins.shape(0)) == k && static_cast<std::int64_t>(joins.shape(1)) == k,
            "joins is (labels, labels)");
    const auto n_positions = static_cast<std::int64_t>(pair.shape(0));
    const auto n_sequences = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(n_sequences >= 1 && starts.data()[0] == 0 && starts.data()[n_sequences] == n_positions,
            "starts go from 0 to the number of positions");
    for (std::int64_t i = 0; i < n_sequences; ++i)
        require(starts.data()[i] < starts.data()[i + 1], "every sequence has a position");
    const std::size_t n = firsts.shape(0);
    require(ends.shape(0) == n && span_types.shape(0) == n, "a span has a first position, an end and a type");
    for (std::size_t i = 0; i < n; ++i)
        require(firsts.data()[i] >= 0 && firsts.data()[i] < ends.data()[i] && ends.data()[i] <= n_positions,
                "a span has at least one position");
    const SpanReading<Real> reading{
        topology,     pair.data(), reinterpret_cast<const std::uint8_t*>(joins.data()),
        types.data(), n_sequences, starts.data()};
    Output<double, 1> out({n});
    {
        const nb::gil_scoped_release release;
        const auto count = static_cast<std::int64_t>(n);
        parallel_for((count + kSpansPerTask - 1) / kSpansPerTask, n_threads, [&] {
            return [&](std::int64_t task) {
                const std::int64_t last = std::min(count, (task + 1) * kSpansPerTask);
                for (std::int64_t i = task * kSpansPerTask; i < last; ++i) {
                    const LabelSpan span{firsts.data()[i], ends.data()[i], span_types.data()[i]};
                    out.data()[i] = span_probability(reading, span);
                }
            };
        });
    }
    return out.array();
}

template <class Real>
void register_spans_of(nb::module_& m) {
    m.def("span_probabilities", &probabilities<Real>, nb::arg("order"), nb::arg("pair").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("joins").noconvert(), nb::arg("types").noconvert(),
          nb::arg("firsts").noconvert(), nb::arg("ends").noconvert(), nb::arg("span_types").noconvert(),
          nb::arg("n_threads"),
          "Probability that the labels mark exactly each span, from pair marginals.\n\n"
          "joins: whether a span continues from a label to the next; types: the type of each label.");
}

}  // namespace

void register_spans(nb::module_& m) {
    register_spans_of<float>(m);
    register_spans_of<double>(m);
}

}  // namespace hedgerow
