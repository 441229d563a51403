// Semirings: how a node combines its incoming edges (⊕), and how it distributes its weight among them.
//
// The forward sweep ⊕-combines the incoming edges of a node into one value. The reverse sweep gives the
// weight of a node to its incoming edges:
//   LogSum  to every edge in proportion to its share of the sum: the weights are marginals
//   Max     all to the best edge: the best path
//   Draw    all to one edge drawn in proportion to its share: a sample
//   Best    the rank r + 1 of an entry to the edge of the r-th best entry: the n best paths, one at a time
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "util/double_double.hpp"
#include "util/random.hpp"

namespace hedgerow {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Score is what the semiring needs: double, or DoubleDouble where differences of large scores matter.
template <class Score>
struct Edge {
    std::int64_t source;  // the index of a node
    Score score;
};

template <class Score>
using Edges = std::span<const Edge<Score>>;

// log Σ exp. The value of a node is the log of Σ exp(score of the path) over the paths to it. It is stored as
// `score`, the score of one of the best paths, and `log`, the logarithm of the sum relative to that path: a
// single double would lose the logarithm next to a score of 1e17. Scores are relative to the best node of
// their position, so that large scores common to all paths cancel. Doubles are exact enough for scores that
// are_ordinary(); DoubleDouble is exact enough for scores of any size.
template <class ScoreType>
class LogSum {
  public:
    using Score = ScoreType;

    void clear() {
        values_.clear();
        offset_ = {};
    }
    void push_one() { values_.push_back({}); }
    void push_sum(Edges<Score> edges) {
        Value total{Score{kMinusInfinity}, 0, 0};  // of the edge whose paths weigh most
        for (const Edge<Score>& e : edges) {
            const Value& v = values_[e.source];
            const Score score = loose_sum(v.score, e.score);
            if constexpr (std::is_same_v<Score, double>) {
                total.score = std::max(total.score, score + v.log);
            } else if (difference(score, total.score) + (v.log - total.log) > 0) {
                total = {score, v.log, 0};
            }
        }
        if (high(total.score) != kMinusInfinity) total.log += std::log(weigh(edges, total));
        total.score = normal(total.score);
        values_.push_back(total);
    }
    // Relative to the other nodes of the same position.
    double value(std::int64_t node) const {
        const Value& v = values_[node];
        return high(v.score) + (low(v.score) + v.log);
    }
    // log Z: the value of the last node.
    double result() const {
        const DoubleDouble score =
            offset_ + DoubleDouble{high(values_.back().score), low(values_.back().score)};
        return score.high + (score.low + values_.back().log);
    }
    void move(std::int64_t from, std::int64_t to) { values_[to] = values_[from]; }
    void resize(std::int64_t n) { values_.resize(n); }

    // Makes 0 the highest score of the nodes from `begin` on: those of one position.
    void shift(std::int64_t begin) {
        double highest = kMinusInfinity;
        const auto end = static_cast<std::int64_t>(values_.size());
        for (std::int64_t i = begin; i < end; ++i) highest = std::max(highest, high(values_[i].score));
        if (highest == kMinusInfinity) return;
        for (std::int64_t i = begin; i < end; ++i) {
            values_[i].score = normal(loose_sum(values_[i].score, Score{-highest}));
            values_[i].shift = highest;
        }
        offset_ = offset_ + DoubleDouble{highest, 0};
    }

    // Edge i gets weight w_i / Σ_j w_j with w_i = exp(log of the sum over the paths through edge i). Divided
    // by their own sum, the shares add up to `weight`, however the value of the node was rounded.
    template <class Give>
    void hand_back(std::int64_t node, double weight, Edges<Score> edges, Give give) {
        const double scale = weight / weigh(edges, unshifted(node));
        for (std::size_t i = 0; i < edges.size(); ++i) give(edges[i], scale * weights_[i]);
    }

  protected:
    struct Value {
        Score score{};
        double log = 0;
        double shift = 0;  // the number subtracted from the score
    };
    Value unshifted(std::int64_t node) const {
        const Value& v = values_[node];
        return {loose_sum(v.score, Score{v.shift}), v.log, 0};
    }
    // weights_[i] <- exp(log of the sum over the paths through edge i - total). Returns their sum.
    double weigh(Edges<Score> edges, const Value& total) {
        if (weights_.size() < edges.size()) weights_.resize(edges.size());
        double* weights = weights_.data();
        double sum = 0;
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const Value& v = values_[edges[i].source];
            const double log = difference(loose_sum(v.score, edges[i].score), total.score);
            sum += weights[i] = std::exp(log + (v.log - total.log));
        }
        return sum;
    }
    std::vector<double> weights_;

