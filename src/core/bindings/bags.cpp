// Instance bags: checks arguments, works without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "data/instance_bags.hpp"

namespace hedgerow {
namespace {

InstanceBags checked(const Input<double, 1>& values, const Input<std::int64_t, 1>& starts, std::int64_t size,
                     bool back, std::int64_t n_threads) {
    const auto n = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(n >= 0 && starts.data()[0] == 0 && starts.data()[n] == static_cast<std::int64_t>(values.shape(0)),
            "starts must go from 0 to the number of values");
    for (std::int64_t i = 0; i < n; ++i)
        require(starts.data()[i] <= starts.data()[i + 1], "starts must not fall");
    require(size >= 1, "size must be at least 1");
    require(n_threads >= 1, "n_threads must be at least 1");
    return {starts.data(), n, size, back};
}

Array<double, 1> bag_sums(const Input<double, 1>& values, const Input<std::int64_t, 1>& starts,
                          std::int64_t size, bool back, std::int64_t n_threads) {
    const InstanceBags bags = checked(values, starts, size, back, n_threads);
    const Output<double, 1> sums({values.shape(0)});
    {
        const nb::gil_scoped_release release;
        sum_over_bags(bags, values.data(), sums.data(), n_threads);
    }
    return sums.array();
}

nb::tuple bag_probabilities(const Input<double, 1>& scores, const Input<std::int64_t, 1>& starts,
                            std::int64_t size, bool back, std::int64_t n_threads) {
    const InstanceBags bags = checked(scores, starts, size, back, n_threads);
    const Output<double, 1> p({scores.shape(0)}), rest({scores.shape(0)});
    {
        const nb::gil_scoped_release release;
        noisy_or(bags, scores.data(), p.data(), rest.data(), n_threads);
    }
    return nb::make_tuple(p.array(), rest.array());
}

}  // namespace

void register_bags(nb::module_& m) {
    m.def(
        "bag_sums", &bag_sums, nb::arg("values").noconvert(), nb::arg("starts").noconvert(), nb::arg("size"),
        nb::arg("back"), nb::arg("n_threads"),
        "Return for each position the sum over its bag: the next `size` positions of its sequence, or with\n"
        "back=True the last `size`.");
    m.def("bag_probabilities", &bag_probabilities, nb::arg("scores").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("size"), nb::arg("back"), nb::arg("n_threads"),
          "Return (p, 1 - p) for each position: the noisy-or over its bag, with scores as log-odds.");
}

}  // namespace hedgerow
