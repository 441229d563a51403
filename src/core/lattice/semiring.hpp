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

// log Σ exp: the value of a node is the log of Σ exp(score of the path) over the paths to it, relative to the
// best node of its position, so that large scores common to all paths cancel. In reverse, edge i gets the
// share w_i / Σ_j w_j of the weight, w_i = Σ exp(score) over the paths through edge i. Shares are divided by
// their own sum, so they add up to the weight, however the value of the node was rounded.
template <class ScoreType>
class LogSum;

// For scores that are_ordinary(): values are doubles.
template <>
class LogSum<double> {
  public:
    using Score = double;

    void clear() {
        values_.clear();
        offset_ = {};
    }
    void push_one() { values_.push_back({0, 0}); }
    void push_sum(Edges<Score> edges) {
        double top = kMinusInfinity;
        for (const Edge<Score>& e : edges) top = std::max(top, values_[e.source].relative + e.score);
        const double value = top == kMinusInfinity ? top : top + std::log(weigh(edges, top));
        values_.push_back({value, value});
    }
    double value(std::int64_t node) const { return values_[node].relative; }
    // log Z: the value of the last node.
    double result() const {
        const DoubleDouble sum = offset_ + DoubleDouble{values_.back().relative, 0};
        return sum.high + sum.low;
    }
    void move(std::int64_t from, std::int64_t to) { values_[to] = values_[from]; }
    void resize(std::int64_t n) { values_.resize(n); }

    // Makes 0 the highest value of the nodes from `begin` on: those of one position.
    void shift(std::int64_t begin) {
        const auto end = static_cast<std::int64_t>(values_.size());
        double highest = kMinusInfinity;
        for (std::int64_t i = begin; i < end; ++i) highest = std::max(highest, values_[i].relative);
        if (highest == kMinusInfinity) return;
        for (std::int64_t i = begin; i < end; ++i) values_[i].relative -= highest;
        offset_ = offset_ + DoubleDouble{highest, 0};
    }

    template <class Give>
    void hand_back(std::int64_t node, double weight, Edges<Score> edges, Give give) {
        const double scale = weight / weigh(node, edges);
        for (std::size_t i = 0; i < edges.size(); ++i) give(edges[i], scale * weights_[i]);
    }

  protected:
    // weights_[i] <- w_i up to a common factor. Returns their sum.
    double weigh(std::int64_t node, Edges<Score> edges) { return weigh(edges, values_[node].incoming); }
    std::vector<double> weights_;

  private:
    struct Value {
        double relative;  // to the best node of its position
        double incoming;  // the same, relative to the best node of the position before
    };

    double weigh(Edges<Score> edges, double total) {
        if (weights_.size() < edges.size()) weights_.resize(edges.size());
        double* weights = weights_.data();
        double sum = 0;
        for (std::size_t i = 0; i < edges.size(); ++i)
            sum += weights[i] = std::exp(values_[edges[i].source].relative + edges[i].score - total);
        return sum;
    }

    std::vector<Value> values_;
    DoubleDouble offset_;
};

// For scores of any size. A value is stored as `score`, the score of one of the best paths, and `log`, the
// logarithm of the sum relative to that path: a single number would lose the logarithm next to a score of
// 1e17.
template <>
class LogSum<DoubleDouble> {
  public:
    using Score = DoubleDouble;

    void clear() {
        values_.clear();
        offset_ = {};
    }
    void push_one() { values_.push_back({}); }
    void push_sum(Edges<Score> edges) {
        const Edge<Score>* best = heaviest(edges);
        if (!best) return values_.push_back({DoubleDouble{kMinusInfinity, 0}, 0});
        const Value& v = values_[best->source];
        const Value sum{v.score + best->score, v.log + std::log(weigh(edges, *best))};
        values_.push_back(sum);
    }
    double value(std::int64_t node) const { return rounded(values_[node].score, values_[node].log); }
    double result() const { return rounded(offset_ + values_.back().score, values_.back().log); }
    void move(std::int64_t from, std::int64_t to) { values_[to] = values_[from]; }
    void resize(std::int64_t n) { values_.resize(n); }

    void shift(std::int64_t begin) {
        const auto end = static_cast<std::int64_t>(values_.size());
        double highest = kMinusInfinity;
        for (std::int64_t i = begin; i < end; ++i) highest = std::max(highest, values_[i].score.high);
        if (highest == kMinusInfinity) return;
        for (std::int64_t i = begin; i < end; ++i)
            values_[i].score = values_[i].score + DoubleDouble{-highest, 0};
        offset_ = offset_ + DoubleDouble{highest, 0};
    }

    template <class Give>
    void hand_back(std::int64_t node, double weight, Edges<Score> edges, Give give) {
        const double scale = weight / weigh(node, edges);
        for (std::size_t i = 0; i < edges.size(); ++i) give(edges[i], scale * weights_[i]);
    }

  protected:
    double weigh(std::int64_t, Edges<Score> edges) {
        const Edge<Score>* best = heaviest(edges);
        if (best) return weigh(edges, *best);
        weights_.assign(edges.size(), 0.0);
        return 1;
    }
    std::vector<double> weights_;

  private:
    struct Value {
        DoubleDouble score;
        double log = 0;
    };

    static double rounded(const DoubleDouble& score, double log) { return score.high + (score.low + log); }

    // log(w_a / w_b). Paths and edges are subtracted before they are added: a score that both edges share
    // must not cost the paths digits.
    double log_ratio(const Edge<Score>& a, const Edge<Score>& b) const {
        const Value &v = values_[a.source], &w = values_[b.source];
        const DoubleDouble paths = loose_difference(v.score, w.score);
        const DoubleDouble edges = loose_difference(a.score, b.score);
        const DoubleDouble sum = two_sum(paths.high, edges.high);
        if (std::isinf(sum.high)) return sum.high;
        return sum.high + (sum.low + (paths.low + edges.low) + (v.log - w.log));
    }

    // The first edge of the largest w_i; null if all are 0.
    const Edge<Score>* heaviest(Edges<Score> edges) const {
        const Edge<Score>* best = nullptr;
        for (const Edge<Score>& e : edges) {
            if (e.score.high == kMinusInfinity || values_[e.source].score.high == kMinusInfinity) continue;
            if (!best || log_ratio(e, *best) > 0) best = &e;
        }
        return best;
    }

    // weights_[i] <- w_i / w_best, at most 1 however the comparisons were rounded. Returns their sum.
    double weigh(Edges<Score> edges, const Edge<Score>& best) {
        weights_.resize(edges.size());
        double sum = 0;
        for (std::size_t i = 0; i < edges.size(); ++i)
            sum += weights_[i] = std::exp(std::min(log_ratio(edges[i], best), 0.0));
        return sum;
    }

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
        double left = random_.uniform() * this->weigh(node, edges);
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
