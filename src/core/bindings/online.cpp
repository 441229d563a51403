// Online learners and the voted perceptron: checks arguments, works without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/gold_sequences.hpp"
#include "bindings/path_topology.hpp"
#include "data/sequence_digests.hpp"
#include "linear/hinge_objective.hpp"
#include "linear/margin.hpp"
#include "linear/stochastic.hpp"

namespace hedgerow {
namespace {

Array<std::uint64_t, 1> digests(const AttributeReader& reader, const Input<std::int32_t, 1>& gold,
                                const Input<double, 1>& weights, std::int64_t n_threads) {
    require(n_threads >= 1, "n_threads must be at least 1");
    require(static_cast<std::int64_t>(gold.shape(0)) == reader.n_positions() &&
                static_cast<std::int64_t>(weights.shape(0)) == reader.n_sequences(),
            "there must be one gold label per position and one weight per sequence");
    std::vector<std::uint64_t> found = [&] {
        const nb::gil_scoped_release release;
        return sequence_digests(reader.view(), gold.data(), weights.data(), n_threads);
    }();
    return to_array(std::move(found));
}

class MarginTrainer {
  public:
    MarginTrainer(const AttributeReader& reader, Input<std::int32_t, 1> gold, Input<double, 1> weights,
                  const Input<bool, 1>& kept, std::int64_t n_labels, std::int64_t order,
                  const Cells& forbidden, const LabelSet& never_last, bool bias, bool hamming, double margin,
                  double growth, double beam, bool early, bool summed, bool recorded)
        : examples_(reader, std::move(gold), std::move(weights), n_labels),
          learner_(build(reader, kept, checked_topology(n_labels, order), bias,
                         {hamming, margin, growth, beam, early && beam > 0},
                         checked_forbidden(checked_topology(n_labels, order), forbidden, never_last), summed,
                         recorded)) {}

    void start_from(const Input<std::int64_t, 1>& starts, const Input<std::int32_t, 1>& labels,
                    const Input<float, 1>& weights, const Input<float, 1>& cells, std::int64_t n_seen) {
        const std::int64_t n_ids = learner_.attributes().n_ids();
        require(learner_.n_seen() == 0 && learner_.n_vectors() == 1,
                "weights are set once, before the first example");
        require(n_seen >= 0, "n_seen must be at least 0");
        require(static_cast<std::int64_t>(starts.shape(0)) == n_ids + 1 && starts.data()[0] == 0 &&
                    starts.data()[n_ids] == static_cast<std::int64_t>(labels.shape(0)) &&
                    weights.shape(0) == labels.shape(0),
                "starts must divide the labels and weights among the attributes");
        for (std::int64_t id = 0; id < n_ids; ++id) {
            require(starts.data()[id] <= starts.data()[id + 1], "starts must not fall");
            require(starts.data()[id] == starts.data()[id + 1] ||
                        learner_.attributes().keeps(static_cast<std::int32_t>(id)),
                    "an attribute that is left out must have no weights");
        }
        for (std::size_t f = 0; f < labels.shape(0); ++f)
            require(labels.data()[f] >= 0 && labels.data()[f] < learner_.topology().n_labels,
                    "labels must lie between 0 and n_labels - 1");
        require(cells.shape(0) == learner_.n_grams().size(), "there must be one weight per n-gram");
        learner_.start_from(starts.data(), labels.data(), weights.data(), cells.data(), n_seen);
    }

    std::int64_t epoch(const Input<std::int64_t, 1>& order, std::int64_t batch, std::int64_t n_threads) {
        check_batch(batch, n_threads);
        const OnlineExamples examples = examples_.in(order);
        const nb::gil_scoped_release release;
        return learner_.learn(examples, batch, n_threads);
    }

    nb::tuple weights(bool mean, double scale, std::int64_t n_threads) const {
        const NGramWeights& n_grams = learner_.n_grams();
        require(!mean || (!n_grams.sums().empty() && learner_.n_vectors() > 0),
                "a mean needs sums, and an example");
        const WeightCopy copy{mean, learner_.n_vectors(), scale};
        return nb::make_tuple(weights_by_attribute(learner_.attributes(), copy, n_threads),
                              to_array(n_grams.copied(copy)));
    }

    nb::tuple objective(const Input<std::int64_t, 1>& order, bool mean, double scale,
                        std::int64_t n_threads) const {
        require(n_threads >= 1, "n_threads must be at least 1");
        require(!mean || (!learner_.n_grams().sums().empty() && learner_.n_vectors() > 0),
                "a mean needs sums, and an example");
        const OnlineExamples examples = examples_.in(order);
        const HingeObjective found = [&] {
            const nb::gil_scoped_release release;
            return hinge_objective(learner_, {mean, learner_.n_vectors(), scale}, examples, n_threads);
        }();
        return nb::make_tuple(found.squared_size, found.hinge_losses);
    }

