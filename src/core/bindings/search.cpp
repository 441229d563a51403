// Learning to search, and beam searches of many sequences: checks every shape, allocates the results, and
// calls the core without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/gold_sequences.hpp"
#include "search/search_batch.hpp"
#include "search/search_learner.hpp"

namespace hedgerow {
namespace {

LabelCodes checked_codes(std::int64_t n_labels, std::int64_t order, bool bias) {
    require(n_labels >= 1 && n_labels < std::int64_t{1} << 31 && order >= 0,
            "n_labels is at least 1, order at least 0");
    require(LabelCodes::fit(n_labels, order), "order is too high for so many labels");
    return {n_labels, order, bias};
}

Update checked_update(const std::string& name) {
    if (name == "laso") return Update::laso;
    if (name == "early") return Update::early;
    if (name == "max-violation") return Update::max_violation;
    require(name == "standard", "update is laso, early, max-violation or standard");
    return Update::standard;
}

// cell = number of the label context * K + label, as in n_gram_weights below.
void forbid(const Input<std::int64_t, 1>& cells, SparseNGramWeights& n_grams) {
    const std::int64_t k = n_grams.n_labels(), n_cells = n_grams.codes().n_contexts() * k;
    for (std::size_t i = 0; i < cells.shape(0); ++i) {
        const std::int64_t cell = cells.data()[i];
        require(cell >= 0 && cell < n_cells, "forbidden cells are numbers of n-grams * K + label");
        n_grams.forbid(cell / k, cell % k);
    }
}

class SearchTrainer {
  public:
    SearchTrainer(const AttributeReader& reader, Input<std::int32_t, 1> gold, Input<double, 1> weights,
                  const Input<bool, 1>& kept, std::int64_t n_labels, std::int64_t order, bool bias,
                  const Input<std::int64_t, 1>& forbidden, const Input<std::int32_t, 1>& never_final,
                  const std::string& update, std::int64_t beam, bool backward, double tie, bool summed)
        : examples_(reader, std::move(gold), std::move(weights), n_labels),
          summed_(summed),
          learner_({checked_update(update), checked_beam(beam), backward, static_cast<float>(tie)},
                   attributes(reader, kept, n_labels, summed),
                   n_grams(checked_codes(n_labels, order, bias), n_labels, forbidden, summed),
                   labels(never_final, n_labels)) {}

    nb::tuple epoch(const Input<std::int64_t, 1>& order, std::int64_t batch, std::int64_t n_threads) {
        check_batch(batch, n_threads);
        const OnlineExamples examples = examples_.in(order);
        const SearchLearner::Counts counts = [&] {
            const nb::gil_scoped_release release;
            return learner_.learn(examples, batch, n_threads);
        }();
        return nb::make_tuple(counts.mistakes, counts.updates);
    }

    void stay(std::int64_t n) {
        require(n >= 0, "n is at least 0");
        learner_.stay(n);
    }

    nb::tuple weights(bool mean, std::int64_t n_threads) const {
        require(!mean || summed_, "mean needs summed=True");
        const WeightCopy copy{mean, learner_.n_vectors(), 1.0};
        const SparseNGramWeights& n_grams = learner_.n_grams();
        std::vector<std::int64_t> cells;
        std::vector<float> weights;
        n_grams.for_each_weight(copy, [&](std::int64_t context, std::int32_t label, float weight) {
            if (weight == -std::numeric_limits<float>::infinity()) return;  // forbidden
            cells.push_back(context * n_grams.n_labels() + label);
            weights.push_back(weight);
        });
        return nb::make_tuple(weights_by_attribute(learner_.attributes(), copy, n_threads),
                              to_array(std::move(cells)), to_array(std::move(weights)));
    }

