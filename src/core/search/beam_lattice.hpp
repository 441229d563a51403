// The hypotheses of a beam search as a lattice. Each hypothesis is a node. There is an edge from a hypothesis
// to one of the next step wherever their label contexts agree, even if the search recombined that path into a
// better one. The best path is the one of the search; sums and n-best lists go over all paths.
#pragma once

#include <cstdint>
#include <vector>

#include "lattice/semiring.hpp"
#include "search/beam_search.hpp"

namespace hedgerow {

// state(step): the label scores of a step. All scores are divided by the temperature.
template <class Semiring, class State>
class BeamLattice {
    using Score = typename Semiring::Score;

  public:
    BeamLattice(const SparseNGramWeights& n_grams, const BeamSearch& search, Semiring& semiring,
                double temperature, State state)
        : n_grams_(n_grams), search_(search), semiring_(semiring), temperature_(temperature), state_(state) {}

    // Returns ⊕ over all paths.
    double forward() {
        semiring_.clear();
        semiring_.push_one();
        for (std::int64_t n = 1; n <= search_.n_steps(); ++n) {
            for (std::int64_t i = search_.from(n); i < search_.to(n); ++i) {
                incoming(n, i);
                semiring_.push_sum(edges_);
            }
            semiring_.shift(search_.from(n));
        }
        goal_edges();
        semiring_.push_sum(edges_);
        return semiring_.result();
    }

    std::int64_t goal() const { return search_.to(search_.n_steps()); }

    // The reverse sweep, after forward(): distributes `weight` from the goal over the nodes. Calls
    // visit(step, label, weight) for every node with a weight other than 0.
    template <class Visit>
    void reverse(double weight, Visit visit) {
        weights_.assign(static_cast<std::size_t>(goal()), 0.0);
        const auto give = [&](const Edge<Score>& edge, double w) { weights_[edge.source] += w; };
        goal_edges();
        semiring_.hand_back(goal(), weight, edges_, give);
        for (std::int64_t n = search_.n_steps(); n > 0; --n) {
            for (std::int64_t i = search_.from(n); i < search_.to(n); ++i) {
                if (weights_[i] == 0) continue;
                visit(n - 1, search_.at(i).label, weights_[i]);
                incoming(n, i);
                semiring_.hand_back(i, weights_[i], edges_, give);
            }
        }
    }

  private:
    // The edges to hypothesis i of step n. The score of an edge is (label score + n-gram weights) /
    // temperature.
    void incoming(std::int64_t n, std::int64_t i) {
        const LabelCodes& codes = n_grams_.codes();
        const Hypothesis& to = search_.at(i);
        const std::int64_t before = codes.before(to.code);
        edges_.clear();
        for (std::int64_t j = search_.from(n - 1); j < search_.to(n - 1); ++j) {
            const std::int64_t code = search_.at(j).code;
            if (codes.shared(code) != before) continue;
            auto score = static_cast<double>(state_(n - 1)[to.label]);
            n_grams_.for_each_row(code, n - 1, [&](const RowView& weights) {
                score += static_cast<double>(weights[to.label]);
            });
            edges_.push_back({j, {score / temperature_}});
        }
    }

    void goal_edges() {
        edges_.clear();
        for (std::int64_t i = search_.from(search_.n_steps()); i < goal(); ++i) edges_.push_back({i, {}});
    }

    const SparseNGramWeights& n_grams_;
    const BeamSearch& search_;
    Semiring& semiring_;
    double temperature_;
    State state_;
    std::vector<double> weights_;
    std::vector<Edge<Score>> edges_;
};

}  // namespace hedgerow
