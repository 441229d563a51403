// Checks the arguments of feature induction.
#include "linear/induction.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/linear_features.hpp"

namespace hedgerow {
namespace {

using CandidateArrays = std::tuple<Array<std::int32_t, 1>, Array<std::int32_t, 1>, Array<std::int32_t, 1>,
                                   Array<double, 1>, Array<double, 1>>;

InductionSample checked_sample(const AttributeReader& reader, const Input<std::int64_t, 1>& positions,
                               const Input<double, 2>& probabilities, const Input<std::int32_t, 1>& gold,
                               const Input<double, 1>& weights, std::int64_t n_labels) {
    const std::size_t n = positions.shape(0);
    require(probabilities.shape(0) == n && gold.shape(0) == n && weights.shape(0) == n &&
                static_cast<std::int64_t>(probabilities.shape(1)) == n_labels,
            "probabilities must be (positions, labels), with one gold label and one weight per position");
    require(n < (std::size_t{1} << 31), "there must be fewer than 2^31 positions");
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t t = positions.data()[i];
        require(t >= 0 && t < reader.n_positions() && (i == 0 || positions.data()[i - 1] < t),
                "positions must rise and lie in the sequences of the reader");
        require(gold.data()[i] >= 0 && gold.data()[i] < n_labels,
                "gold labels must be below the number of outputs of the features");
        require(weights.data()[i] > 0, "weights must be above 0");
    }
    for (std::size_t i = 0; i < probabilities.size(); ++i)
        require(probabilities.data()[i] >= 0 && probabilities.data()[i] <= 1,
                "probabilities must lie between 0 and 1");
    return {static_cast<std::int64_t>(n), n_labels,    positions.data(),
            probabilities.data(),         gold.data(), weights.data()};
}

ConjunctionLists checked_conjunctions(const AttributeReader& reader, const Input<std::int64_t, 1>& starts,
                                      const Input<std::int32_t, 1>& members) {
    const auto n = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(n >= 0 && n <= reader.n_ids(), "the conjunctions must be the ones added to the reader");
    for (std::int64_t c = 0; c < n; ++c)
        require(starts.data()[c] >= 0 && starts.data()[c] <= starts.data()[c + 1], "starts must not fall");
    require(starts.data()[n] == static_cast<std::int64_t>(members.shape(0)),
            "starts must end at the number of members");
    return {n, starts.data(), members.data()};
}

template <class T, class Field>
Array<T, 1> field_array(const std::vector<Candidate>& candidates, Field field) {
    std::vector<T> values;
    values.reserve(candidates.size());
    for (const Candidate& candidate : candidates) values.push_back(candidate.*field);
    return to_array(std::move(values));
}

CandidateArrays induce_checked(const AttributeReader& reader, const LinearFeatures& linear,
                               const Input<std::int64_t, 1>& starts, const Input<std::int32_t, 1>& members,
                               const Input<std::int64_t, 1>& positions, const Input<double, 2>& probabilities,
                               const Input<std::int32_t, 1>& gold, const Input<double, 1>& weights, double l2,
                               std::int64_t min_count, bool observed_only, std::int64_t n_wanted,
                               std::int64_t n_threads) {
    linear.check(reader);
    const Features features = linear.features();
    const InductionSample sample =
        checked_sample(reader, positions, probabilities, gold, weights, features.width);
    const ConjunctionLists conjunctions = checked_conjunctions(reader, starts, members);
    require(l2 >= 0 && min_count >= 1 && n_wanted >= 0,
            "l2 must be at least 0, min_count at least 1 and n_wanted at least 0");
    std::vector<Candidate> found;
    {
        const nb::gil_scoped_release release;
        found = induce(reader.view(), features, conjunctions, sample, {l2, min_count, observed_only},
                       n_wanted, n_threads);
    }
    return {field_array<std::int32_t>(found, &Candidate::attribute),
            field_array<std::int32_t>(found, &Candidate::partner),
            field_array<std::int32_t>(found, &Candidate::label), field_array<double>(found, &Candidate::gain),
            field_array<double>(found, &Candidate::weight)};
}

}  // namespace

void register_induction(nb::module_& m) {
    m.def("induce", &induce_checked, nb::arg("reader"), nb::arg("features"), nb::arg("starts").noconvert(),
          nb::arg("members").noconvert(), nb::arg("positions").noconvert(),
          nb::arg("probabilities").noconvert(), nb::arg("gold").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("l2"), nb::arg("min_count"), nb::arg("observed_only"), nb::arg("n_wanted"),
          nb::arg("n_threads"),
          "Return the candidate features with the largest gains, best first.\n\n"
          "A candidate is an attribute of a column, in conjunction with a partner (an attribute of the\n"
          "model, or -1 for none), and a label. The result is (attributes, partners, labels, gains,\n"
          "weights). starts and members: the conjunctions that were added to the reader.");
}

}  // namespace hedgerow