  private:
    static std::int64_t checked_beam(std::int64_t beam) {
        require(beam >= 1, "beam is at least 1");
        return beam;
    }
    static AttributeWeights attributes(const AttributeReader& reader, const Input<bool, 1>& kept,
                                       std::int64_t n_labels, bool summed) {
        require(static_cast<std::int64_t>(kept.shape(0)) == reader.n_ids(),
                "kept has one entry for each attribute");
        const std::vector<std::uint8_t> mask(kept.data(), kept.data() + kept.shape(0));
        return {mask.data(), reader.n_ids(), n_labels, summed};
    }
    static SparseNGramWeights n_grams(const LabelCodes& codes, std::int64_t n_labels,
                                      const Input<std::int64_t, 1>& forbidden, bool summed) {
        SparseNGramWeights weights(codes, n_labels, summed);
        forbid(forbidden, weights);
        return weights;
    }
    static std::vector<std::int32_t> labels(const Input<std::int32_t, 1>& labels, std::int64_t n_labels) {
        for (std::size_t i = 0; i < labels.shape(0); ++i)
            require(labels.data()[i] >= 0 && labels.data()[i] < n_labels, "labels are below n_labels");
        return {labels.data(), labels.data() + labels.shape(0)};
    }
    GoldSequences examples_;
    bool summed_;
    SearchLearner learner_;
};

// The n-gram weights of a trained model; cell = number of the label context * K + label.
SparseNGramWeights n_gram_weights(std::int64_t n_labels, std::int64_t order,
                                  const Input<std::int64_t, 1>& cells, const Input<float, 1>& weights,
                                  const Input<std::int64_t, 1>& forbidden) {
    SparseNGramWeights n_grams(checked_codes(n_labels, order, true), n_labels, false);
    require(cells.shape(0) == weights.shape(0), "weights has one number for each cell");
    const std::int64_t n_cells = n_grams.codes().n_contexts() * n_labels;
    for (std::size_t i = 0; i < cells.shape(0); ++i) {
        const std::int64_t cell = cells.data()[i];
        require(cell >= 0 && cell < n_cells, "cells are numbers of n-grams * K + label");
        n_grams.add(cell / n_labels, cell % n_labels, weights.data()[i], 0);
    }
    forbid(forbidden, n_grams);
    return n_grams;
}

// The arrays of a batch of searches.
struct Searches {
    const SparseNGramWeights& n_grams;
    Input<std::int64_t, 1> starts;
    Input<float, 2> state;
    std::int64_t beam;
    bool backward;
    std::optional<Input<std::int32_t, 1>> keep;
    std::int64_t n_threads;

    // Sizes of results.
    std::size_t n_sequences() const { return starts.shape(0) - 1; }
    std::size_t n_positions() const { return state.shape(0); }
    std::size_t n_labels() const { return static_cast<std::size_t>(n_grams.n_labels()); }

    // Checked again at every use: Python may have written to the arrays since.
    SearchBatch checked() const {
        require(beam >= 1 && n_threads >= 1, "beam and n_threads are at least 1");
        require(state.shape(1) == n_labels(), "state is (positions, labels)");
        require(starts.shape(0) >= 1 && starts.data()[0] == 0 &&
                    starts.data()[n_sequences()] == static_cast<std::int64_t>(n_positions()),
                "starts go from 0 to the number of positions");
        for (std::size_t i = 0; i < n_sequences(); ++i)
            require(starts.data()[i] < starts.data()[i + 1], "starts rise");
        if (keep) check_labels(*keep, -1);
        return {n_grams,
                static_cast<std::int64_t>(n_sequences()),
                starts.data(),
                state.data(),
                beam,
                backward,
                keep ? keep->data() : nullptr,
                n_threads};
    }

    SearchBatch checked(double temperature) const {
        require(temperature > 0, "temperature is above 0");
        return checked();
    }

