// The lattice of one sequence: its topology, one forward sweep and one reverse sweep, for every order, every
// semiring, with or without a beam. It defines the results; sum_product.cpp and max_sum.cpp are faster.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "lattice/beam.hpp"
#include "lattice/semiring.hpp"
#include "lattice/topology.hpp"
#include "lattice/views.hpp"

namespace hedgerow {

// The scores of one sequence: score(t, h, y) of labelling position t with y after label context h.
template <class Real>
class ScoreReader {
  public:
    ScoreReader(const Topology& topology, const Scores<Real>& scores)
        : topology_(topology), scores_(scores), n_contexts_(topology.n_label_contexts()) {}
    std::int64_t length() const { return scores_.length; }

    // The function from a label context h to score(t, h, y) = (edge + table) + state. As a DoubleDouble,
    // `high` is the sum in double and `low` its rounding error. first_row: topology.first_row(t).
    template <class Score>
    auto at(std::int64_t t, std::int64_t first_row, std::int64_t y) const {
        const std::int64_t k = topology_.n_labels;
        const Part edge = part(scores_.edge, t * n_contexts_ * k + y);
        const Part table = part(scores_.table, first_row * k + y);
        const double state = scores_.state ? scores_.state[t * k + y] : 0;
        return [=](std::int64_t h) -> Score {
            const double of_edge = edge.first[h * edge.stride], of_table = table.first[h * table.stride];
            if constexpr (std::is_same_v<Score, double>) {
                return of_edge + of_table + state;
            } else {
                const DoubleDouble first = two_sum(of_edge, of_table), second = two_sum(first.high, state);
                return {second.high, second.low + first.low};
            }
        };
    }

  private:
    // A part of the score of label context h is first[h * stride].
    struct Part {
        const Real* first;
        std::int64_t stride;
    };
    // An absent part is 0 for every h. Order 0 has one row, whatever h is.
    Part part(const Real* numbers, std::int64_t first) const {
        static constexpr Real zero = 0;
        if (!numbers) return {&zero, 0};
        return {numbers + first, topology_.order == 0 ? 0 : topology_.n_labels};
    }

    Topology topology_;
    Scores<Real> scores_;
    std::int64_t n_contexts_;
};

// Whether the score of every path is below 1e7 in size. Doubles then keep differences of path scores to 2e-9,
// and LogSum<double> is exact enough.
template <class Real>
bool are_ordinary(const Topology& topology, const Scores<Real>& scores) {
    const auto limit = static_cast<Real>(1e7 / 3 / static_cast<double>(scores.length));
    constexpr Real lowest = -std::numeric_limits<Real>::infinity();
    const auto within = [&](const Real* x, std::int64_t n) {
        int inside = 1;
#pragma omp simd reduction(& : inside)
        for (std::int64_t i = 0; i < (x ? n : 0); ++i) inside &= (std::abs(x[i]) <= limit) | (x[i] == lowest);
        return inside == 1;
    };
    const std::int64_t k = topology.n_labels;
    return within(scores.state, scores.length * k) && within(scores.table, topology.n_rows() * k) &&
           within(scores.edge, scores.length * topology.n_label_contexts() * k);
}

// Scores 0 for every edge that is not forbidden: the sum over paths is then the number of paths.
template <class Real>
class SupportReader : public ScoreReader<Real> {
  public:
    using ScoreReader<Real>::ScoreReader;
    template <class Score>
    auto at(std::int64_t t, std::int64_t first_row, std::int64_t y) const {
        return [score = ScoreReader<Real>::template at<double>(t, first_row, y)](std::int64_t h) -> Score {
            return {score(h) == kMinusInfinity ? kMinusInfinity : 0.0};
        };
    }
};

template <class Semiring, class Reader>
class Lattice {
    using Score = typename Semiring::Score;

  public:
    Lattice(const Topology& topology, Semiring& semiring, const Reader& reader, const Beam& beam)
        : topology_(topology), semiring_(semiring), reader_(reader), beam_(beam) {}

    // Returns ⊕ over all paths.
    double forward() {
        semiring_.clear();
        nodes_.assign(1, Node{0, 0, 0, 0});
        semiring_.push_one();
        first_.assign({0, 1});
        for (std::int64_t t = 0; t < reader_.length(); ++t) {
            expand(t);
            prune(first_.back(), beam_, state_to_keep(t), nodes_, semiring_);
            semiring_.shift(first_.back());
            first_.push_back(static_cast<std::int64_t>(nodes_.size()));
        }
        semiring_.push_sum(goal_edges());
        return semiring_.result();
    }

    std::int64_t goal() const { return static_cast<std::int64_t>(nodes_.size()); }

    // After forward(): whether the beam kept the node of this state at position t.
    bool keeps(std::int64_t t, std::int64_t state) const {
        const auto begin = nodes_.begin() + first_[t + 1], end = nodes_.begin() + first_[t + 2];
        return std::any_of(begin, end, [&](const Node& node) { return node.state == state; });
    }

