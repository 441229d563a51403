// Learners that take one sequence after the other, without the GIL; and the votes of what one of them
// learned.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/examples.hpp"
#include "linear/margin.hpp"
#include "linear/stochastic.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kMostCells = std::int64_t{1} << 40;
constexpr std::int64_t kVectors = 16;  // that vote between looks up

Topology checked_topology(std::int64_t n_labels, std::int64_t order) {
    require(n_labels >= 1 && order >= 0, "n_labels is at least 1, order at least 0");
    double cells = 1;
    for (std::int64_t m = 0; m <= order; ++m) cells *= static_cast<double>(n_labels);
    require(cells < static_cast<double>(kMostCells), "K^(order + 1) is too large");
    return {n_labels, order};
}

// A number for each sequence that only its own content decides: attributes, labels and weight.
Array<std::uint64_t, 1> digests(const AttributeReader& reader, const Input<std::int32_t, 1>& gold,
                                const Input<double, 1>& weights) {
    require(static_cast<std::int64_t>(gold.shape(0)) == reader.n_positions() &&
                static_cast<std::int64_t>(weights.shape(0)) == reader.n_sequences(),
            "a label for each position and a weight for each sequence");
    const Slots slots = reader.slots();
    std::vector<std::uint64_t> found;
    for (std::int64_t i = 0; i < reader.n_sequences(); ++i) {
        std::uint64_t digest = 0;
        const auto take = [&](const auto& part) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &part, sizeof part);
            digest = Random(digest ^ bits).bits();
        };
        take(weights.data()[i]);
        const std::int64_t begin = reader.starts()[i], end = reader.starts()[i + 1];
        for (std::int64_t t = begin; t < end; ++t) {
            take(gold.data()[t]);
            for_each_id(slots, t, begin, end, [&](std::int32_t id, float value) {
                take(id);
                take(value);
            });
        }
        found.push_back(digest);
    }
    return to_array(std::move(found));
}

class MarginTrainer {
  public:
    MarginTrainer(const AttributeReader& reader, Input<std::int32_t, 1> gold, Input<double, 1> weights,
                  const Input<bool, 1>& kept, std::int64_t n_labels, std::int64_t order, bool bias,
                  bool hamming, double margin, double growth, std::int64_t beam, bool early, bool summed,
                  bool recorded)
        : examples_(reader, std::move(gold), std::move(weights), n_labels),
          k_(n_labels),
          learner_(made(reader, kept, checked_topology(n_labels, order), bias,
                        {hamming, margin, growth, beam, early && beam > 0}, summed, recorded)) {}

    // How many of the sequences changed the weights.
    std::int64_t epoch(const Input<std::int64_t, 1>& order) {
        std::int64_t mistakes = 0;
        const Slots slots = examples_.reader.slots();
        examples_.each(order,
                       [&](std::int64_t begin, std::int64_t end, const std::int32_t* gold, double weight) {
                           mistakes += learner_.learn(slots, begin, end, gold, static_cast<float>(weight));
                       });
        return mistakes;
    }

    // (attributes that have weights, their weights by label, weights of n-grams): those now, or the mean of
    // all vectors so far; times `scale`.
    nb::tuple weights(bool mean, double scale) const {
        require(!mean || !learner_.n_grams().sums().empty(), "a mean needs sums");
        const AttributeWeights& attributes = learner_.attributes();
        std::vector<std::int32_t> ids = attributes.ids();
        std::sort(ids.begin(), ids.end());
        Output<float, 2> rows({ids.size(), static_cast<std::size_t>(k_)});
        Output<float, 1> n_grams({learner_.n_grams().size()});
        const auto n = static_cast<double>(learner_.n_vectors());
        const auto put = [&](float* to, const float* values, const double* sums, std::int64_t size) {
            for (std::int64_t i = 0; i < size; ++i)
                to[i] =
                    static_cast<float>(scale * (static_cast<double>(values[i]) - (mean ? sums[i] / n : 0.0)));
        };
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const std::int64_t row = attributes.row(ids[i]);
            put(rows.data() + static_cast<std::int64_t>(i) * k_, attributes.values(row), attributes.sums(row),
                k_);
        }
        put(n_grams.data(), learner_.n_grams().values().data(), learner_.n_grams().sums().data(),
            static_cast<std::int64_t>(learner_.n_grams().size()));
        return nb::make_tuple(to_array(std::move(ids)), rows.array(), n_grams.array());
    }

    void stay(std::int64_t n) {
        require(n >= 0, "n is at least 0");
        learner_.stay(n);
    }
    std::int64_t n_seen() const { return learner_.n_vectors() - 1; }

    // (where the changes of each vector begin, features, amounts, how many examples each survived)
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
    static MarginLearner made(const AttributeReader& reader, const Input<bool, 1>& kept,
                              const Topology& topology, bool bias, const MarginRules& rules, bool summed,
                              bool recorded) {
        require(static_cast<std::int64_t>(kept.shape(0)) == reader.n_ids(), "whether each attribute is kept");
        require(rules.margin >= 0 && rules.growth >= 0 && rules.beam >= 0,
                "margin, growth and beam are at least 0");
        const std::vector<std::uint8_t> mask(kept.data(), kept.data() + kept.shape(0));
        return {topology, rules, AttributeWeights(mask.data(), reader.n_ids(), topology.n_labels, summed),
                NGramWeights(topology, bias, summed), recorded};
    }

    Examples examples_;
    std::int64_t k_;
    MarginLearner learner_;
};