    void stay(std::int64_t n) {
        require(n >= 0, "n must be at least 0");
        learner_.stay(n);
    }
    std::int64_t n_seen() const { return learner_.n_seen(); }

    nb::tuple changes() const {
        const std::vector<Change>& changes = learner_.changes();
        Output<std::int64_t, 1> features({changes.size()});
        Output<float, 1> amounts({changes.size()});
        for (std::size_t i = 0; i < changes.size(); ++i) {
            features.data()[i] = changes[i].feature;
            amounts.data()[i] = changes[i].amount;
        }
        return nb::make_tuple(to_array(std::vector<std::int64_t>(learner_.change_starts())), features.array(),
                              amounts.array(), to_array(std::vector<std::int64_t>(learner_.survived())));
    }

  private:
    static MarginLearner build(const AttributeReader& reader, const Input<bool, 1>& kept,
                               const Topology& topology, bool bias, const MarginRules& rules,
                               Forbidden forbidden, bool summed, bool recorded) {
        require(static_cast<std::int64_t>(kept.shape(0)) == reader.n_ids(),
                "kept must have one value per attribute");
        require(rules.margin >= 0 && rules.growth >= 0, "margin and growth must be at least 0");
        require(Beam::is_valid(rules.beam), "beam is a whole number, or a bound below 1");
        const std::vector<std::uint8_t> mask(kept.data(), kept.data() + kept.shape(0));
        return {topology,
                rules,
                std::move(forbidden),
                AttributeWeights(mask.data(), reader.n_ids(), topology.n_labels, summed),
                NGramWeights(topology, bias, summed),
                recorded};
    }

    GoldSequences examples_;
    MarginLearner learner_;
};

class StochasticTrainer {
  public:
    StochasticTrainer(const AttributeReader& reader, Input<std::int32_t, 1> gold, Input<double, 1> weights,
                      Input<std::int64_t, 1> starts, Input<std::int32_t, 1> outputs, const Cells& cells,
                      std::int64_t n_labels, std::int64_t order, const Cells& forbidden,
                      const LabelSet& never_last, double rate, double decay)
        : examples_(reader, std::move(gold), std::move(weights), n_labels),
          starts_(std::move(starts)),
          outputs_(std::move(outputs)),
          learner_(build(checked_topology(n_labels, order), cells,
                         checked_forbidden(checked_topology(n_labels, order), forbidden, never_last), rate,
                         decay)) {}

    double epoch(const Input<std::int64_t, 1>& order) {
        double sum = 0;
        const Slots slots = examples_.reader.slots();
        examples_.each(order,
                       [&](std::int64_t begin, std::int64_t end, const std::int32_t* gold, double weight) {
                           sum += weight * learner_.learn(slots, begin, end, gold, weight);
                       });
        return sum;
    }

    double loss(const Input<std::int64_t, 1>& order) {
        double sum = 0;
        const Slots slots = examples_.reader.slots();
        examples_.each(order, [&](std::int64_t begin, std::int64_t end, const std::int32_t* gold,
                                  double weight) { sum += weight * learner_.loss(slots, begin, end, gold); });
        return sum;
    }
    double squared_size() const { return learner_.squared_size(); }

    Array<double, 1> mean() const {
        Output<double, 1> weights({outputs_.shape(0) + n_cells_});
        learner_.mean(weights.data());
        return weights.array();
    }

  private:
    StochasticLearner build(const Topology& topology, const Cells& cells, Forbidden forbidden, double rate,
                            double decay) {
        require(!forbidden.any() || topology.order >= 1, "constraints need an order of at least 1");
        const auto n_ids = static_cast<std::int64_t>(starts_.shape(0)) - 1;
        require(n_ids == examples_.reader.n_ids() && starts_.data()[0] == 0 &&
                    starts_.data()[n_ids] == static_cast<std::int64_t>(outputs_.shape(0)),
                "starts must divide the outputs among the attributes of the reader");
        for (std::int64_t i = 0; i < n_ids; ++i)
            require(starts_.data()[i] <= starts_.data()[i + 1], "starts must not fall");
        for (std::size_t f = 0; f < outputs_.shape(0); ++f)
            require(outputs_.data()[f] >= 0 && outputs_.data()[f] < topology.n_labels,
                    "outputs must lie between 0 and n_labels - 1");
        require(rate > 0 && decay >= 0, "rate must be above 0, and decay at least 0");
        n_cells_ = cells.shape(0);
        const std::int64_t n_rows = topology.n_rows();
        for (std::size_t i = 0; i < n_cells_; ++i)
            require(cells.data()[i] >= 0 && cells.data()[i] < n_rows * topology.n_labels,
                    "cells must lie in the transition table");
        return {topology,
                {n_ids, topology.n_labels, starts_.data(), outputs_.data()},
                std::vector<std::int64_t>(cells.data(), cells.data() + n_cells_),
                std::move(forbidden),
                rate,
                decay};
    }

