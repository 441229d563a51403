#include "trees/tree_shapley.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "util/gauss_legendre.hpp"
#include "util/require.hpp"

namespace hedgerow {
namespace {

// The paths of one tree after the other, with the shares of each player along the path.
class Paths {
  public:
    explicit Paths(const PlayerTrees& trees)
        : trees_(trees),
          input_(static_cast<std::size_t>(trees.n_players), 1.0),
          training_(static_cast<std::size_t>(trees.n_players), 1.0),
          given_(static_cast<std::size_t>(trees.starts[trees.n_trees])),
          cases_(trees.weights, trees.weights + trees.n_cases) {
        const std::uint8_t* row = trees.given;
        for (std::size_t node = 0; node < given_.size(); ++node)
            if (trees.players[node] == kFixed) given_[node] = std::exchange(row, row + trees.n_cases);
    }

    // Calls at_leaf(node) at each leaf of tree i that some set of players can reach in some case.
    template <class AtLeaf>
    void visit(std::int64_t i, const AtLeaf& at_leaf) {
        const std::int64_t root = trees_.starts[i];
        steps_.clear();
        steps_.push_back({root, 0, false, 1, 1});
        while (!steps_.empty()) {
            Step& step = steps_.back();
            if (trees_.players[step.node] == kLeaf) {
                at_leaf(step.node);
                steps_.pop_back();
                continue;
            }
            if (step.n_tried > 0) restore(step);
            if (step.n_tried == 2) {
                steps_.pop_back();
                continue;
            }
            const bool if_true = step.n_tried++ == 0;
            const std::int64_t node = step.node;
            if (enter(step, if_true)) {
                const std::int32_t child = if_true ? trees_.if_true[node] : trees_.if_false[node];
                steps_.push_back({root + child, 0, false, 1, 1});
            }
        }
    }

    const std::vector<std::int32_t>& players() const { return players_; }  // of the path, each once
    double input(std::int32_t player) const { return input_[player]; }
    double training(std::int32_t player) const { return training_[player]; }
    // The weights of the cases that come to the end of the path.
    double weight() const { return std::accumulate(cases_.end() - trees_.n_cases, cases_.end(), 0.0); }

  private:
    struct Step {
        std::int64_t node;
        int n_tried;                           // children
        bool is_new;                           // the child tried last added its player to the path
        double input_before, training_before;  // shares of the player, to be restored
    };

    // Adds the weights of the cases that come to a side, 0 for the others; whether any does.
    bool enter_given(std::int64_t node, bool if_true) {
        const std::size_t before = cases_.size() - static_cast<std::size_t>(trees_.n_cases);
        bool any = false;
        for (std::int64_t c = 0; c < trees_.n_cases; ++c) {
            const double weight = cases_[before + static_cast<std::size_t>(c)];
            const bool comes = (given_[node][c] != 0) == if_true && weight != 0;
            cases_.push_back(comes ? weight : 0.0);
            any |= comes;
        }
        return any;
    }

    // Multiplies the shares by those of a side; whether any input or training position goes there.
    bool enter(Step& step, bool if_true) {
        const std::int32_t player = trees_.players[step.node];
        if (player == kFixed) return enter_given(step.node, if_true);
        const double to_true = trees_.input_share[step.node];
        const double input = if_true ? to_true : 1 - to_true;
        const double training =
            if_true ? trees_.training_share[step.node] : 1 - trees_.training_share[step.node];
        step.input_before = input_[player];
        step.training_before = training_[player];
        step.is_new = std::ranges::find(players_, player) == players_.end();
        if (step.is_new) players_.push_back(player);
        input_[player] *= input;
        training_[player] *= training;
        return input_[player] > 0 || training_[player] > 0;
    }

    void restore(const Step& step) {
        const std::int32_t player = trees_.players[step.node];
        if (player == kFixed) {
            cases_.resize(cases_.size() - static_cast<std::size_t>(trees_.n_cases));
            return;
        }
        input_[player] = step.input_before;
        training_[player] = step.training_before;
        if (step.is_new) players_.pop_back();
    }

    const PlayerTrees& trees_;
    std::vector<double> input_, training_;  // by player
    std::vector<std::int32_t> players_;
    std::vector<const std::uint8_t*> given_;  // by node: whether its test holds, by case
    std::vector<double> cases_;  // their weights, at the root and after each given outcome of the path
    std::vector<Step> steps_;
};

}  // namespace

void check_players(const PlayerTrees& trees, std::int64_t n_nodes, std::int64_t n_given) {
    require(trees.starts[0] == 0 && trees.starts[trees.n_trees] == n_nodes,
            "starts of trees rise from 0 to the number of nodes");
    std::int64_t n_found = 0;
    for (std::int64_t i = 0; i < trees.n_trees; ++i) {
        const std::int64_t first = trees.starts[i], end = trees.starts[i + 1];
        require(first < end && end <= n_nodes, "every tree has a node");
        for (std::int64_t node = first; node < end; ++node) {
            const std::int32_t player = trees.players[node];
            require(player >= kLeaf && player < trees.n_players, "players are below n_players");
            if (player == kLeaf) continue;
            for (const std::int32_t child : {trees.if_true[node], trees.if_false[node]})
                require(child > node - first && child < end - first, "children come after their parent");
            for (const double share : {trees.input_share[node], trees.training_share[node]})
                require(share >= 0 && share <= 1, "shares are from 0 to 1");
            n_found += player == kFixed;
        }
    }
    require(n_found == n_given, "a row for each node whose outcome is given");
}

double add_shapley_values(const PlayerTrees& trees, const double* leaves, double* values) {
    Paths paths(trees);
    std::vector<Quadrature> rules;  // by number of nodes
    std::vector<double> product;
    double without_players = 0;
    for (std::int64_t i = 0; i < trees.n_trees; ++i) {
        paths.visit(i, [&](std::int64_t leaf) {
            const std::vector<std::int32_t>& players = paths.players();
            const std::size_t n = (players.size() + 1) / 2;
            while (rules.size() <= n)
                rules.push_back(gauss_legendre(static_cast<std::int64_t>(rules.size())));
            const Quadrature& rule = rules[n];
            const auto factor = [&](std::int32_t player, std::size_t q) {
                return paths.input(player) * rule.nodes[q] + paths.training(player) * (1 - rule.nodes[q]);
            };
            product = rule.weights;
            const double value = leaves[leaf] * paths.weight();
            double expected = value;
            for (const std::int32_t player : players) {
                expected *= paths.training(player);
                for (std::size_t q = 0; q < n; ++q) product[q] *= factor(player, q);
            }
            without_players += expected;
            for (const std::int32_t player : players) {
                double others = 0;
                for (std::size_t q = 0; q < n; ++q) others += product[q] / factor(player, q);
                values[player] += value * (paths.input(player) - paths.training(player)) * others;
            }
        });
    }
    return without_players;
}

}  // namespace hedgerow
