// The lattice of one sequence: its topology, one forward sweep and one reverse sweep, for every order, every
// semiring, with or without a beam. It defines the results; sum_product.cpp and max_sum.cpp are faster.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "lattice/beam.hpp"
#include "lattice/semiring.hpp"
#include "lattice/topology.hpp"
#include "lattice/views.hpp"

namespace hedgerow {

// The score of labelling position t with y after label context h.
template <class Real>
class ScoreReader {
  public:
    ScoreReader(const Topology& topology, const Scores<Real>& scores)
        : scores_(scores),
          k_(topology.n_labels),
          n_contexts_(topology.n_label_contexts()),
          order_(topology.order) {}
    std::int64_t length() const { return scores_.length; }

    // (edge + table) + state. As a DoubleDouble, `high` is the sum in double and `low` its rounding error.
    template <class Score>
    Score read(std::int64_t t, std::int64_t first_row, std::int64_t node, std::int64_t y) const {
        const std::int64_t h = order_ == 0 ? 0 : node;
        const double edge = scores_.edge ? scores_.edge[(t * n_contexts_ + h) * k_ + y] : 0;
        const double table = scores_.table ? scores_.table[(first_row + h) * k_ + y] : 0;
        const double state = scores_.state ? scores_.state[t * k_ + y] : 0;
        if constexpr (std::is_same_v<Score, double>) {
            return edge + table + state;
        } else {
            const DoubleDouble first = two_sum(edge, table), second = two_sum(first.high, state);
            return {second.high, second.low + first.low};
        }
    }

  private:
    Scores<Real> scores_;
    std::int64_t k_, n_contexts_, order_;
};

// Whether the score of every path is below 1e7 in size. Doubles then keep differences of path scores to 2e-9,
// and LogSum<double> is exact enough.
template <class Real>
bool are_ordinary(const Topology& topology, const Scores<Real>& scores) {
    const auto limit = static_cast<Real>(1e7 / 3 / static_cast<double>(scores.length));
    const auto within = [&](const Real* x, std::int64_t n) {
        bool inside = true;
        for (std::int64_t i = 0; x && i < n; ++i)
            inside &= (x[i] >= -limit && x[i] <= limit) || x[i] == -std::numeric_limits<Real>::infinity();
        return inside;
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
    Score read(std::int64_t t, std::int64_t first_row, std::int64_t node, std::int64_t y) const {
        const double score = ScoreReader<Real>::template read<double>(t, first_row, node, y);
        return {score == kMinusInfinity ? kMinusInfinity : 0.0};
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
            prune(first_.back(), beam_.size, state_to_keep(t), nodes_, semiring_);
            semiring_.shift(first_.back());
            first_.push_back(static_cast<std::int64_t>(nodes_.size()));
        }
        goal_edges(edges_);
        semiring_.push_sum(edges_);
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
        goal_edges(edges_);
        semiring_.hand_back(goal(), weight, edges_, [&](const Edge<Score>& e, double w) {
            weights_[e.source] += w;
            visit(length, e.source, 0, w, weight);
        });
        for (std::int64_t t = length - 1; t >= 0; --t) {
            for (std::int64_t i = first_[t + 1]; i < first_[t + 2]; ++i) {
                if (weights_[i] == 0) continue;
                incoming(t, nodes_[i], edges_);
                semiring_.hand_back(i, weights_[i], edges_, [&](const Edge<Score>& e, double w) {
                    weights_[e.source] += w;
                    visit(t, nodes_[e.source].state, nodes_[i].label, w, weights_[i]);
                });
            }
        }
    }

  private:
    struct Node {
        std::int64_t state;
        std::int64_t label;
        std::int64_t first_source, n_sources;
    };

    // A new node for every pair of a next label and a group of sources that differ only in their oldest
    // label, which the new state no longer contains. Nodes that no path reaches are dropped.
    void expand(std::int64_t t) {
        const std::int64_t begin = first_[t], end = first_[t + 1];
        const std::int64_t forget = t >= topology_.memory() ? topology_.n_labels : 1;
        const std::int64_t stride = topology_.power(std::min(t, topology_.memory() - 1));
        for (std::int64_t y = 0; y < topology_.n_labels; ++y) {
            for (std::int64_t i = begin, next; i < end; i = next) {
                const std::int64_t key = nodes_[i].state / forget;
                for (next = i + 1; next < end && nodes_[next].state / forget == key;) ++next;
                const Node node{y * stride + key, y, i, next - i};
                incoming(t, node, edges_);
                semiring_.push_sum(edges_);
                nodes_.push_back(node);
                const std::int64_t last = static_cast<std::int64_t>(nodes_.size()) - 1;
                if (semiring_.value(last) != kMinusInfinity) continue;
                nodes_.pop_back();
                semiring_.resize(last);
            }
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

    void incoming(std::int64_t t, const Node& node, Edges<Score>& edges) const {
        const std::int64_t row = topology_.first_row(t);
        edges.clear();
        for (std::int64_t i = node.first_source; i < node.first_source + node.n_sources; ++i) {
            edges.push_back({i, reader_.template read<Score>(t, row, nodes_[i].state, node.label)});
        }
    }

    void goal_edges(Edges<Score>& edges) const {
        edges.clear();
        for (std::int64_t i = first_[first_.size() - 2]; i < first_.back(); ++i) edges.push_back({i, {}});
    }

    Topology topology_;
    Semiring& semiring_;
    Reader reader_;
    Beam beam_;
    std::vector<Node> nodes_;
    std::vector<std::int64_t> first_;  // first_[t + 1]: the first node of position t
    std::vector<double> weights_;
    Edges<Score> edges_;
};

}  // namespace hedgerow