    // After forward(): distributes `weight` backwards from the goal. Calls visit(t, state of the source,
    // label, weight of the edge, weight of its node) for every edge that receives some, last position first;
    // the edges into the goal come first, with t = length. For order >= 1 the state of the source is the
    // label context of t.
    template <class Visit>
    void reverse(double weight, Visit visit) {
        const std::int64_t length = reader_.length();
        weights_.assign(nodes_.size(), 0.0);
        semiring_.hand_back(goal(), weight, goal_edges(), [&](const Edge<Score>& e, double w) {
            weights_[e.source] += w;
            visit(length, e.source, 0, w, weight);
        });
        for (std::int64_t t = length - 1; t >= 0; --t) {
            const std::int64_t row = topology_.first_row(t);
            for (std::int64_t i = first_[t + 1]; i < first_[t + 2]; ++i) {
                if (weights_[i] == 0) continue;
                const Node node = nodes_[i];
                const Edges<Score> edges = incoming(node, reader_.template at<Score>(t, row, node.label));
                semiring_.hand_back(i, weights_[i], edges, [&](const Edge<Score>& e, double w) {
                    weights_[e.source] += w;
                    visit(t, nodes_[e.source].state, node.label, w, weights_[i]);
                });
            }
        }
    }

    // After forward(), for semirings that give all weight to one edge: writes the labels of that path.
    void trace(double weight, std::int32_t* labels) {
        reverse(weight, [&](std::int64_t t, std::int64_t, std::int64_t y, double, double) {
            if (t < reader_.length()) labels[t] = static_cast<std::int32_t>(y);
        });
    }

  private:
    struct Node {
        std::int64_t state;
        std::int64_t label;
        std::int64_t first_source, n_sources;
    };
    // Sources whose states are equal but for the label that the next state no longer contains.
    struct Group {
        std::int64_t key, first, size;
    };

    // A new node for every pair of a next label and a group of sources that differ only in their oldest
    // label, which the new state no longer contains. Nodes that no path reaches are dropped.
    void expand(std::int64_t t) {
        const std::int64_t row = topology_.first_row(t);
        const std::int64_t stride = topology_.power(std::min(t, topology_.memory() - 1));
        find_groups(t);
        for (std::int64_t y = 0; y < topology_.n_labels; ++y) {
            const auto score = reader_.template at<Score>(t, row, y);
            for (const Group& group : groups_) {
                const Node node{y * stride + group.key, y, group.first, group.size};
                semiring_.push_sum(incoming(node, score));
                const auto last = static_cast<std::int64_t>(nodes_.size());
                if (semiring_.value(last) == kMinusInfinity) {
                    semiring_.resize(last);
                } else {
                    nodes_.push_back(node);
                }
            }
        }
    }

    // The groups of sources of position t.
    void find_groups(std::int64_t t) {
        const std::int64_t forget = t >= topology_.memory() ? topology_.n_labels : 1;
        groups_.clear();
        for (std::int64_t i = first_[t]; i < first_[t + 1]; ++i) {
            const std::int64_t key = nodes_[i].state / forget;
            if (groups_.empty() || groups_.back().key != key) groups_.push_back({key, i, 0});
            ++groups_.back().size;
        }
    }

    // The state at position t of the path to keep; -1 if there is none.
    std::int64_t state_to_keep(std::int64_t t) const {
        if (!beam_.keep) return -1;
        std::int64_t state = 0;
        for (std::int64_t i = t; i >= 0 && i > t - topology_.memory(); --i) {
            if (beam_.keep[i] < 0) return -1;
            state = state * topology_.n_labels + beam_.keep[i];
        }
        return state;
    }

    template <class ScoreOf>
    Edges<Score> incoming(const Node& node, const ScoreOf& score) {
        Edge<Score>* edges = room_for(node.n_sources);
        for (std::int64_t j = 0; j < node.n_sources; ++j) {
            const std::int64_t source = node.first_source + j;
            edges[j] = {source, score(nodes_[source].state)};
        }
        return {edges, static_cast<std::size_t>(node.n_sources)};
    }

    Edges<Score> goal_edges() {
        const std::int64_t first = first_[first_.size() - 2], n = first_.back() - first;
        Edge<Score>* edges = room_for(n);
        for (std::int64_t j = 0; j < n; ++j) edges[j] = {first + j, {}};
        return {edges, static_cast<std::size_t>(n)};
    }

    Edge<Score>* room_for(std::int64_t n_edges) {
        if (edges_.size() < static_cast<std::size_t>(n_edges)) edges_.resize(n_edges);
        return edges_.data();
    }

    Topology topology_;
    Semiring& semiring_;
    Reader reader_;
    Beam beam_;
    std::vector<Node> nodes_;
    std::vector<std::int64_t> first_;  // first_[t + 1]: the first node of position t
    std::vector<Group> groups_;
    std::vector<double> weights_;
    std::vector<Edge<Score>> edges_;
};

}  // namespace hedgerow