class StochasticTrainer {
  public:
    StochasticTrainer(const AttributeReader& reader, Input<std::int32_t, 1> gold, Input<double, 1> weights,
                      Input<std::int64_t, 1> starts, Input<std::int32_t, 1> outputs,
                      const Input<std::int64_t, 1>& cells, std::int64_t n_labels, std::int64_t order,
                      double rate, double decay)
        : examples_(reader, std::move(gold), std::move(weights), n_labels),
          starts_(std::move(starts)),
          outputs_(std::move(outputs)),
          learner_(made(checked_topology(n_labels, order), cells, rate, decay)) {}

    // Minus the log-likelihood of each sequence just before it is learned from, weighted and summed.
    double epoch(const Input<std::int64_t, 1>& order) {
        double sum = 0;
        const Slots slots = examples_.reader.slots();
        examples_.each(order,
                       [&](std::int64_t begin, std::int64_t end, const std::int32_t* gold, double weight) {
                           sum += weight * learner_.learn(slots, begin, end, gold, weight);
                       });
        return sum;
    }

    // The same of the weights now, which stay as they are.
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
    StochasticLearner made(const Topology& topology, const Input<std::int64_t, 1>& cells, double rate,
                           double decay) {
        const auto n_ids = static_cast<std::int64_t>(starts_.shape(0)) - 1;
        require(n_ids == examples_.reader.n_ids() && starts_.data()[0] == 0 &&
                    starts_.data()[n_ids] == static_cast<std::int64_t>(outputs_.shape(0)),
                "features of the attributes there are");
        for (std::int64_t i = 0; i < n_ids; ++i)
            require(starts_.data()[i] <= starts_.data()[i + 1], "starts rise");
        for (std::size_t f = 0; f < outputs_.shape(0); ++f)
            require(outputs_.data()[f] >= 0 && outputs_.data()[f] < topology.n_labels,
                    "outputs are below n_labels");
        require(rate > 0 && decay >= 0, "a rate above 0 and a decay of at least 0");
        n_cells_ = cells.shape(0);
        const std::int64_t n_rows = topology.n_rows();
        for (std::size_t i = 0; i < n_cells_; ++i)
            require(cells.data()[i] >= 0 && cells.data()[i] < n_rows * topology.n_labels,
                    "cells of the table");
        return {topology,
                {n_ids, topology.n_labels, starts_.data(), outputs_.data()},
                std::vector<std::int64_t>(cells.data(), cells.data() + n_cells_),
                rate,
                decay};
    }

    Examples examples_;
    Input<std::int64_t, 1> starts_;
    Input<std::int32_t, 1> outputs_;
    std::size_t n_cells_ = 0;
    StochasticLearner learner_;
};

// votes (positions, labels): for each weight vector in turn, its survival to the labels of its best path.
Array<double, 2> votes(const AttributeReader& reader, std::int64_t n_labels, std::int64_t order,
                       std::int64_t beam, const Input<std::int64_t, 1>& starts,
                       const Input<std::int64_t, 1>& features, const Input<float, 1>& amounts,
                       const Input<std::int64_t, 1>& survived, std::int64_t n_threads) {
    const Topology topology = checked_topology(n_labels, order);
    const auto n_vectors = static_cast<std::int64_t>(survived.shape(0));
    const std::int64_t n_features = (reader.n_ids() + topology.n_rows()) * n_labels;
    require(beam >= 0 && n_threads >= 1, "a beam of at least 0 and a thread");
    require(static_cast<std::int64_t>(starts.shape(0)) == n_vectors + 1 && starts.data()[0] == 0 &&
                starts.data()[n_vectors] == static_cast<std::int64_t>(features.shape(0)) &&
                amounts.shape(0) == features.shape(0),
            "changes for each vector");
    for (std::int64_t v = 0; v < n_vectors; ++v)
        require(starts.data()[v] <= starts.data()[v + 1], "starts rise");
    for (std::size_t c = 0; c < features.shape(0); ++c)
        require(features.data()[c] >= 0 && features.data()[c] < n_features, "features there are");
    Output<double, 2> out(
        {static_cast<std::size_t>(reader.n_positions()), static_cast<std::size_t>(n_labels)});
    std::fill_n(out.data(), reader.n_positions() * n_labels, 0.0);
    const Vectors vectors{n_vectors, starts.data(), features.data(), amounts.data(), survived.data()};
    const std::int64_t n = reader.n_sequences(), pieces = std::min(n, n_threads);
    std::vector<Voter> voters(static_cast<std::size_t>(pieces), Voter(topology, reader.n_ids(), beam));
    {
        const nb::gil_scoped_release release;
        for (std::int64_t v = 0; v < n_vectors; v += kVectors) {
            parallel_for(pieces, n_threads, [&] {
                return [&](std::int64_t p) {
                    const std::int64_t first = p * n / pieces, last = (p + 1) * n / pieces;
                    voters[p].vote(vectors, v, std::min(v + kVectors, n_vectors), reader.slots(),
                                   reader.starts() + first, last - first, out.data());
                };
            });
            poll_interrupt();
        }
    }
    return out.array();
}

}  // namespace

