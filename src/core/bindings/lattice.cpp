// Lattices of many sequences: checks every shape, allocates the results, and calls the core without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "lattice/evidence_sums.hpp"
#include "lattice/fast_lane.hpp"
#include "lattice/find_paths.hpp"
#include "lattice/pair_sums.hpp"
#include "lattice/path_statistics.hpp"
#include "lattice/path_sums.hpp"
#include "lattice/pseudo_sums.hpp"

namespace hedgerow {
namespace {

using Starts = Input<std::int64_t, 1>;
using Labels = Input<std::int32_t, 1>;

template <class Array>
auto data_or_null(const std::optional<Array>& array) {
    return array ? array->data() : nullptr;
}

// The arrays of a batch of lattices.
template <class Real>
struct Batch {
    Topology topology;
    Starts starts;
    std::optional<Input<Real, 2>> state;
    std::optional<Input<Real, 3>> edge;
    std::optional<Input<Real, 2>> table;
    double beam;
    std::optional<Labels> keep;
    std::int64_t n_threads;
    bool general;

    // Sizes of results.
    std::size_t n_sequences() const { return starts.shape(0) - 1; }
    std::size_t n_positions() const { return static_cast<std::size_t>(starts.data()[n_sequences()]); }
    std::size_t n_labels() const { return static_cast<std::size_t>(topology.n_labels); }
    std::size_t n_label_contexts() const { return static_cast<std::size_t>(topology.n_label_contexts()); }
    std::size_t n_rows() const { return static_cast<std::size_t>(topology.n_rows()); }

    // Checked again at every use: Python may have written to the arrays since.
    LatticeBatch<Real> checked() const {
        require(topology.n_labels >= 1 && topology.order >= 0 && n_threads >= 1,
                "n_labels and n_threads are at least 1, order at least 0");
        require(Beam::is_valid(beam), "beam is a whole number, or a bound below 1");
        require(topology.is_manageable(), "n_labels^(order + 1) must be below 2^40");
        check_starts();
        check_scores();
        if (keep) {
            check_labels(*keep, -1, "keep has one label for each position",
                         "labels to keep are below n_labels, or -1 for none");
        }
        return {topology,
                static_cast<std::int64_t>(n_sequences()),
                starts.data(),
                data_or_null(state),
                data_or_null(edge),
                data_or_null(table),
                beam,
                data_or_null(keep),
                n_threads,
                general};
    }

    void check_starts() const {
        require(starts.shape(0) >= 1 && starts.data()[0] == 0, "starts begins with 0");
        for (std::size_t i = 0; i < n_sequences(); ++i)
            require(starts.data()[i] < starts.data()[i + 1], "every sequence has a position");
    }

    void check_scores() const {
        if (state) {
            require(state->shape(0) == n_positions() && state->shape(1) == n_labels(),
                    "state is (positions, labels)");
        }
        if (edge) {
            require(edge->shape(0) == n_positions() && edge->shape(1) == n_label_contexts() &&
                        edge->shape(2) == n_labels(),
                    "edge is (positions, labels^order, labels)");
        }
        if (table) {
            require(table->shape(0) == n_rows() && table->shape(1) == n_labels(),
                    "table is (label contexts of every length up to order, labels)");
        }
    }

