// Shapley values of what trees test, for one input (path-dependent, as in TreeSHAP).
//
// A player is what the tests of some nodes read, such as a column at an offset. A tree whose players S are
// present and whose other players are absent has the value
//
//     sum over leaves of v * product over i in S of o_i * product over i not in S of z_i
//
// where the products run over the players on the path to the leaf. o_i is the share of the input that follows
// the tests of i along the path: 1 or 0, or a fraction where a value is missing. z_i is the share of the
// training positions that follow them. The Shapley value of i adds up, over the leaves,
//
//     v (o_i - z_i) * integral over s from 0 to 1 of product over j != i of (o_j s + z_j (1 - s))
//
// because the integral of s^k (1 - s)^(m - 1 - k) is the weight of a set of k of the m - 1 other players. The
// integrand is a polynomial of degree m - 1, so m / 2 nodes of Gauss and Legendre integrate it exactly.
//
// Some tests have no player: their outcomes are given, for several cases with weights. Values are linear in
// v, so the sum over the cases is one pass, in which v is multiplied by the weights of the cases that come to
// its leaf.
#pragma once

#include <cstdint>

namespace hedgerow {

constexpr std::int32_t kLeaf = -2;   // the player of a leaf
constexpr std::int32_t kFixed = -1;  // the player of a test whose outcome is given

// Trees end to end, as in tree_records.hpp; all arrays are by node, except `starts`.
struct PlayerTrees {
    std::int64_t n_trees, n_players;
    const std::int64_t* starts;  // n_trees + 1
    const std::int32_t *if_true, *if_false, *players;
    const double* input_share;     // of the input that goes to if_true
    const double* training_share;  // of the training positions that go to if_true
    std::int64_t n_cases;
    const double* weights;      // n_cases
    const std::uint8_t* given;  // (kFixed nodes in order, n_cases): whether the test holds
};

// Throws std::invalid_argument unless nodes have players, and children that come after them in their tree,
// and `n_given` of them have a given outcome.
void check_players(const PlayerTrees& trees, std::int64_t n_nodes, std::int64_t n_given);

// Adds the Shapley values of all trees to values (players) and returns the value of the trees without any
// player. `leaves` has the value of each node that is a leaf.
double add_shapley_values(const PlayerTrees& trees, const double* leaves, double* values);

}  // namespace hedgerow
