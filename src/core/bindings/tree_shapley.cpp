// Shapley values of what trees test.
#include "trees/tree_shapley.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"

namespace hedgerow {
namespace {

std::pair<Array<double, 1>, double> tree_shapley(
    const Input<std::int64_t, 1>& starts, const Input<std::int32_t, 1>& if_true,
    const Input<std::int32_t, 1>& if_false, const Input<std::int32_t, 1>& players,
    const Input<double, 1>& input_share, const Input<double, 1>& training_share,
    const Input<double, 1>& leaves, std::int64_t n_players, const Input<double, 1>& weights,
    const Input<std::uint8_t, 2>& given) {
    const std::size_t n_nodes = players.shape(0);
    require(starts.shape(0) >= 1 && n_players >= 0, "starts of trees, and at least no player");
    require(if_true.shape(0) == n_nodes && if_false.shape(0) == n_nodes && input_share.shape(0) == n_nodes &&
                training_share.shape(0) == n_nodes && leaves.shape(0) == n_nodes,
            "arrays with an entry for each node");
    require(given.shape(1) == weights.shape(0), "a weight for each case");
    const PlayerTrees trees{.n_trees = static_cast<std::int64_t>(starts.shape(0)) - 1,
                            .n_players = n_players,
                            .starts = starts.data(),
                            .if_true = if_true.data(),
                            .if_false = if_false.data(),
                            .players = players.data(),
                            .input_share = input_share.data(),
                            .training_share = training_share.data(),
                            .n_cases = static_cast<std::int64_t>(weights.shape(0)),
                            .weights = weights.data(),
                            .given = given.data()};
    check_players(trees, static_cast<std::int64_t>(n_nodes), static_cast<std::int64_t>(given.shape(0)));
    const Output<double, 1> values({static_cast<std::size_t>(n_players)});
    std::fill(values.data(), values.data() + n_players, 0.0);
    double without_players = 0;
    {
        const nb::gil_scoped_release release;
        without_players = add_shapley_values(trees, leaves.data(), values.data());
    }
    return {values.array(), without_players};
}

}  // namespace

void register_tree_shapley(nb::module_& m) {
    m.def(
        "tree_shapley", &tree_shapley, nb::arg("starts"), nb::arg("if_true"), nb::arg("if_false"),
        nb::arg("players"), nb::arg("input_share"), nb::arg("training_share"), nb::arg("leaves"),
        nb::arg("n_players"), nb::arg("weights"), nb::arg("given"),
        "(Shapley value of each player, value of the trees without players), summed over cases with weights. "
        "Player -2 is a leaf; -1 is a test whose outcome is given: a row of `given` has it for each case.");
}

}  // namespace hedgerow
