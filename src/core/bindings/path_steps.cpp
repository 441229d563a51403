// Passive-aggressive learning and AROW: checks arguments, works without the GIL.
#include "linear/path_steps.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/gold_sequences.hpp"
#include "bindings/linear_features.hpp"
#include "lattice/topology.hpp"

namespace hedgerow {
namespace {

class PathStepTrainer {
  public:
    PathStepTrainer(const AttributeReader& reader, const LinearFeatures& features,
                    Input<std::int32_t, 1> gold, Input<double, 1> weights,
                    const Input<std::int64_t, 1>& cells, double loss_power, double slack, double largest_step,
                    double variance, bool shrinks, bool averaged)
        : examples_(reader, std::move(gold), std::move(weights), features.features().width),
          learner_(build(reader, features, cells, {loss_power, slack, largest_step, shrinks}, variance,
                         averaged)) {}

    nb::tuple epoch(const Input<std::int64_t, 1>& order) {
        std::int64_t mistakes = 0;
        double sum = 0;
        const Slots slots = examples_.reader.slots();
        examples_.each(order,
                       [&](std::int64_t begin, std::int64_t end, const std::int32_t* gold, double weight) {
                           const double cost = learner_.learn(slots, begin, end, gold, weight);
                           mistakes += cost != 0;
                           sum += weight * cost;
                       });
        return nb::make_tuple(mistakes, sum);
    }

    void stay(std::int64_t n) {
        require(n >= 0, "n must be at least 0");
        learner_.stay(n);
    }

    Array<double, 1> weights() const {
        Output<double, 1> weights({static_cast<std::size_t>(learner_.n_weights())});
        learner_.copy_weights(weights.data());
        return weights.array();
    }

  private:
    static PathStepLearner build(const AttributeReader& reader, const LinearFeatures& features,
                                 const Input<std::int64_t, 1>& cells, const PathStepRules& rules,
                                 double variance, bool averaged) {
        features.check(reader);
        require(rules.loss_power >= 0 && rules.slack >= 0 && rules.largest_step > 0 && variance > 0,
                "largest_step and variance must be above 0, and loss_power and slack at least 0");
        require(!rules.shrinks || rules.slack > 0, "variances that shrink need a slack above 0");
        const std::int64_t k = features.features().width;
        require(Topology{k, 1}.is_manageable(), "n_labels^2 must be below 2^40");
        for (std::size_t i = 0; i < cells.shape(0); ++i)
            require(cells.data()[i] >= k && cells.data()[i] < (k + 1) * k, "cells must be pairs of labels");
        return {features.features(), std::vector<std::int64_t>(cells.data(), cells.data() + cells.shape(0)),
                rules, variance, averaged};
    }

    GoldSequences examples_;
    PathStepLearner learner_;
};

}  // namespace

void register_path_steps(nb::module_& m) {
    nb::class_<PathStepTrainer>(m, "PathStepTrainer",
                                "Passive-aggressive learning and AROW, one sequence at a time.")
        .def(nb::init<const AttributeReader&, const LinearFeatures&, Input<std::int32_t, 1>, Input<double, 1>,
                      const Input<std::int64_t, 1>&, double, double, double, double, bool, bool>(),
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg("reader"), nb::arg("features"),
             nb::arg("gold").noconvert(), nb::arg("weights").noconvert(), nb::arg("cells").noconvert(),
             nb::kw_only(), nb::arg("loss_power"), nb::arg("slack"), nb::arg("largest_step"),
             nb::arg("variance"), nb::arg("shrinks"), nb::arg("averaged"),
             "cells: the pairs of labels with a weight, as cells of the transition table of order 1.\n\n"
             "A wrong path costs the number of its wrong labels to the power loss_power, plus its lead over\n"
             "gold. A step is the cost / (slack + the sum of variances times squared differences), at most\n"
             "largest_step. shrinks: variances shrink with each step, as in AROW; averaged: weights are the\n"
             "mean over all sequences so far.")
        .def("epoch", &PathStepTrainer::epoch, nb::arg("order").noconvert(),
             "Learn from the sequences in `order`.\n\n"
             "Returns (number of sequences with a wrong path, weighted sum of costs).")
        .def("stay", &PathStepTrainer::stay, nb::arg("n"), "Count n more sequences without a wrong path.")
        .def("weights", &PathStepTrainer::weights, "Return the weights of the features, then of the cells.");
}

}  // namespace hedgerow