    GoldSequences examples_;
    Input<std::int64_t, 1> starts_;
    Input<std::int32_t, 1> outputs_;
    std::size_t n_cells_ = 0;
    StochasticLearner learner_;
};

Array<double, 2> votes(const AttributeReader& reader, std::int64_t n_labels, std::int64_t order, double beam,
                       const Input<std::int64_t, 1>& starts, const Input<std::int64_t, 1>& features,
                       const Input<float, 1>& amounts, const Input<std::int64_t, 1>& survived,
                       const Cells& forbidden, const LabelSet& never_last,
                       const std::optional<Input<std::int32_t, 1>>& known, std::int64_t n_threads) {
    const Topology topology = checked_topology(n_labels, order);
    const Forbidden constraints = checked_forbidden(topology, forbidden, never_last);
    require(!known || static_cast<std::int64_t>(known->shape(0)) == reader.n_positions(),
            "known must have one label per position");
    for (std::size_t t = 0; known && t < known->shape(0); ++t)
        require(known->data()[t] < n_labels, "known labels must be below n_labels");
    const auto n_vectors = static_cast<std::int64_t>(survived.shape(0));
    const std::int64_t n_features = (reader.n_ids() + topology.n_rows()) * n_labels;
    require(Beam::is_valid(beam), "beam is a whole number, or a bound below 1");
    require(n_threads >= 1, "n_threads must be at least 1");
    require(static_cast<std::int64_t>(starts.shape(0)) == n_vectors + 1 && starts.data()[0] == 0 &&
                starts.data()[n_vectors] == static_cast<std::int64_t>(features.shape(0)) &&
                amounts.shape(0) == features.shape(0),
            "starts must divide the changes among the weight vectors");
    for (std::int64_t v = 0; v < n_vectors; ++v)
        require(starts.data()[v] <= starts.data()[v + 1], "starts must not fall");
    for (std::size_t c = 0; c < features.shape(0); ++c)
        require(features.data()[c] >= 0 && features.data()[c] < n_features,
                "features must be numbers of attributes or n-grams with a label");
    Output<double, 2> out(
        {static_cast<std::size_t>(reader.n_positions()), static_cast<std::size_t>(n_labels)});
    std::fill_n(out.data(), reader.n_positions() * n_labels, 0.0);
    {
        const nb::gil_scoped_release release;
        add_votes({n_vectors, starts.data(), features.data(), amounts.data(), survived.data()}, topology,
                  beam, constraints, reader.view(), known ? known->data() : nullptr, out.data(), n_threads);
    }
    return out.array();
}

}  // namespace

void register_online(nb::module_& m) {
    m.def("sequence_digests", &digests, nb::arg("reader"), nb::arg("gold").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("n_threads"),
          "Return a number per sequence that depends only on its attributes, gold labels and weight.");
    nb::class_<MarginTrainer>(m, "MarginTrainer",
                              "A structured perceptron or SVM, learned in batches of sequences.")
        .def(
            nb::init<const AttributeReader&, Input<std::int32_t, 1>, Input<double, 1>, const Input<bool, 1>&,
                     std::int64_t, std::int64_t, const Cells&, const LabelSet&, bool, bool, double, double,
                     double, bool, bool, bool>(),
            nb::keep_alive<1, 2>(), nb::arg("reader"), nb::arg("gold").noconvert(),
            nb::arg("weights").noconvert(), nb::arg("kept").noconvert(), nb::arg("n_labels"),
            nb::arg("order"), nb::arg("forbidden").noconvert(), nb::arg("never_last").noconvert(),
            nb::kw_only(), nb::arg("bias"), nb::arg("hamming"), nb::arg("margin"), nb::arg("growth"),
            nb::arg("beam"), nb::arg("early"), nb::arg("summed"), nb::arg("recorded"),
            "At example t, gold must beat a wrong path by margin + growth * t.\n\n"
            "hamming: the margin applies to each wrong label instead of once to a path; early: learn only\n"
            "up to the position where the beam drops gold; summed: keep sums for the mean of the weights;\n"
            "recorded: keep all changes, for voting; forbidden: cells of the transition table that no label\n"
            "sequence uses; never_last: labels that end none.")
        .def(
            "start_from", &MarginTrainer::start_from, nb::arg("starts").noconvert(),
            nb::arg("labels").noconvert(), nb::arg("weights").noconvert(), nb::arg("n_grams").noconvert(),
            nb::kw_only(), nb::arg("n_seen"),
            "Set the first weights, instead of 0, in the form that weights() returns.\n\n"
            "They were learned from n_seen examples. They do not count in the mean, where the last of these\n"
            "examples has counted them.")
        .def("epoch", &MarginTrainer::epoch, nb::arg("order").noconvert(), nb::arg("batch"),
             nb::arg("n_threads"),
             "Learn from the sequences in `order`; return how many of them changed the weights.\n\n"
             "Paths are found with the weights before each batch of sequences.")
        .def("weights", &MarginTrainer::weights, nb::arg("mean"), nb::arg("scale"), nb::arg("n_threads"),
             "Return ((starts, labels, weights) by attribute, n-gram weights), times scale.\n\n"
             "Weights of 0 are left out, but not those of n-grams. With mean=True: the mean of all weight\n"
             "vectors so far, one after each example and the first of 0; otherwise the current weights.")
        .def("objective", &MarginTrainer::objective, nb::arg("order").noconvert(), nb::arg("mean"),
             nb::arg("scale"), nb::arg("n_threads"),
             "Return (|w|^2, the weighted sum of the hinge losses of the sequences in `order`).\n\n"
             "w: as weights() returns them. Paths are exact, also if learning uses a beam.")
        .def("changes", &MarginTrainer::changes,
             "Return (starts, features, amounts, survived): the changes that make each weight vector, and\n"
             "the number of examples that the vector survived.")
        .def("stay", &MarginTrainer::stay, nb::arg("n"), "Count n more examples that change no weight.")
        .def_prop_ro("n_seen", &MarginTrainer::n_seen, "The number of examples so far.");
    nb::class_<StochasticTrainer>(m, "StochasticTrainer",
                                  "Stochastic gradient descent on the negative log-likelihood.")
        .def(
            nb::init<const AttributeReader&, Input<std::int32_t, 1>, Input<double, 1>, Input<std::int64_t, 1>,
                     Input<std::int32_t, 1>, const Cells&, std::int64_t, std::int64_t, const Cells&,
                     const LabelSet&, double, double>(),
            nb::keep_alive<1, 2>(), nb::arg("reader"), nb::arg("gold").noconvert(),
            nb::arg("weights").noconvert(), nb::arg("starts").noconvert(), nb::arg("outputs").noconvert(),
            nb::arg("cells").noconvert(), nb::arg("n_labels"), nb::arg("order"),
            nb::arg("forbidden").noconvert(), nb::arg("never_last").noconvert(), nb::kw_only(),
            nb::arg("rate"), nb::arg("decay"),
            "starts and outputs: the features of each attribute; cells: the n-grams with a weight, as cells\n"
            "of the transition table; forbidden: cells that no label sequence uses; never_last: labels that\n"
            "end none.")
        .def("epoch", &StochasticTrainer::epoch, nb::arg("order").noconvert(),
             "Learn from the sequences in `order`.\n\n"
             "Returns the weighted sum of their negative log-likelihoods, each before its own step.")
        .def("loss", &StochasticTrainer::loss, nb::arg("order").noconvert(),
             "Return the weighted sum of the negative log-likelihoods of the sequences in `order`.")
        .def_prop_ro("squared_size", &StochasticTrainer::squared_size,
                     "The sum of squares of the current weights.")
        .def("mean", &StochasticTrainer::mean, "Return the mean of the weights so far.");
    m.def("votes", &votes, nb::arg("reader"), nb::arg("n_labels"), nb::arg("order"), nb::arg("beam"),
          nb::arg("starts").noconvert(), nb::arg("features").noconvert(), nb::arg("amounts").noconvert(),
          nb::arg("survived").noconvert(), nb::arg("forbidden").noconvert(),
          nb::arg("never_last").noconvert(), nb::arg("known").noconvert().none(), nb::arg("n_threads"),
          "Return the votes (positions, labels) of a voted perceptron.\n\n"
          "Each weight vector votes for the labels of its best path, with the number of examples that it\n"
          "survived.");
}

}  // namespace hedgerow
