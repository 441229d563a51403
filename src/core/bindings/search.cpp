// Learning to search, and what a search finds: checks every shape, works without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/examples.hpp"
#include "search/beam_lattice.hpp"
#include "search/search_learner.hpp"
#include "util/parallel.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kChunk = 2048;  // positions a thread takes at a time

GramNumbers checked_numbers(std::int64_t n_labels, std::int64_t order, bool bias) {
    require(n_labels >= 1 && n_labels < std::int64_t{1} << 31 && order >= 0,
            "n_labels is at least 1, order at least 0");
    require(GramNumbers::fit(n_labels, order), "order is too high for so many labels");
    return {n_labels, order, bias};
}

Update checked_update(const std::string& name) {
    if (name == "laso") return Update::laso;
    if (name == "early") return Update::early;
    if (name == "max-violation") return Update::max_violation;
    require(name == "standard", "update is laso, early, max-violation or standard");
    return Update::standard;
}

class SearchTrainer {
  public:
    SearchTrainer(const AttributeReader& reader, Input<std::int32_t, 1> gold, Input<double, 1> weights,
                  const Input<bool, 1>& kept, std::int64_t n_labels, std::int64_t order, bool bias,
                  const std::string& update, std::int64_t beam, bool backward, double tie, bool summed)
        : examples_(reader, std::move(gold), std::move(weights), n_labels),
          summed_(summed),
          learner_({checked_update(update), checked_beam(beam), backward, static_cast<float>(tie)},
                   attributes(reader, kept, n_labels, summed),
                   GramWeights(checked_numbers(n_labels, order, bias), n_labels, summed)) {}

    // (sequences that changed the weights, how often the weights changed)
    nb::tuple epoch(const Input<std::int64_t, 1>& order) {
        std::int64_t mistakes = 0, updates = 0;
        const Slots slots = examples_.reader.slots();
        examples_.each(
            order, [&](std::int64_t begin, std::int64_t end, const std::int32_t* gold, double weight) {
                const std::int64_t n = learner_.learn(slots, begin, end, gold, static_cast<float>(weight));
                mistakes += n > 0;
                updates += n;
            });
        return nb::make_tuple(mistakes, updates);
    }

    void stay(std::int64_t n) {
        require(n >= 0, "n is at least 0");
        learner_.stay(n);
    }

    // (attributes that have weights, those by label, n-grams that have weights, those by label): now, or the
    // mean of all vectors so far.
    nb::tuple weights(bool mean) const {
        require(!mean || summed_, "a mean needs sums");
        const AttributeWeights& attributes = learner_.attributes();
        const GramWeights& grams = learner_.grams();
        return nb::make_tuple(to_array(std::vector<std::int32_t>(attributes.ids())),
                              by_label(attributes, attributes.ids().size(), mean),
                              to_array(std::vector<std::int64_t>(grams.grams())),
                              by_label(grams, grams.grams().size(), mean));
    }

  private:
    static std::int64_t checked_beam(std::int64_t beam) {
        require(beam >= 1, "a beam of at least 1");
        return beam;
    }
    static AttributeWeights attributes(const AttributeReader& reader, const Input<bool, 1>& kept,
                                       std::int64_t n_labels, bool summed) {
        require(static_cast<std::int64_t>(kept.shape(0)) == reader.n_ids(), "whether each attribute is kept");
        const std::vector<std::uint8_t> mask(kept.data(), kept.data() + kept.shape(0));
        return {mask.data(), reader.n_ids(), n_labels, summed};
    }
    template <class Weights>
    Array<float, 2> by_label(const Weights& weights, std::size_t n_rows, bool mean) const {
        const std::int64_t k = learner_.grams().n_labels();
        const auto n = static_cast<double>(learner_.n_vectors());
        Output<float, 2> out({n_rows, static_cast<std::size_t>(k)});
        float* to = out.data();
        for (std::size_t row = 0; row < n_rows; ++row) {
            const float* values = weights.values(static_cast<std::int64_t>(row));
            const double* sums = weights.sums(static_cast<std::int64_t>(row));
            for (std::int64_t y = 0; y < k; ++y)
                *to++ = static_cast<float>(static_cast<double>(values[y]) - (mean ? sums[y] / n : 0.0));
        }
        return out.array();
    }

