// Structured SVMs by Frank-Wolfe steps: checks arguments, works without the GIL.
#include "linear/frank_wolfe.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/gold_sequences.hpp"
#include "bindings/path_topology.hpp"

namespace hedgerow {
namespace {

class FrankWolfeTrainer {
  public:
    FrankWolfeTrainer(const AttributeReader& reader, Input<std::int32_t, 1> gold, Input<double, 1> weights,
                      const Input<bool, 1>& kept, std::int64_t n_labels, std::int64_t order,
                      const Cells& forbidden, const LabelSet& never_last, bool bias, bool hamming,
                      double cost)
        : examples_(reader, std::move(gold), std::move(weights), n_labels),
          learner_(build(reader, kept, checked_topology(n_labels, order),
                         checked_forbidden(checked_topology(n_labels, order), forbidden, never_last), bias,
                         hamming, cost)) {}

    double epoch(const Input<std::int64_t, 1>& order, std::int64_t batch, std::int64_t n_threads) {
        check_batch(batch, n_threads);
        const OnlineExamples examples = checked(order);
        const nb::gil_scoped_release release;
        return learner_.learn(examples, batch, n_threads);
    }
    double improve(const Input<std::int64_t, 1>& order) {
        const OnlineExamples examples = checked(order);
        const nb::gil_scoped_release release;
        return learner_.improve(examples);
    }
    nb::tuple objectives(const Input<std::int64_t, 1>& order, std::int64_t n_threads) {
        require(n_threads >= 1, "n_threads must be at least 1");
        const OnlineExamples examples = checked(order);
        const DualityGap gap = [&] {
            const nb::gil_scoped_release release;
            return learner_.gap(examples, n_threads);
        }();
        return nb::make_tuple(gap.primal(), gap.dual());
    }
    nb::tuple weights(std::int64_t n_threads) const {
        const WeightCopy copy{false, 1, 1.0};
        return nb::make_tuple(weights_by_attribute(learner_.attributes(), copy, n_threads),
                              to_array(learner_.n_grams().copied(copy)));
    }

  private:
    // Threads change the working sets of a batch, so no sequence may come twice.
    OnlineExamples checked(const Input<std::int64_t, 1>& order) const {
        const OnlineExamples examples = examples_.in(order);
        std::vector<bool> seen(static_cast<std::size_t>(examples_.reader.n_sequences()));
        for (std::int64_t i = 0; i < examples.n; ++i) {
            require(!seen[static_cast<std::size_t>(examples.order[i])],
                    "the order must hold each sequence once");
            seen[static_cast<std::size_t>(examples.order[i])] = true;
        }
        return examples;
    }
    static FrankWolfeLearner build(const AttributeReader& reader, const Input<bool, 1>& kept,
                                   const Topology& topology, const Forbidden& forbidden, bool bias,
                                   bool hamming, double cost) {
        require(static_cast<std::int64_t>(kept.shape(0)) == reader.n_ids(),
                "kept must have one value per attribute");
        require(cost > 0, "cost must be above 0");
        const std::vector<std::uint8_t> mask(kept.data(), kept.data() + kept.shape(0));
        return {topology,
                hamming,
                cost,
                forbidden,
                AttributeWeights(mask.data(), reader.n_ids(), topology.n_labels, false),
                NGramWeights(topology, bias, false),
                reader.n_sequences()};
    }

    GoldSequences examples_;
    FrankWolfeLearner learner_;
};

}  // namespace

void register_frank_wolfe(nb::module_& m) {
    nb::class_<FrankWolfeTrainer>(m, "FrankWolfeTrainer",
                                  "A structured SVM, learned by steps that raise its dual.")
        .def(nb::init<const AttributeReader&, Input<std::int32_t, 1>, Input<double, 1>, const Input<bool, 1>&,
                      std::int64_t, std::int64_t, const Cells&, const LabelSet&, bool, bool, double>(),
             nb::keep_alive<1, 2>(), nb::arg("reader"), nb::arg("gold").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("kept").noconvert(), nb::arg("n_labels"),
             nb::arg("order"), nb::arg("forbidden").noconvert(), nb::arg("never_last").noconvert(),
             nb::kw_only(), nb::arg("bias"), nb::arg("hamming"), nb::arg("cost"),
             "Minimise |w|^2 / 2 + cost * (weighted sum of the hinge losses).\n\n"
             "hamming: the loss of a path is the number of its wrong labels instead of 1; forbidden: cells "
             "of\n"
             "the transition table that no label sequence uses; never_last: labels that end none.")
        .def("epoch", &FrankWolfeTrainer::epoch, nb::arg("order").noconvert(), nb::arg("batch"),
             nb::arg("n_threads"),
             "Find the most violating path of each sequence in `order` and step; return the rise of the "
             "dual.\n\n"
             "Paths are found with the weights before each batch of sequences.")
        .def("improve", &FrankWolfeTrainer::improve, nb::arg("order").noconvert(),
             "Step with the paths found so far; return the rise of the dual.")
        .def("objectives", &FrankWolfeTrainer::objectives, nb::arg("order").noconvert(), nb::arg("n_threads"),
             "Return (primal, dual) of the sequences in `order`, which must be all that have been learned "
             "from.\n\n"
             "Their most violating paths are kept for later steps.")
        .def("weights", &FrankWolfeTrainer::weights, nb::arg("n_threads"),
             "Return ((starts, labels, weights) by attribute, n-gram weights).\n\n"
             "Weights of 0 are left out, but not those of n-grams.");
}

}  // namespace hedgerow