    void check_labels(const Input<std::int32_t, 1>& labels, std::int32_t lowest) const {
        require(labels.shape(0) == n_positions(), "one label for each position");
        for (std::size_t t = 0; t < n_positions(); ++t)
            require(labels.data()[t] >= lowest && labels.data()[t] < n_grams.n_labels(),
                    "labels are below n_labels");
    }
};

nb::tuple best(const Searches& batch) {
    const SearchBatch searches = batch.checked();
    Output<double, 1> score({batch.n_sequences()});
    Output<std::int32_t, 1> labels({batch.n_positions()});
    {
        const nb::gil_scoped_release release;
        best_hypotheses(searches, score.data(), labels.data());
    }
    return nb::make_tuple(score.array(), labels.array());
}

nb::tuple sums(const Searches& batch, double temperature, bool want_marginals) {
    const SearchBatch searches = batch.checked(temperature);
    Output<double, 1> log_z({batch.n_sequences()});
    std::optional<Output<float, 2>> marginals;
    if (want_marginals) marginals.emplace(std::array{batch.n_positions(), batch.n_labels()});
    {
        const nb::gil_scoped_release release;
        sum_over_kept_paths(searches, temperature, log_z.data(), marginals ? marginals->data() : nullptr);
    }
    return nb::make_tuple(log_z.array(), marginals ? nb::cast(marginals->array()) : nb::none());
}

nb::tuple ranked(const Searches& batch, double temperature, std::int64_t n) {
    const SearchBatch searches = batch.checked(temperature);
    require(n >= 1, "n is at least 1");
    Output<double, 2> score({batch.n_sequences(), static_cast<std::size_t>(n)});
    Output<std::int32_t, 2> labels({static_cast<std::size_t>(n), batch.n_positions()});
    {
        const nb::gil_scoped_release release;
        best_kept_paths(searches, temperature, n, score.data(), labels.data());
    }
    return nb::make_tuple(score.array(), labels.array());
}

nb::object path_score(const Searches& batch, double temperature, const Input<std::int32_t, 1>& labels) {
    const SearchBatch searches = batch.checked(temperature);
    batch.check_labels(labels, 0);
    Output<double, 1> score({batch.n_sequences()});
    {
        const nb::gil_scoped_release release;
        label_scores(searches, temperature, labels.data(), score.data());
    }
    return nb::cast(score.array());
}

}  // namespace

void register_search(nb::module_& m) {
    nb::class_<SearchTrainer>(m, "SearchTrainer", "Learner of a beam search from batches of sequences.")
        .def(nb::init<const AttributeReader&, Input<std::int32_t, 1>, Input<double, 1>, const Input<bool, 1>&,
                      std::int64_t, std::int64_t, bool, const Input<std::int64_t, 1>&,
                      const Input<std::int32_t, 1>&, const std::string&, std::int64_t, bool, double, bool>(),
             nb::keep_alive<1, 2>(), nb::arg("reader"), nb::arg("gold").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("kept").noconvert(), nb::arg("n_labels"),
             nb::arg("order"), nb::kw_only(), nb::arg("bias"), nb::arg("forbidden").noconvert(),
             nb::arg("never_final").noconvert(), nb::arg("update"), nb::arg("beam"), nb::arg("backward"),
             nb::arg("tie"), nb::arg("summed"),
             "forbidden: n-grams that no labelling has; never_final: labels that the last step of a search\n"
             "does not give.")
        .def("epoch", &SearchTrainer::epoch, nb::arg("order").noconvert(), nb::arg("batch"),
             nb::arg("n_threads"),
             "Learn from the given sequences in order. Returns (sequences that changed the weights, "
             "updates).\n\n"
             "A batch of sequences is searched with the weights before it.")
        .def("stay", &SearchTrainer::stay, nb::arg("n"),
             "Count n more examples that leave the weights unchanged.")
        .def("weights", &SearchTrainer::weights, nb::arg("mean"), nb::arg("n_threads"),
             "((starts, labels, weights) by attribute, cells of n-grams, their weights) that are not 0: "
             "current or\n"
             "averaged.");
    nb::class_<SparseNGramWeights>(
        m, "SparseNGramWeights", "Weights of label n-grams; cell = number of the label context * K + label.")
        .def(nb::new_(&n_gram_weights), nb::arg("n_labels"), nb::arg("order"), nb::arg("cells").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("forbidden").noconvert());
    nb::class_<Searches>(m, "SearchBatch", "Beam searches of many sequences.")
        .def(
            "__init__",
            [](Searches* self, const SparseNGramWeights& n_grams, Input<std::int64_t, 1> starts,
               Input<float, 2> state, std::int64_t beam, bool backward,
               std::optional<Input<std::int32_t, 1>> keep, std::int64_t n_threads) {
                const Searches batch{n_grams, starts, state, beam, backward, keep, n_threads};
                batch.checked();
                new (self) Searches(batch);
            },
            nb::keep_alive<1, 2>(), nb::arg("n_grams"), nb::arg("starts").noconvert(),
            nb::arg("state").noconvert(), nb::arg("beam"), nb::arg("backward"),
            nb::arg("keep").noconvert().none(), nb::arg("n_threads"))
        .def("best", &best, "(score of each sequence's best hypothesis, its labels)")
        .def("sums", &sums, nb::arg("temperature"), nb::arg("want_marginals"),
             "(log Z, marginals or None) over the paths that each search kept.")
        .def("ranked", &ranked, nb::arg("temperature"), nb::arg("n"),
             "(scores by sequence and rank, labels by rank) of the best paths that each search kept.")
        .def("score", &path_score, nb::arg("temperature"), nb::arg("labels").noconvert(),
             "Score of the given labels of each sequence.");
}

}  // namespace hedgerow
