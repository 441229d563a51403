// What ⊕ means, and how a ⊕-node hands its weight back.
//
// Going forward, a node of the lattice ⊕-combines its incoming edges into one value. Going in reverse, a node
// that holds a weight hands it to its incoming edges: a sum in proportion to what they brought (which gives
// marginals), a maximum all to the winner (the best path), a draw all to one of them by lot (a sample), an
// n-best list the token "I am your r-th best" to the edge that brought its r-th entry (n distinct paths).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace hedgerow {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Edge {
    std::int64_t source;  // index of the node it comes from
    double score;
};

using Edges = std::vector<Edge>;

// log Σ exp. value(i) is the log of the summed weight of all paths that reach node i.
class LogSum {
  public:
    void clear() { values_.clear(); }
    void push_one() { values_.push_back(0.0); }
    void push_sum(const Edges& edges) {
        double top = kMinusInfinity;
        for (const Edge& e : edges) top = std::max(top, values_[e.source] + e.score);
        if (top == kMinusInfinity) return values_.push_back(top);
        double sum = 0;
        for (const Edge& e : edges) sum += std::exp(values_[e.source] + e.score - top);
        values_.push_back(top + std::log(sum));
    }
    double value(std::int64_t node) const { return values_[node]; }
    void move(std::int64_t from, std::int64_t to) { values_[to] = values_[from]; }
    void resize(std::int64_t n) { values_.resize(n); }

    template <class Give>
    void hand_back(std::int64_t node, double weight, const Edges& edges, Give give) {
        for (const Edge& e : edges) give(e, weight * std::exp(values_[e.source] + e.score - values_[node]));
    }

  private:
    std::vector<double> values_;
};

// SplitMix64: a stream of draws fixed by its seed, so samples do not depend on threads.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

// The forward values of LogSum; in reverse one edge is drawn in proportion to what it brought.
class Draw : public LogSum {
  public:
    void seed(Random random) { random_ = random; }

    template <class Give>
    void hand_back(std::int64_t node, double weight, const Edges& edges, Give give) {
        double left = random_.uniform();
        const Edge* chosen = nullptr;
        for (const Edge& e : edges) {
            const double share = std::exp(value(e.source) + e.score - value(node));
            if (share == 0) continue;
            chosen = &e;
            left -= share;
            if (left < 0) break;
        }
        if (chosen) give(*chosen, weight);
    }

  private:
    Random random_{0};
};

// Maximum. Ties go to the edge that comes first: the lowest history.
class Max {
  public:
    void clear() { nodes_.clear(); }
    void push_one() { nodes_.push_back({0.0, -1}); }
    void push_sum(const Edges& edges) {
        Node best{kMinusInfinity, -1};
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const double value = nodes_[edges[i].source].value + edges[i].score;
            if (value > best.value) best = {value, static_cast<std::int64_t>(i)};
        }
        nodes_.push_back(best);
    }
    double value(std::int64_t node) const { return nodes_[node].value; }
    void move(std::int64_t from, std::int64_t to) { nodes_[to] = nodes_[from]; }
    void resize(std::int64_t n) { nodes_.resize(n); }

    template <class Give>
    void hand_back(std::int64_t node, double weight, const Edges& edges, Give give) {
        if (nodes_[node].winner >= 0) give(edges[nodes_[node].winner], weight);
    }

  private:
    struct Node {
        double value;
        std::int64_t winner;
    };
    std::vector<Node> nodes_;
};

// The n best, best first; ties in the order of (edge, rank). A weight of r + 1 asks for the r-th entry.
class Best {
  public:
    explicit Best(std::int64_t n) : n_(n) {}
    void clear() { entries_.clear(); }
    void push_one() {
        grow();
        entries_[entries_.size() - n_] = {0.0, -1, -1};
    }
    void push_sum(const Edges& edges) {
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
    double value(std::int64_t node, std::int64_t rank) const { return entry(node, rank).value; }
    void move(std::int64_t from, std::int64_t to) {
        std::copy_n(entries_.begin() + from * n_, n_, entries_.begin() + to * n_);
    }
    void resize(std::int64_t n) { entries_.resize(n * n_); }

    template <class Give>
    void hand_back(std::int64_t node, double weight, const Edges& edges, Give give) {
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
