// Feature induction: the conjunctions of what a AttributeReader reads that a linear model would gain most by.
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

using Found = std::tuple<Array<std::int32_t, 1>, Array<std::int32_t, 1>, Array<std::int32_t, 1>,
                         Array<double, 1>, Array<double, 1>>;

void check(const AttributeReader& reader, const Input<std::int64_t, 1>& positions,
           const Input<double, 2>& probabilities, const Input<std::int32_t, 1>& gold,
           const Input<double, 1>& weights, std::int64_t n_labels) {
    const std::size_t n = positions.shape(0);
    require(probabilities.shape(0) == n && gold.shape(0) == n && weights.shape(0) == n &&
                static_cast<std::int64_t>(probabilities.shape(1)) == n_labels,
            "probabilities are (positions, labels), and each position has a label and a weight");
    require(n < (std::size_t{1} << 31), "fewer than 2^31 positions");
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t t = positions.data()[i];
        require(t >= 0 && t < reader.n_positions() && (i == 0 || positions.data()[i - 1] < t),
                "positions rise");
        require(gold.data()[i] >= 0 && gold.data()[i] < n_labels, "labels are those of the features");
        require(weights.data()[i] > 0, "weights are above 0");
    }
    for (std::size_t i = 0; i < probabilities.size(); ++i)
        require(probabilities.data()[i] >= 0 && probabilities.data()[i] <= 1,
                "probabilities are from 0 to 1");
}

// The attributes of the model that the sample shows and that may be conjoined, after "nothing"; fills in what
// each position of the sample shows. Attributes from n_basic on are conjunctions.
std::vector<Context> contexts_of(const AttributeReader& reader, const Features& features,
                                 std::int64_t n_basic, const Input<std::int64_t, 1>& positions,
                                 const Input<std::int64_t, 1>& starts, const Input<std::int32_t, 1>& members,
                                 Sample& sample) {
    std::vector<Context> contexts{{-1, {}, {}}};
    std::vector<std::int32_t> context_of(static_cast<std::size_t>(features.n_ids), -1);
    for (std::int64_t id = 0; id < features.n_ids; ++id) {
        if (features.starts[id] == features.starts[id + 1]) continue;
        context_of[id] = static_cast<std::int32_t>(contexts.size());
        contexts.push_back({static_cast<std::int32_t>(id), {static_cast<std::int32_t>(id)}, {}});
        if (id < n_basic) continue;
        const std::int64_t* first = starts.data() + (id - n_basic);
        contexts.back().members.assign(members.data() + first[0], members.data() + first[1]);
    }
    const Slots slots = reader.slots();
    sample.starts.assign(1, 0);
    for (std::int64_t i = 0; i < sample.n; ++i) {
        const auto position = static_cast<std::int32_t>(i);
        contexts[0].positions.push_back(position);
        const std::int64_t t = positions.data()[i];
        reader.for_each_position(t, t + 1, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (std::int64_t s = 0; s < slots.size; ++s) {
                const Slot& slot = slots[s];
                const bool valued = slot.column->numbers != nullptr || slot.column->weights != nullptr;
                for_each_id(slot, t, begin, end, [&](std::int32_t id, float value) {
                    const bool plain = !valued || id == slot.padding;
                    if (id < n_basic) sample.shown.push_back({id, value, plain});
                    if (plain && context_of[id] >= 0) contexts[context_of[id]].positions.push_back(position);
                });
            }
        });
        sample.starts.push_back(static_cast<std::int64_t>(sample.shown.size()));
    }
    return contexts;
}

template <class T, class Field>
Array<T, 1> each(const std::vector<Candidate>& found, Field field) {
    std::vector<T> values;
    for (const Candidate& candidate : found) values.push_back(field(candidate));
    return to_array(std::move(values));
}

Found induce(const AttributeReader& reader, const LinearFeatures& linear,
             const Input<std::int64_t, 1>& starts, const Input<std::int32_t, 1>& members,
             const Input<std::int64_t, 1>& positions, const Input<double, 2>& probabilities,
             const Input<std::int32_t, 1>& gold, const Input<double, 1>& weights, double l2,
             std::int64_t min_count, bool observed_only, std::int64_t n_wanted, std::int64_t n_threads) {
    linear.check(reader);
    const Features features = linear.features();
    check(reader, positions, probabilities, gold, weights, features.width);
    const auto n_conjunctions = static_cast<std::int64_t>(starts.shape(0)) - 1;
    const std::int64_t n_basic = reader.n_ids() - n_conjunctions;
    require(n_conjunctions >= 0 && n_basic >= 0, "the conjunctions are those of the slots");
    for (std::int64_t c = 0; c < n_conjunctions; ++c)
        require(starts.data()[c] >= 0 && starts.data()[c] <= starts.data()[c + 1], "starts rise");
    require(starts.data()[n_conjunctions] == static_cast<std::int64_t>(members.shape(0)),
            "starts end at the number of members");
    require(l2 >= 0 && min_count >= 1 && n_wanted >= 0, "a penalty, a count of at least 1, a number wanted");
    std::vector<Candidate> found;
    {
        const nb::gil_scoped_release release;
        Sample sample{static_cast<std::int64_t>(gold.shape(0)),
                      features.width,
                      probabilities.data(),
                      gold.data(),
                      weights.data(),
                      {},
                      {}};
        std::vector<Context> contexts =
            contexts_of(reader, features, n_basic, positions, starts, members, sample);
        found = Inducer(sample, features, std::move(contexts), {l2, min_count, observed_only})
                    .best(n_wanted, n_threads);
    }
    return {each<std::int32_t>(found, [](const Candidate& c) { return c.attribute; }),
            each<std::int32_t>(found, [](const Candidate& c) { return c.context; }),
            each<std::int32_t>(found, [](const Candidate& c) { return c.label; }),
            each<double>(found, [](const Candidate& c) { return c.gain; }),
            each<double>(found, [](const Candidate& c) { return c.weight; })};
}

}  // namespace

void register_induction(nb::module_& m) {
    m.def("induce", &induce, nb::arg("reader"), nb::arg("features"), nb::arg("starts").noconvert(),
          nb::arg("members").noconvert(), nb::arg("positions").noconvert(),
          nb::arg("probabilities").noconvert(), nb::arg("gold").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("l2"), nb::arg("min_count"), nb::arg("observed_only"), nb::arg("n_wanted"),
          nb::arg("n_threads"),
          "(attributes, contexts, labels, gains, weights) of the candidates that gain most, best first: an "
          "attribute of a column, conjoined with an attribute of the model or, for -1, alone. starts and "
          "members: the conjunctions that were added to the reader.");
}

}  // namespace hedgerow
