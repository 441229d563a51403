// Sums over bags of positions, and the noisy-or of their scores.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "data/instance_bags.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kPiece = 4096;  // positions that a thread takes at a time

void check(const Input<double, 1>& values, const Input<std::int64_t, 1>& starts, std::int64_t size,
           std::int64_t n_threads) {
    const auto n = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(n >= 0 && starts.data()[0] == 0 && starts.data()[n] == static_cast<std::int64_t>(values.shape(0)),
            "starts go from 0 to the number of values");
    for (std::int64_t i = 0; i < n; ++i) require(starts.data()[i] <= starts.data()[i + 1], "starts rise");
    require(size >= 1, "a bag has room for a position");
    require(n_threads >= 1, "at least one thread");
}

// visit(begin, n) for each sequence, on threads; make() makes what a thread needs.
template <class Make>
void by_sequence(const Input<std::int64_t, 1>& starts, std::int64_t n_threads, Make make) {
    const auto cuts = chunks(starts.data(), static_cast<std::int64_t>(starts.shape(0)) - 1, kPiece);
    parallel_for(static_cast<std::int64_t>(cuts.size()) - 1, n_threads, [&] {
        return [&, visit = make()](std::int64_t piece) mutable {
            for (std::int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i)
                visit(starts.data()[i], starts.data()[i + 1] - starts.data()[i]);
        };
    });
}

Array<double, 1> bag_sums(const Input<double, 1>& values, const Input<std::int64_t, 1>& starts,
                          std::int64_t size, bool back, std::int64_t n_threads) {
    check(values, starts, size, n_threads);
    const Output<double, 1> sums({values.shape(0)});
    {
        const nb::gil_scoped_release release;
        by_sequence(starts, n_threads, [&] {
            return [&, room = std::vector<double>()](std::int64_t begin, std::int64_t n) mutable {
                sum_bags(values.data() + begin, n, size, back, room, sums.data() + begin);
            };
        });
    }
    return sums.array();
}

nb::tuple bag_probabilities(const Input<double, 1>& scores, const Input<std::int64_t, 1>& starts,
                            std::int64_t size, bool back, std::int64_t n_threads) {
    check(scores, starts, size, n_threads);
    const Output<double, 1> p({scores.shape(0)}), rest({scores.shape(0)});
    {
        const nb::gil_scoped_release release;
        by_sequence(starts, n_threads, [&] {
            return [&, terms = std::vector<double>(), room = std::vector<double>()](std::int64_t begin,
                                                                                    std::int64_t n) mutable {
                noisy_or(scores.data() + begin, n, size, back, terms, room, p.data() + begin,
                         rest.data() + begin);
            };
        });
    }
    return nb::make_tuple(p.array(), rest.array());
}

}  // namespace

void register_bags(nb::module_& m) {
    m.def("bag_sums", &bag_sums, nb::arg("values").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("size"), nb::arg("back"), nb::arg("n_threads"),
          "For each position the sum over those in its bag: the next `size` of its sequence, or the last.");
    m.def("bag_probabilities", &bag_probabilities, nb::arg("scores").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("size"), nb::arg("back"), nb::arg("n_threads"),
          "(p, 1 - p) for each position: the noisy-or over its bag of what scores say as log-odds.");
}

}  // namespace hedgerow