void register_online(nb::module_& m) {
    m.def("sequence_digests", &digests, nb::arg("reader"), nb::arg("gold").noconvert(),
          nb::arg("weights").noconvert(),
          "A number for each sequence that its attributes, labels and weight alone decide.");
    nb::class_<MarginTrainer>(m, "MarginTrainer", "A structured perceptron or SVM, one sequence at a time.")
        .def(nb::init<const AttributeReader&, Input<std::int32_t, 1>, Input<double, 1>, const Input<bool, 1>&,
                      std::int64_t, std::int64_t, bool, bool, double, double, std::int64_t, bool, bool,
                      bool>(),
             nb::keep_alive<1, 2>(), nb::arg("reader"), nb::arg("gold").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("kept").noconvert(), nb::arg("n_labels"),
             nb::arg("order"), nb::kw_only(), nb::arg("bias"), nb::arg("hamming"), nb::arg("margin"),
             nb::arg("growth"), nb::arg("beam"), nb::arg("early"), nb::arg("summed"), nb::arg("recorded"),
             "At example t a wrong path must lose by margin + growth * t, for each wrong label or once.")
        .def("epoch", &MarginTrainer::epoch, nb::arg("order").noconvert(),
             "Learns from the sequences named, in turn; returns how many changed the weights.")
        .def("weights", &MarginTrainer::weights, nb::arg("mean"), nb::arg("scale"),
             "(attributes that have weights, those by label, weights of n-grams): now, or the mean so far.")
        .def("changes", &MarginTrainer::changes,
             "(starts by vector, features, amounts, examples survived) of all weight vectors.")
        .def("stay", &MarginTrainer::stay, nb::arg("n"), "Counts n more examples that change nothing.")
        .def_prop_ro("n_seen", &MarginTrainer::n_seen, "How many examples there were.");
    nb::class_<StochasticTrainer>(m, "StochasticTrainer", "Stochastic gradient steps on the likelihood.")
        .def(nb::init<const AttributeReader&, Input<std::int32_t, 1>, Input<double, 1>,
                      Input<std::int64_t, 1>, Input<std::int32_t, 1>, const Input<std::int64_t, 1>&,
                      std::int64_t, std::int64_t, double, double>(),
             nb::keep_alive<1, 2>(), nb::arg("reader"), nb::arg("gold").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("starts").noconvert(), nb::arg("outputs").noconvert(),
             nb::arg("cells").noconvert(), nb::arg("n_labels"), nb::arg("order"), nb::kw_only(),
             nb::arg("rate"), nb::arg("decay"), "Features by attribute, and n-grams as cells of the table.")
        .def("epoch", &StochasticTrainer::epoch, nb::arg("order").noconvert(),
             "Learns from the sequences named, in turn; returns minus their log-likelihood as it was met.")
        .def("loss", &StochasticTrainer::loss, nb::arg("order").noconvert(),
             "Minus the log-likelihood of the sequences named, weighted and summed, by the weights now.")
        .def_prop_ro("squared_size", &StochasticTrainer::squared_size, "Of the weights now.")
        .def("mean", &StochasticTrainer::mean, "The mean of the weights so far.");
    m.def("votes", &votes, nb::arg("reader"), nb::arg("n_labels"), nb::arg("order"), nb::arg("beam"),
          nb::arg("starts").noconvert(), nb::arg("features").noconvert(), nb::arg("amounts").noconvert(),
          nb::arg("survived").noconvert(), nb::arg("n_threads"),
          "(positions, labels): the examples survived by the vectors whose best path has the label there.");
}

}  // namespace hedgerow
