// Learning from the best path: the structured perceptron and, with paths that are favoured for being wrong,
// the structured SVM. Gold minus path is added to the weights wherever they differ.
#pragma once

#include <cstdint>
#include <vector>

#include "lattice/fast_lane.hpp"
#include "linear/online.hpp"

namespace hedgerow {

// One change of one weight. A feature is attribute * K + label or, after all those, the cell of an n-gram.
struct Change {
    std::int64_t feature;
    float amount;
};

// The best path of one sequence by weights of attributes and n-grams.
class PathFinder {
  public:
    // beam: how many nodes a position may keep; 0 keeps all.
    PathFinder(const Topology& topology, std::int64_t beam)
        : topology_(topology), beam_(beam < topology.power(topology.memory()) ? beam : 0), second_(2) {}

    // Room for the scores of the next sequence, (length, labels).
    float* room(std::int64_t length) {
        length_ = length;
        if (static_cast<std::int64_t>(state_.size()) < length * topology_.n_labels)
            state_.resize(static_cast<std::size_t>(length * topology_.n_labels));
        path_.resize(static_cast<std::size_t>(length));
        return state_.data();
    }

    const std::vector<std::int32_t>& best(const float* table);
    // The best path but one; false if there is none. Asked for after best().
    bool next_best(const float* table);
    const std::vector<std::int32_t>& path() const { return path_; }
    // How many positions a beam goes along with gold, at most all; asked for after best(). Where it loses
    // gold, path() becomes the best path up to and with that position.
    std::int64_t keep_gold(const float* table, const std::int32_t* gold);

    double score(const float* table, const std::int32_t* labels, std::int64_t length) const;

  private:
    Scores<float> scores(const float* table) const { return {length_, state_.data(), nullptr, table}; }
    void search(const float* table);

    Topology topology_;
    std::int64_t beam_;
    std::int64_t length_ = 0;
    std::vector<float> state_;
    std::vector<double> work_;
    std::vector<std::int32_t> path_;
    Max max_;
    Best second_;
};

// A wrong path must lose by a margin, at example t of margin + growth * t.
struct MarginRules {
    bool hamming;  // the margin counts for each wrong label; if not, once for a wrong path
    double margin;
    double growth;
    std::int64_t beam;  // 0: exact
    bool early;         // where the beam loses gold, learn from what came before
};

class MarginLearner {
  public:
    MarginLearner(const Topology& topology, const MarginRules& rules, AttributeWeights attributes,
                  NGramWeights n_grams, bool recorded)
        : topology_(topology),
          rules_(rules),
          finder_(topology, rules.beam),
          attributes_(std::move(attributes)),
          n_grams_(std::move(n_grams)),
          recorded_(recorded) {}

    // Learns from the positions begin..end; true if that changed the weights.
    bool learn(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold,
               float weight);

    // Counts n more examples that change nothing.
    void stay(std::int64_t n) {
        n_seen_ += n;
        survived_.back() += n;
    }

    const AttributeWeights& attributes() const { return attributes_; }
    const NGramWeights& n_grams() const { return n_grams_; }
    // How many weight vectors there were, the first of zeros.
    std::int64_t n_vectors() const { return n_seen_ + 1; }

    // Where the changes that made each distinct vector begin, and for how many examples it stayed.
    const std::vector<Change>& changes() const { return changes_; }
    const std::vector<std::int64_t>& change_starts() const { return change_starts_; }
    const std::vector<std::int64_t>& survived() const { return survived_; }

  private:
    bool violates(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold);
    void update(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold,
                float weight);
    void change(std::int64_t feature, float amount);

    Topology topology_;
    MarginRules rules_;
    PathFinder finder_;
    AttributeWeights attributes_;
    NGramWeights n_grams_;
    std::int64_t n_seen_ = 0;
    std::int64_t n_used_ = 0;  // positions of the sequence that are learned from
    bool recorded_;
    std::vector<Change> changes_;
    std::vector<std::int64_t> change_starts_{0, 0};
    std::vector<std::int64_t> survived_{1};
};

// Weight vectors as changes from one to the next, and how many examples each survived.
struct Vectors {
    std::int64_t n;
    const std::int64_t* starts;  // n + 1: where the changes that make each begin
    const std::int64_t* features;
    const float* amounts;
    const std::int64_t* survived;
};

// Takes some sequences through one weight vector after the other: each votes for the labels of its best path.
class Voter {
  public:
    Voter(const Topology& topology, std::int64_t n_ids, std::int64_t beam);

    // Vectors first..last; votes (positions, labels) of the sequences that `starts` names grow by their
    // survivals.
    void vote(const Vectors& vectors, std::int64_t first, std::int64_t last, const Slots& slots,
              const std::int64_t* starts, std::int64_t n_sequences, double* votes);

  private:
    std::int64_t k_;
    AttributeWeights attributes_;
    NGramWeights n_grams_;
    PathFinder finder_;
};

}  // namespace hedgerow