  private:
    std::vector<Value> values_;
    DoubleDouble offset_;
};

// Forward as LogSum; in reverse one edge is drawn in proportion to its share of the sum.
template <class ScoreType>
class Draw : public LogSum<ScoreType> {
  public:
    using Score = ScoreType;

    void seed(Random random) { random_ = random; }

    template <class Give>
    void hand_back(std::int64_t node, double weight, Edges<Score> edges, Give give) {
        double left = random_.uniform() * this->weigh(edges, this->unshifted(node));
        const Edge<Score>* chosen = nullptr;
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (this->weights_[i] == 0) continue;
            chosen = &edges[i];
            left -= this->weights_[i];
            if (left < 0) break;
        }
        if (chosen) give(*chosen, weight);
    }

  private:
    Random random_{0};
};

// Maximum. Ties go to the edge that comes first: the lowest label context.
class Max {
  public:
    using Score = double;

    void clear() { nodes_.clear(); }
    void push_one() { nodes_.push_back({0.0, -1}); }
    void push_sum(Edges<Score> edges) {
        Node best{kMinusInfinity, -1};
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const double value = nodes_[edges[i].source].value + edges[i].score;
            if (value > best.value) best = {value, static_cast<std::int64_t>(i)};
        }
        nodes_.push_back(best);
    }
    double value(std::int64_t node) const { return nodes_[node].value; }
    double result() const { return nodes_.back().value; }
    void shift(std::int64_t) {}
    void move(std::int64_t from, std::int64_t to) { nodes_[to] = nodes_[from]; }
    void resize(std::int64_t n) { nodes_.resize(n); }

    template <class Give>
    void hand_back(std::int64_t node, double weight, Edges<Score> edges, Give give) {
        if (nodes_[node].winner >= 0) give(edges[nodes_[node].winner], weight);
    }

  private:
    struct Node {
        double value;
        std::int64_t winner;
    };
    std::vector<Node> nodes_;
};

// The n best, best first; ties in the order of (edge, rank). A weight of r + 1 selects the r-th entry.
class Best {
  public:
    using Score = double;

    explicit Best(std::int64_t n) : n_(n) {}
    void clear() { entries_.clear(); }
    void push_one() {
        grow();
        entries_[entries_.size() - n_] = {0.0, -1, -1};
    }
    void push_sum(Edges<Score> edges) {
        found_.clear();
        for (std::size_t i = 0; i < edges.size(); ++i) {
            for (std::int64_t r = 0; r < n_; ++r) {
                const double value = entry(edges[i].source, r).value + edges[i].score;
                if (value == kMinusInfinity) break;
                found_.push_back({value, static_cast<std::int64_t>(i), r});
            }
        }
        const auto kept = std::min<std::int64_t>(n_, static_cast<std::int64_t>(found_.size()));
        std::partial_sort(found_.begin(), found_.begin() + kept, found_.end(), better);
        grow();
        std::copy(found_.begin(), found_.begin() + kept, entries_.end() - n_);
    }
    double value(std::int64_t node) const { return entry(node, 0).value; }
    double result() const { return entries_[entries_.size() - n_].value; }
    void shift(std::int64_t) {}
    double value(std::int64_t node, std::int64_t rank) const { return entry(node, rank).value; }
    void move(std::int64_t from, std::int64_t to) {
        std::copy_n(entries_.begin() + from * n_, n_, entries_.begin() + to * n_);
    }
    void resize(std::int64_t n) { entries_.resize(n * n_); }

    template <class Give>
    void hand_back(std::int64_t node, double weight, Edges<Score> edges, Give give) {
        const Entry& e = entry(node, static_cast<std::int64_t>(weight) - 1);
        if (e.edge >= 0) give(edges[e.edge], static_cast<double>(e.rank + 1));
    }

  private:
    struct Entry {
        double value;
        std::int64_t edge;
        std::int64_t rank;
    };
    static bool better(const Entry& a, const Entry& b) {
        if (a.value != b.value) return a.value > b.value;
        return a.edge != b.edge ? a.edge < b.edge : a.rank < b.rank;
    }
    void grow() { entries_.resize(entries_.size() + n_, {kMinusInfinity, -1, -1}); }
    const Entry& entry(std::int64_t node, std::int64_t rank) const { return entries_[node * n_ + rank]; }

    std::int64_t n_;
    std::vector<Entry> entries_, found_;
};

}  // namespace hedgerow
