// Dual coordinate ascent: checks arguments, works without the GIL.
#include "linear/dual_ascent.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/attribute_reader.hpp"
#include "bindings/errors.hpp"
#include "bindings/gold_sequences.hpp"
#include "bindings/linear_features.hpp"

namespace hedgerow {
namespace {

using Cells = Input<std::int64_t, 1>;

class DualTrainer {
  public:
    DualTrainer(const AttributeReader& reader, Input<std::int32_t, 1> gold, Input<double, 1> weights,
                const Input<std::int64_t, 1>& sequences, const LinearFeatures& features, const Cells& cells,
                std::int64_t order, const Cells& forbidden, const Input<std::int32_t, 1>& never_last,
                double l1, double l2, double pull, std::int64_t n_batches)
        : examples_(reader, std::move(gold), std::move(weights), features.features().width),
          features_(features),
          n_weights_(static_cast<std::size_t>(features.features().n()) + cells.shape(0)),
          ascent_(build(sequences, cells, order, forbidden, never_last, {l1, l2, pull}, n_batches)) {}

    double sweep(const Input<std::int64_t, 1>& order, double caution, std::int64_t n_threads) {
        require(caution > 0 && caution <= 1, "caution must be above 0 and at most 1");
        require(n_threads >= 1, "n_threads must be at least 1");
        for (std::size_t i = 0; i < order.shape(0); ++i)
            require(order.data()[i] >= 0 && order.data()[i] < ascent_.n_batches(),
                    "the order must hold numbers of batches");
        const nb::gil_scoped_release release;
        return ascent_.sweep(order.data(), static_cast<std::int64_t>(order.shape(0)), caution, n_threads);
    }
    void move_centre() {
        const nb::gil_scoped_release release;
        ascent_.move_centre();
    }
    Array<double, 1> weights() const {
        Output<double, 1> out({n_weights_});
        ascent_.weights(out.data());
        return out.array();
    }

  private:
    DualAscent build(const Input<std::int64_t, 1>& sequences, const Cells& cells, std::int64_t order,
                     const Cells& forbidden, const Input<std::int32_t, 1>& never_last, const DualRules& rules,
                     std::int64_t n_batches) {
        features_.check(examples_.reader);
        const Features features = features_.features();
        require(order >= 0 && Topology{features.width, order}.is_manageable(),
                "order must be at least 0, and n_labels^(order + 1) below 2^40");
        const Topology topology{features.width, order};
        const std::int64_t n_cells = topology.n_rows() * topology.n_labels;
        for (std::size_t i = 0; i < cells.shape(0); ++i)
            require(cells.data()[i] >= 0 && cells.data()[i] < n_cells, "cells must lie in the table");
        Forbidden rule{{forbidden.data(), forbidden.data() + forbidden.shape(0)},
                       {never_last.data(), never_last.data() + never_last.shape(0)}};
        require(!rule.any() || order >= 1, "constraints need an order of at least 1");
        for (const std::int64_t cell : rule.cells)
            require(cell >= 0 && cell < n_cells, "forbidden must be cells of the table");
        for (const std::int32_t label : rule.never_last)
            require(label >= 0 && label < topology.n_labels, "never_last must be labels");
        for (std::size_t i = 0; i < sequences.shape(0); ++i)
            require(sequences.data()[i] >= 0 && sequences.data()[i] < examples_.reader.n_sequences(),
                    "sequences must be indices of sequences");
        for (std::size_t i = 0; i < examples_.weights.shape(0); ++i)
            require(examples_.weights.data()[i] >= 0, "weights must be at least 0");
        require(rules.l1 >= 0 && rules.l2 >= 0 && rules.pull >= 0 && rules.l2 + rules.pull > 0,
                "l1, l2 and pull must be at least 0, and l2 + pull above 0");
        require(n_batches >= 1 && n_batches < (std::int64_t{1} << 31), "n_batches must be at least 1");
        require(examples_.reader.n_positions() < (std::int64_t{1} << 31) / 64 &&
                    features.n() < (std::int64_t{1} << 31),
                "there are too many positions or features");
        return {examples_.reader.view(),
                features,
                topology,
                std::vector<std::int64_t>(cells.data(), cells.data() + cells.shape(0)),
                std::move(rule),
                examples_.gold.data(),
                examples_.weights.data(),
                std::vector<std::int64_t>(sequences.data(), sequences.data() + sequences.shape(0)),
                rules,
                n_batches};
    }

    GoldSequences examples_;
    LinearFeatures features_;
    std::size_t n_weights_;
    DualAscent ascent_;
};

}  // namespace

void register_dual_ascent(nb::module_& m) {
    nb::class_<DualTrainer>(m, "DualTrainer", "Dual coordinate ascent on the penalised log-likelihood.")
        .def(nb::init<const AttributeReader&, Input<std::int32_t, 1>, Input<double, 1>, const Cells&,
                      const LinearFeatures&, const Cells&, std::int64_t, const Cells&,
                      const Input<std::int32_t, 1>&, double, double, double, std::int64_t>(),
             nb::keep_alive<1, 2>(), nb::arg("reader"), nb::arg("gold").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("sequences").noconvert(), nb::arg("features"),
             nb::arg("cells").noconvert(), nb::arg("order"), nb::arg("forbidden").noconvert(),
             nb::arg("never_last").noconvert(), nb::kw_only(), nb::arg("l1"), nb::arg("l2"), nb::arg("pull"),
             nb::arg("n_batches"),
             "sequences: those to learn from, dealt out to the batches in turn; cells: the n-grams with a "
             "weight, as cells of the transition table; forbidden: cells that no\n"
             "label sequence uses; never_last: labels that end none; pull: an L2 penalty on the distance of\n"
             "the weights from a centre.")
        .def("sweep", &DualTrainer::sweep, nb::arg("order").noconvert(), nb::arg("caution"),
             nb::arg("n_threads"),
             "Visit the batches in `order`; return the mean step, between 0 and 1.\n\n"
             "caution: a factor of each step.")
        .def("move_centre", &DualTrainer::move_centre, "Move the centre to the weights.")
        .def("weights", &DualTrainer::weights, "Return the weights of features, then of cells.");
}

}  // namespace hedgerow