    void check_labels(const Labels& labels, std::int32_t lowest, const char* size_rule,
                      const char* range_rule) const {
        require(labels.shape(0) == n_positions(), size_rule);
        for (std::size_t t = 0; t < n_positions(); ++t)
            require(labels.data()[t] >= lowest && labels.data()[t] < topology.n_labels, range_rule);
    }
};

template <class Real>
nb::tuple sum_over_paths_of(const Batch<Real>& batch, bool want_state, bool want_pair) {
    const LatticeBatch<Real> lattices = batch.checked();
    Output<double, 1> log_z({batch.n_sequences()});
    std::optional<Output<Real, 2>> state;
    std::optional<Output<Real, 3>> pair;
    if (want_state) state.emplace(std::array{batch.n_positions(), batch.n_labels()});
    if (want_pair) pair.emplace(std::array{batch.n_positions(), batch.n_label_contexts(), batch.n_labels()});
    {
        const nb::gil_scoped_release release;
        sum_over_paths(lattices, log_z.data(), data_or_null(state), data_or_null(pair));
    }
    return nb::make_tuple(log_z.array(), state ? nb::cast(state->array()) : nb::none(),
                          pair ? nb::cast(pair->array()) : nb::none());
}

template <class Real>
nb::tuple sum_pairs_of(const Batch<Real>& batch, const std::optional<Input<double, 1>>& weights, double unit,
                       const std::optional<Input<std::int64_t, 1>>& cells) {
    const LatticeBatch<Real> lattices = batch.checked();
    require(!weights || weights->shape(0) == batch.n_sequences(), "weights has one number for each sequence");
    Output<double, 1> log_z({batch.n_sequences()});
    Output<Real, 2> state({batch.n_positions(), batch.n_labels()});
    Output<double, 2> table({batch.n_rows(), batch.n_labels()});
    const auto n_cells = static_cast<std::int64_t>(cells ? cells->shape(0) : 0);
    const TableCells listed{data_or_null(cells), n_cells};
    for (std::int64_t i = 0; i < n_cells; ++i)
        require(cells->data()[i] >= 0 && cells->data()[i] < lattices.table_size(),
                "cells are those of the table");
    {
        const nb::gil_scoped_release release;
        sum_pairs(lattices, data_or_null(weights), unit, cells ? &listed : nullptr, log_z.data(),
                  state.data(), table.data());
    }
    return nb::make_tuple(log_z.array(), state.array(), table.array());
}

template <class Real>
nb::tuple best_path_of(const Batch<Real>& batch) {
    const LatticeBatch<Real> lattices = batch.checked();
    Output<double, 1> score({batch.n_sequences()});
    Output<std::int32_t, 1> labels({batch.n_positions()});
    {
        const nb::gil_scoped_release release;
        best_path(lattices, score.data(), labels.data());
    }
    return nb::make_tuple(score.array(), labels.array());
}

template <class Real>
nb::tuple best_paths_of(const Batch<Real>& batch, std::int64_t n) {
    const LatticeBatch<Real> lattices = batch.checked();
    require(n >= 1, "n is at least 1");
    Output<double, 2> score({batch.n_sequences(), static_cast<std::size_t>(n)});
    Output<std::int32_t, 2> labels({static_cast<std::size_t>(n), batch.n_positions()});
    {
        const nb::gil_scoped_release release;
        best_paths(lattices, n, score.data(), labels.data());
    }
    return nb::make_tuple(score.array(), labels.array());
}

template <class Real>
nb::tuple sample_paths_of(const Batch<Real>& batch, std::int64_t n, std::uint64_t seed) {
    const LatticeBatch<Real> lattices = batch.checked();
    require(n >= 1, "n is at least 1");
    Output<double, 1> log_z({batch.n_sequences()});
    Output<std::int32_t, 2> labels({static_cast<std::size_t>(n), batch.n_positions()});
    {
        const nb::gil_scoped_release release;
        sample_paths(lattices, n, seed, log_z.data(), labels.data());
    }
    return nb::make_tuple(log_z.array(), labels.array());
}

// Calls compute(lattices, result), where the result is one number for each sequence.
template <class Real, class Compute>
nb::object number_by_sequence(const Batch<Real>& batch, Compute compute) {
    const LatticeBatch<Real> lattices = batch.checked();
    Output<double, 1> result({batch.n_sequences()});
    {
        const nb::gil_scoped_release release;
        compute(lattices, result.data());
    }
    return nb::cast(result.array());
}

template <class Real>
nb::object path_entropy_of(const Batch<Real>& batch) {
    return number_by_sequence(batch, &path_entropy<Real>);
}

template <class Real>
nb::object log_path_count_of(const Batch<Real>& batch) {
    return number_by_sequence(batch, &log_path_count<Real>);
}

template <class Real>
nb::object path_score_of(const Batch<Real>& batch, const Labels& labels) {
    batch.checked();
    batch.check_labels(labels, 0, "labels has one label for each position", "labels are below n_labels");
    return number_by_sequence(batch, [&](const LatticeBatch<Real>& lattices, double* score) {
        path_scores(lattices, labels.data(), score);
    });
}

template <class Real>
nb::tuple pseudo_sums_of(const Batch<Real>& batch, const Labels& gold,
                         const std::optional<Input<bool, 2>>& allowed, const Input<double, 1>& weights,
                         double unit) {
    const LatticeBatch<Real> lattices = batch.checked();
    batch.check_labels(gold, 0, "gold has one label for each position", "gold labels are below n_labels");
    require(!allowed || (allowed->shape(0) == batch.n_positions() && allowed->shape(1) == batch.n_labels()),
            "allowed is (positions, labels)");
    require(weights.shape(0) == batch.n_sequences(), "weights has one number for each sequence");
    require(unit >= 0, "unit must be at least 0");
    Output<double, 1> log_likelihood({batch.n_sequences()});
    const std::size_t n_contexts = batch.edge ? batch.n_label_contexts() : 1;
    Output<float, 3> marginals({batch.n_positions(), n_contexts, batch.n_labels()});
    std::optional<Output<double, 2>> table;
    if (batch.table) table.emplace(std::array{batch.n_rows(), batch.n_labels()});
    {
        const nb::gil_scoped_release release;
        pseudo_sums(lattices, {gold.data(), data_or_null(allowed), weights.data(), unit},
                    {log_likelihood.data(), marginals.data(), data_or_null(table)});
    }
    return nb::make_tuple(log_likelihood.array(), marginals.array(),
                          table ? nb::cast(table->array()) : nb::none());
}

template <class Real>
nb::tuple evidence_sums_of(const Batch<Real>& batch, const Labels& gold) {
    const LatticeBatch<Real> lattices = batch.checked();
    require(batch.topology.order == 1 && batch.beam == 0, "virtual evidence needs order 1 and no beam");
    batch.check_labels(gold, 0, "gold has one label for each position", "gold labels are below n_labels");
    Output<double, 1> log_likelihood({batch.n_sequences()});
    Output<float, 3> marginals({batch.n_positions(), batch.n_labels(), batch.n_labels()});
    {
        const nb::gil_scoped_release release;
        evidence_sums(lattices, gold.data(), {log_likelihood.data(), marginals.data()});
    }
    return nb::make_tuple(log_likelihood.array(), marginals.array());
}

template <class Real>
void register_batch(nb::module_& m, const char* name) {
    using B = Batch<Real>;
    nb::class_<B>(m, name)
        .def(
            "__init__",
            [](B* self, std::int64_t n_labels, std::int64_t order, Starts starts,
               std::optional<Input<Real, 2>> state, std::optional<Input<Real, 3>> edge,
               std::optional<Input<Real, 2>> table, double beam, std::optional<Labels> keep,
               std::int64_t n_threads, bool general) {
                const B batch{{n_labels, order}, starts, state, edge, table, beam, keep, n_threads, general};
                batch.checked();
                new (self) B(batch);
            },
            nb::arg("n_labels"), nb::arg("order"), nb::arg("starts"), nb::arg("state").none(),
            nb::arg("edge").none(), nb::arg("table").none(), nb::arg("beam"), nb::arg("keep").none(),
            nb::arg("n_threads"), nb::arg("general"),
            "Scores of a batch of sequences. beam=0 keeps every node; one below 1 is a bound on the "
            "divergence.")
        .def("sum_over_paths", &sum_over_paths_of<Real>, nb::arg("want_state"), nb::arg("want_pair"),
             "(log Z, state marginals or None, pair marginals or None)")
        .def("sum_pairs", &sum_pairs_of<Real>, nb::arg("weights").none(), nb::arg("unit"),
             nb::arg("cells").none(),
             "(log Z, state marginals, pair marginals summed over positions by row of the table)\n\n"
             "What is added is rounded to multiples of the unit, a power of two; 0 rounds nothing.\n"
             "Of cells that are not listed only the sum of each label is defined.")
        .def("pseudo_sums", &pseudo_sums_of<Real>, nb::arg("gold"), nb::arg("allowed").none(),
             nb::arg("weights"), nb::arg("unit"),
             "(log pseudo-likelihood, gold minus its derivative by edge or state score, the same summed by\n"
             "row of the table or None)\n\n"
             "allowed: labels that the probability of a position is over. Terms of the table are rounded to\n"
             "multiples of the unit, a power of two.")
        .def("evidence_sums", &evidence_sums_of<Real>, nb::arg("gold"),
             "(log-likelihood of the labels under virtual evidence, gold minus its derivative by pair of\n"
             "labels)")
        .def("best_path", &best_path_of<Real>, "(scores, labels)")
        .def("best_paths", &best_paths_of<Real>, nb::arg("n"),
             "(scores by sequence and rank, labels by rank)")
        .def("sample_paths", &sample_paths_of<Real>, nb::arg("n"), nb::arg("seed"),
             "(log Z, labels by sample)")
        .def("path_entropy", &path_entropy_of<Real>,
             "Entropy of the distribution over each sequence's paths, in nats.")
        .def("log_path_count", &log_path_count_of<Real>,
             "Log of the number of each sequence's allowed paths.")
        .def("path_score", &path_score_of<Real>, nb::arg("labels"),
             "Score of the given path of each sequence.");
}

template <class Real>
void add_pairs_by_row_of(std::int64_t n_labels, std::int64_t order, const Starts& starts,
                         const Input<Real, 3>& pair, const Input<double, 1>& weights, double unit,
                         InOut<double, 2> table) {
    require(n_labels >= 1 && order >= 0, "n_labels must be at least 1, and order at least 0");
    const Topology topology{n_labels, order};
    require(topology.is_manageable(), "n_labels^(order + 1) must be below 2^40");
    const auto n = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(n >= 0 && starts.data()[0] == 0 && starts.data()[n] == static_cast<std::int64_t>(pair.shape(0)) &&
                static_cast<std::int64_t>(weights.shape(0)) == n,
            "starts must divide the positions among the sequences, which have one weight each");
    for (std::int64_t i = 0; i < n; ++i)
        require(starts.data()[i] <= starts.data()[i + 1], "starts must not fall");
    require(static_cast<std::int64_t>(pair.shape(1)) == topology.n_label_contexts() &&
                static_cast<std::int64_t>(pair.shape(2)) == n_labels &&
                static_cast<std::int64_t>(table.shape(0)) == topology.n_rows() &&
                static_cast<std::int64_t>(table.shape(1)) == n_labels,
            "pair is (positions, label contexts, labels), and table (rows, labels)");
    double* to = table.data();
    const nb::gil_scoped_release release;
    add_pairs_by_row(topology, starts.data(), n, pair.data(), weights.data(), unit, to);
}

template <class Real>
void register_pair_sums(nb::module_& m) {
    m.def("add_pairs_by_row", &add_pairs_by_row_of<Real>, nb::arg("n_labels"), nb::arg("order"),
          nb::arg("starts").noconvert(), nb::arg("pair").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("unit"), nb::arg("table").noconvert(),
          "Add pair marginals, times the weights of the sequences, to the rows of a transition table.\n\n"
          "Each product is rounded to a multiple of the unit, a power of two; 0 rounds nothing.");
}

}  // namespace

void register_lattice(nb::module_& m) {
    register_pair_sums<float>(m);
    register_pair_sums<double>(m);
    register_batch<float>(m, "LatticeBatch32");
    register_batch<double>(m, "LatticeBatch64");
    m.def(
        "instruction_sets",
        [] {
            std::vector<std::string> names;
            for (const char* const* name = instruction_sets(); *name; ++name) names.emplace_back(*name);
            return names;
        },
        "Names of the vector instruction sets of this processor, best first.");
    m.def(
        "instruction_set", [] { return std::string(instruction_set()); },
        "Name of the instruction set in use.");
    m.def(
        "use_instruction_set",
        [](const std::string& name) {
            require(use_instruction_set(name.c_str()), "name is not one of instruction_sets()");
        },
        nb::arg("name"), "Use another instruction set, for tests and benchmarks.");
}

}  // namespace hedgerow
