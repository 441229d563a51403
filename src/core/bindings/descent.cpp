// Quasi-Newton directions and penalised steps: checks arguments, works without the GIL.
#include "linear/descent.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "linear/quasi_newton.hpp"

namespace hedgerow {

namespace {

OrderedSum ordered_sum(const Input<double, 1>& vector, std::int64_t n_threads) {
    return OrderedSum(static_cast<std::int64_t>(vector.shape(0)), n_threads);
}

double penalize_by(const Input<double, 1>& weights, double l1, double l2, InOut<double, 1> gradient,
                   std::int64_t n_threads) {
    require(weights.shape(0) == gradient.shape(0), "both vectors must have the same size");
    const nb::gil_scoped_release release;
    return penalize(weights.data(), l1, l2, gradient.data(), ordered_sum(weights, n_threads));
}

Array<double, 1> slope_by(const Input<double, 1>& weights, const Input<double, 1>& gradient, double l1,
                          std::int64_t n_threads) {
    require(weights.shape(0) == gradient.shape(0), "both vectors must have the same size");
    Output<double, 1> out({weights.shape(0)});
    {
        const nb::gil_scoped_release release;
        pseudo_gradient(weights.data(), gradient.data(), l1, out.data(), ordered_sum(weights, n_threads));
    }
    return out.array();
}

std::pair<Array<double, 1>, Array<double, 1>> step_by(const Input<double, 1>& weights,
                                                      const Input<double, 1>& direction, double length,
                                                      bool within, std::int64_t n_threads) {
    require(weights.shape(0) == direction.shape(0), "both vectors must have the same size");
    Output<double, 1> reached({weights.shape(0)}), step({weights.shape(0)});
    {
        const nb::gil_scoped_release release;
        take_step(weights.data(), direction.data(), length, within, reached.data(), step.data(),
                  ordered_sum(weights, n_threads));
    }
    return {reached.array(), step.array()};
}

}  // namespace

void register_descent(nb::module_& m) {
    m.def(
        "dot",
        [](const Input<double, 1>& a, const Input<double, 1>& b, std::int64_t n_threads) {
            require(a.shape(0) == b.shape(0), "both vectors must have the same size");
            const nb::gil_scoped_release release;
            return ordered_sum(a, n_threads).dot(a.data(), b.data());
        },
        nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("n_threads"),
        "Return the dot product. It does not depend on the number of threads.");
    m.def("penalize", &penalize_by, nb::arg("weights").noconvert(), nb::arg("l1"), nb::arg("l2"),
          nb::arg("gradient").noconvert(), nb::arg("n_threads"),
          "Return l1 * sum |w| + l2 * sum w^2; add the derivative 2 * l2 * w to the gradient.");
    m.def("slope", &slope_by, nb::arg("weights").noconvert(), nb::arg("gradient").noconvert(), nb::arg("l1"),
          nb::arg("n_threads"), "Return the pseudo-gradient: the gradient plus that of l1 * sum |w|.");
    m.def("step", &step_by, nb::arg("weights").noconvert(), nb::arg("direction").noconvert(),
          nb::arg("length"), nb::arg("within"), nb::arg("n_threads"),
          "Return (weights + step, step) with step = length * direction.\n\n"
          "within: a weight that would change its sign becomes 0.");
    nb::class_<QuasiNewton>(m, "QuasiNewton", "Limited-memory BFGS: an estimate of the inverse Hessian.")
        .def(
            "__init__",
            [](QuasiNewton* self, std::int64_t n, std::int64_t memory) {
                require(n >= 0 && memory >= 1, "n must be at least 0, and memory at least 1");
                new (self) QuasiNewton(n, memory);
            },
            nb::arg("n"), nb::arg("memory"))
        .def(
            "remember",
            [](QuasiNewton& self, const Input<double, 1>& step, const Input<double, 1>& change,
               std::int64_t n_threads) {
                const auto n = static_cast<std::size_t>(self.n());
                require(step.shape(0) == n && change.shape(0) == n, "both vectors must have n values");
                const nb::gil_scoped_release release;
                self.remember(step.data(), change.data(), n_threads);
            },
            nb::arg("step").noconvert(), nb::arg("change").noconvert(), nb::arg("n_threads"),
            "Add a step and the change of the gradient along it.")
        .def("forget", &QuasiNewton::forget,
             "Reset the estimate to the identity; return False if it already was.")
        .def(
            "down",
            [](QuasiNewton& self, const Input<double, 1>& slope, bool within, std::int64_t n_threads) {
                const auto n = static_cast<std::size_t>(self.n());
                require(slope.shape(0) == n, "the slope must have n values");
                Output<double, 1> out({n});
                {
                    const nb::gil_scoped_release release;
                    self.times(slope.data(), out.data(), n_threads);
                    const OrderedSum sums(self.n(), n_threads);
                    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
                        for (std::int64_t i = begin; i < end; ++i) out.data()[i] = -out.data()[i];
                    });
                    if (within) keep_descent(out.data(), slope.data(), sums);
                }
                return out.array();
            },
            nb::arg("slope").noconvert(), nb::arg("within"), nb::arg("n_threads"),
            "Return minus the estimate times the slope.\n\n"
            "within: components that do not descend become 0.");
}

}  // namespace hedgerow