    Examples examples_;
    bool summed_;
    SearchLearner learner_;
};

// The weights of n-grams as a model has them.
class SearchGrams {
  public:
    SearchGrams(std::int64_t n_labels, std::int64_t order, const Input<std::int64_t, 1>& cells,
                const Input<float, 1>& weights)
        : grams_(checked_numbers(n_labels, order, true), n_labels, false) {
        require(cells.shape(0) == weights.shape(0), "a weight for each cell");
        const std::int64_t n_cells = grams_.numbers().n() * n_labels;
        for (std::size_t i = 0; i < cells.shape(0); ++i) {
            const std::int64_t cell = cells.data()[i];
            require(cell >= 0 && cell < n_cells, "cells are numbers of n-grams * K + label");
            grams_.add(cell / n_labels, cell % n_labels, weights.data()[i], 0);
        }
    }
    const GramWeights& grams() const { return grams_; }

  private:
    GramWeights grams_;
};

// Searches of many sequences.
struct Batch {
    const SearchGrams& model;
    Input<std::int64_t, 1> starts;
    Input<float, 2> state;
    std::int64_t beam;
    bool backward;
    std::optional<Input<std::int32_t, 1>> keep;
    std::int64_t n_threads;

    const GramWeights& grams() const { return model.grams(); }
    std::int64_t n_labels() const { return grams().n_labels(); }
    std::int64_t n_sequences() const { return static_cast<std::int64_t>(starts.shape(0)) - 1; }
    std::int64_t n_positions() const { return static_cast<std::int64_t>(state.shape(0)); }
    std::int64_t first(std::int64_t i) const { return starts.data()[i]; }
    std::int64_t length(std::int64_t i) const { return starts.data()[i + 1] - first(i); }
    std::int64_t place(std::int64_t i, std::int64_t step) const {
        return backward ? starts.data()[i + 1] - 1 - step : first(i) + step;
    }
    const float* scores(std::int64_t i, std::int64_t step) const {
        return state.data() + place(i, step) * n_labels();
    }

    void check() const {
        require(beam >= 1 && n_threads >= 1, "a beam of at least 1 and a thread");
        require(static_cast<std::int64_t>(state.shape(1)) == n_labels(), "a score for each label");
        require(starts.shape(0) >= 1 && first(0) == 0 && first(n_sequences()) == n_positions(),
                "starts go from 0 to the number of positions");
        for (std::int64_t i = 0; i < n_sequences(); ++i) require(length(i) >= 1, "starts rise");
        if (keep) check_labels(*keep, -1);
    }
    void check_labels(const Input<std::int32_t, 1>& labels, std::int64_t lowest) const {
        require(static_cast<std::int64_t>(labels.shape(0)) == n_positions(), "a label for each position");
        for (std::int64_t t = 0; t < n_positions(); ++t)
            require(labels.data()[t] >= lowest && labels.data()[t] < n_labels(), "labels are below n_labels");
    }

    void run(BeamSearch& search, std::int64_t i) const {
        search.start();
        for (std::int64_t step = 0; step < length(i); ++step)
            search.step(scores(i, step), -1, keep ? keep->data()[place(i, step)] : -1);
    }

    // work(search, i) for each sequence, after its search.
    template <class Work>
    void each(Work work) const {
        const std::vector<std::int64_t> cuts = chunks(starts.data(), n_sequences(), kChunk);
        const nb::gil_scoped_release release;
        parallel_for(static_cast<std::int64_t>(cuts.size()) - 1, n_threads, [&] {
            return [&, search = BeamSearch(grams(), beam, true), own = work](std::int64_t c) mutable {
                for (std::int64_t i = cuts[c]; i < cuts[c + 1]; ++i) {
                    run(search, i);
                    own(search, i);
                }
            };
        });
    }

