// Sums without rounding.
#include "util/exact_sum.hpp"

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

std::pair<Array<std::int64_t, 1>, std::int64_t> limbs_of(const Input<double, 1>& values,
                                                         const std::optional<Input<double, 1>>& weights) {
    require(!weights || weights->shape(0) == values.shape(0), "there must be one weight per value");
    ExactSum sum;
    {
        const nb::gil_scoped_release release;
        sum = exact_sum(values.data(), weights ? weights->data() : nullptr,
                        static_cast<std::int64_t>(values.shape(0)));
    }
    return {to_array(std::move(sum.limbs)), sum.lowest};
}

}  // namespace

void register_exact_sum(nb::module_& m) {
    m.def("exact_sum", &limbs_of, nb::arg("values").noconvert(), nb::arg("weights") = nb::none(),
          "Return (limbs, lowest): the sum of finite numbers is the sum over j of limbs[j] * 2^(lowest + "
          "j).\n\n"
          "With weights, the numbers are the products weight * value; the weight 0 leaves a value out.");
}

}  // namespace hedgerow