    template <class Semiring>
    auto lattice(const BeamSearch& search, Semiring& semiring, double temperature, std::int64_t i) const {
        const auto of_step = [this, i](std::int64_t step) { return scores(i, step); };
        return BeamLattice<Semiring, decltype(of_step)>(grams(), search, semiring, temperature, of_step);
    }
};

// Where the labels of a sequence go, by step.
class Path {
  public:
    Path(const Batch& batch, std::int64_t i, std::int32_t* labels) : batch_(batch), i_(i), labels_(labels) {}
    void operator()(std::int64_t step, std::int32_t label, double) const {
        labels_[batch_.place(i_, step)] = label;
    }

  private:
    const Batch& batch_;
    std::int64_t i_;
    std::int32_t* labels_;
};

// (scores, labels) of the best hypothesis of each sequence.
nb::tuple best(const Batch& batch) {
    batch.check();
    Output<double, 1> score({static_cast<std::size_t>(batch.n_sequences())});
    Output<std::int32_t, 1> labels({static_cast<std::size_t>(batch.n_positions())});
    batch.each([&](const BeamSearch& search, std::int64_t i) {
        const Path put(batch, i, labels.data());
        score.data()[i] = search.score();
        std::int64_t at = search.from(search.n_steps());
        for (std::int64_t step = search.n_steps() - 1; step >= 0; --step, at = search.at(at).parent)
            put(step, search.at(at).label, 1.0);
    });
    return nb::make_tuple(score.array(), labels.array());
}

// (log of the sum over the paths of what the search kept, marginals (positions, labels) or None).
nb::tuple sums(const Batch& batch, double temperature, bool want_marginals) {
    batch.check();
    require(temperature > 0, "a temperature above 0");
    const std::int64_t k = batch.n_labels();
    Output<double, 1> log_z({static_cast<std::size_t>(batch.n_sequences())});
    std::optional<Output<float, 2>> marginals;
    if (want_marginals) {
        marginals.emplace(std::array<std::size_t, 2>{static_cast<std::size_t>(batch.n_positions()),
                                                     static_cast<std::size_t>(k)});
        std::fill_n(marginals->data(), batch.n_positions() * k, 0.0f);
    }
    batch.each([&, semiring = LogSum<DoubleDouble>()](const BeamSearch& search, std::int64_t i) mutable {
        auto lattice = batch.lattice(search, semiring, temperature, i);
        log_z.data()[i] = lattice.forward();
        if (!marginals) return;
        lattice.reverse(1.0, [&](std::int64_t step, std::int32_t label, double weight) {
            marginals->data()[batch.place(i, step) * k + label] += static_cast<float>(weight);
        });
    });
    return nb::make_tuple(log_z.array(), marginals ? nb::cast(marginals->array()) : nb::none());
}

// The n best paths of what the search kept: scores (sequences, n), minus infinity where there are fewer, and
// labels (n, positions).
nb::tuple ranked(const Batch& batch, double temperature, std::int64_t n) {
    batch.check();
    require(temperature > 0, "a temperature above 0");
    require(n >= 1, "n is at least 1");
    const auto ranks = static_cast<std::size_t>(n);
    Output<double, 2> score({static_cast<std::size_t>(batch.n_sequences()), ranks});
    Output<std::int32_t, 2> labels({ranks, static_cast<std::size_t>(batch.n_positions())});
    std::fill_n(labels.data(), n * batch.n_positions(), 0);
    batch.each([&, semiring = Best(n)](const BeamSearch& search, std::int64_t i) mutable {
        auto lattice = batch.lattice(search, semiring, temperature, i);
        lattice.forward();
        for (std::int64_t r = 0; r < n; ++r) {
            score.data()[i * n + r] = semiring.value(lattice.goal(), r);
            if (score.data()[i * n + r] == kMinusInfinity) continue;
            lattice.reverse(static_cast<double>(r + 1),
                            Path(batch, i, labels.data() + r * batch.n_positions()));
        }
    });
    return nb::make_tuple(score.array(), labels.array());
}

// The score of the given labels of each sequence.
nb::object path_score(const Batch& batch, double temperature, const Input<std::int32_t, 1>& labels) {
    batch.check();
    require(temperature > 0, "a temperature above 0");
    batch.check_labels(labels, 0);
    Output<double, 1> score({static_cast<std::size_t>(batch.n_sequences())});
    for (std::int64_t i = 0; i < batch.n_sequences(); ++i) {
        double sum = 0;
        std::int64_t code = batch.grams().numbers().start();
        for (std::int64_t step = 0; step < batch.length(i); ++step) {
            const std::int64_t label = labels.data()[batch.place(i, step)];
            auto part = static_cast<double>(batch.scores(i, step)[label]);
            batch.grams().each_row(
                code, step, [&](const float* weights) { part += static_cast<double>(weights[label]); });
            sum += part / temperature;
            code = batch.grams().numbers().next(code, label);
        }
        score.data()[i] = sum;
    }
    return nb::cast(score.array());
}

}  // namespace

void register_search(nb::module_& m) {
    nb::class_<SearchTrainer>(m, "SearchTrainer", "Learning to search, one sequence at a time.")
        .def(nb::init<const AttributeReader&, Input<std::int32_t, 1>, Input<double, 1>, const Input<bool, 1>&,
                      std::int64_t, std::int64_t, bool, const std::string&, std::int64_t, bool, double,
                      bool>(),
             nb::keep_alive<1, 2>(), nb::arg("reader"), nb::arg("gold").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("kept").noconvert(), nb::arg("n_labels"),
             nb::arg("order"), nb::kw_only(), nb::arg("bias"), nb::arg("update"), nb::arg("beam"),
             nb::arg("backward"), nb::arg("tie"), nb::arg("summed"))
        .def("epoch", &SearchTrainer::epoch, nb::arg("order").noconvert(),
             "Learns from the sequences named, in turn: (how many changed the weights, how often that was).")
        .def("stay", &SearchTrainer::stay, nb::arg("n"), "Counts n more examples that change nothing.")
        .def("weights", &SearchTrainer::weights, nb::arg("mean"),
             "(attributes that have weights, those by label, the same of n-grams): now, or the mean so far.");
    nb::class_<SearchGrams>(m, "SearchGrams",
                            "Weights of label n-grams, a cell being its number * K + label.")
        .def(nb::init<std::int64_t, std::int64_t, const Input<std::int64_t, 1>&, const Input<float, 1>&>(),
             nb::arg("n_labels"), nb::arg("order"), nb::arg("cells").noconvert(),
             nb::arg("weights").noconvert());
    nb::class_<Batch>(m, "SearchBatch", "Beam searches of many sequences.")
        .def(
            "__init__",
            [](Batch* self, const SearchGrams& grams, Input<std::int64_t, 1> starts, Input<float, 2> state,
               std::int64_t beam, bool backward, std::optional<Input<std::int32_t, 1>> keep,
               std::int64_t n_threads) {
                const Batch batch{grams, starts, state, beam, backward, keep, n_threads};
                batch.check();
                new (self) Batch(batch);
            },
            nb::keep_alive<1, 2>(), nb::arg("grams"), nb::arg("starts").noconvert(),
            nb::arg("state").noconvert(), nb::arg("beam"), nb::arg("backward"),
            nb::arg("keep").noconvert().none(), nb::arg("n_threads"))
        .def("best", &best, "(scores, labels) of the best hypotheses.")
        .def("sums", &sums, nb::arg("temperature"), nb::arg("want_marginals"),
             "(log Z, marginals or None) over the paths of what the searches kept.")
        .def("ranked", &ranked, nb::arg("temperature"), nb::arg("n"),
             "(scores by sequence and rank, labels by rank) of those paths.")
        .def("score", &path_score, nb::arg("temperature"), nb::arg("labels").noconvert(),
             "The score of the given labels.");
}

}  // namespace hedgerow
