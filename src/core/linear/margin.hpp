// The structured perceptron (Collins 2002) and the structured SVM: if a wrong path of a sequence scores too
// high,
//
//     weights += sample weight (features of gold - features of that path)
//
// The SVM adds a margin to the scores of wrong labels before the best path is searched.
#pragma once

#include <cstdint>
#include <vector>

#include "lattice/beam_room.hpp"
#include "lattice/fast_lane.hpp"
#include "lattice/forbidden.hpp"
#include "lattice/semiring.hpp"
#include "linear/attribute_weights.hpp"
#include "linear/n_gram_weights.hpp"
#include "linear/online_examples.hpp"

namespace hedgerow {

// One change of one weight. Features are numbered attribute * K + label; the cells of n-grams follow.
struct Change {
    std::int64_t feature;
    float amount;
};

// Finds the best path of one sequence.
class PathFinder {
  public:
    // beam: see Beam::of; 0 keeps all nodes.
    PathFinder(const Topology& topology, double beam, Forbidden forbidden)
        : scores_topology_(topology),
          topology_(forbidden.lattice_of(topology)),
          beam_(beam < static_cast<double>(topology.power(topology.memory())) ? beam : 0),
          forbidden_(std::move(forbidden)),
          second_(2) {}

    // The buffer (length, labels) for the label scores of the next sequence.
    float* label_scores(std::int64_t length) {
        length_ = length;
        if (static_cast<std::int64_t>(label_scores_.size()) < length * topology_.n_labels)
            label_scores_.resize(static_cast<std::size_t>(length * topology_.n_labels));
        path_.resize(static_cast<std::size_t>(length));
        return label_scores_.data();
    }

    // OUT: the table prepared for best(), for all sequences; empty unless best() can use it.
    void bound(const float* table, std::vector<double>& bounded) const;
    // The best path under the label scores and the transition table. bounded: the prepared table, or empty.
    const std::vector<std::int32_t>& best(const float* table, const std::vector<double>& bounded = {});
    // Whether best() found a path: constraints and a beam together may leave none.
    bool found() const { return found_; }
    // Replaces path() by the second best path; returns false if there is none. Call best() first.
    bool next_best(const float* table);
    const std::vector<std::int32_t>& path() const { return path_; }
    // The number of positions up to and with the first one where the beam drops gold, or all positions.
    // Where the beam drops gold, path() becomes the best path of these positions. Call best() first.
    std::int64_t positions_with_gold(const float* table, const std::int32_t* gold);

    // The score of the first `length` labels.
    double score(const float* table, const std::int32_t* labels, std::int64_t length) const;

  private:
    Scores<float> scores(const float* table) const { return {length_, label_scores_.data(), nullptr, table}; }
    // The table under the constraints.
    const float* constrained(const float* table);
    bool search(const float* table, const std::vector<double>& bounded = {});
    double* work(std::int64_t size) {
        if (static_cast<std::int64_t>(work_.size()) < size) work_.resize(static_cast<std::size_t>(size));
        return work_.data();
    }

    Topology scores_topology_;
    Topology topology_;  // of the lattice
    double beam_;
    Forbidden forbidden_;
    std::vector<float> table_;  // under the constraints
    bool found_ = true;
    std::int64_t length_ = 0;
    std::vector<float> label_scores_;
    std::vector<double> work_;
    BeamRoom<double> room_;
    std::vector<std::int32_t> path_;
    Max max_;
    Best second_;
};

// At example t gold must beat a wrong path by margin + growth * t.
struct MarginRules {
    bool hamming;  // the margin applies to each wrong label; otherwise once to a wrong path
    double margin;
    double growth;
    double beam;  // see Beam::of; 0: exact
    bool early;   // learn only from the positions up to where the beam drops gold
};

// Learns from batches of sequences: threads find the wrong paths of a batch under the same weights, then the
// weights are updated sequence by sequence, where the path still scores too high. So each step corrects a
// violation, which is what the mistake bound of the perceptron needs (Huang et al. 2012). A batch of 1 is the
// algorithm of the papers.
class MarginLearner {
  public:
    MarginLearner(const Topology& topology, const MarginRules& rules, const Forbidden& forbidden,
                  AttributeWeights attributes, NGramWeights n_grams, bool recorded)
        : topology_(topology),
          rules_(rules),
          forbidden_(forbidden),
          attributes_(std::move(attributes)),
          n_grams_(std::move(n_grams)),
          recorded_(recorded) {}

    // The first weights, instead of 0: of features f of attribute i for starts[i] <= f < starts[i + 1], each
    // for the label labels[f], and of the cells of n-grams. They were learned from n_seen examples: the next
    // one is example n_seen + 1. Call it before learn().
    void start_from(const std::int64_t* starts, const std::int32_t* labels, const float* weights,
                    const float* cells, std::int64_t n_seen);

    // Learns from all examples in their order; returns how many of them changed the weights.
    std::int64_t learn(const OnlineExamples& examples, std::int64_t batch, std::int64_t n_threads);

    // Counts n more examples that do not change the weights.
    void stay(std::int64_t n) {
        n_seen_ += n;
        n_vectors_ += n;
        survived_.back() += n;
    }

    const Topology& topology() const { return topology_; }
    const MarginRules& rules() const { return rules_; }
    const Forbidden& forbidden() const { return forbidden_; }
    const AttributeWeights& attributes() const { return attributes_; }
    const NGramWeights& n_grams() const { return n_grams_; }
    // The number of examples so far.
    std::int64_t n_seen() const { return n_seen_; }
    // The number of weight vectors in the mean: one after each example, and the first of 0. A first vector
    // from start_from() does not count, because it follows an example that was seen before.
    std::int64_t n_vectors() const { return n_vectors_; }

    // The distinct vectors: changes()[change_starts()[v]..change_starts()[v + 1]] turn vector v - 1 into v,
    // and survived()[v] is the number of examples that v was used for.
    const std::vector<Change>& changes() const { return changes_; }
    const std::vector<std::int64_t>& change_starts() const { return change_starts_; }
    const std::vector<std::int64_t>& survived() const { return survived_; }

  private:
    // What a thread needs to find paths.
    struct Finder {
        PathFinder paths;
        AttributeWeights::Buffers buffers;
    };
    // The wrong path of an example that scores too high.
    struct Violation {
        bool found;
        std::int64_t n_used;  // positions to learn from
        std::vector<std::int32_t> path;
    };

    void find(const OnlineExample& example, double margin, Finder& finder, Violation& violation) const;
    bool violates(const OnlineExample& example, double margin, PathFinder& paths, std::int64_t& n_used) const;
    void prefetch_weights(const OnlineExample& example, const Violation& violation) const;
    bool is_valid(const OnlineExample& example, const Violation& violation) const;
    void learn_from(const OnlineExample& example, const Violation& violation);
    void update(const OnlineExample& example, const Violation& violation);
    void change(std::int64_t feature, float amount);

    Topology topology_;
    MarginRules rules_;
    Forbidden forbidden_;
    AttributeWeights attributes_;
    NGramWeights n_grams_;
    std::vector<double> bounded_;  // the table of n_grams_ prepared for best()
    std::int64_t n_seen_ = 0;
    std::int64_t n_vectors_ = 1;
    bool recorded_;
    std::vector<Change> changes_;
    std::vector<std::int64_t> change_starts_{0, 0};
    std::vector<std::int64_t> survived_{1};
};

// Weight vectors as changes from one to the next, and the number of examples that each survived.
struct WeightVectors {
    std::int64_t n;
    const std::int64_t* starts;  // (n + 1): where the changes of each vector begin
    const std::int64_t* features;
    const float* amounts;
    const std::int64_t* survived;
};

// The voted perceptron (Freund & Schapire 1999) on some sequences: each weight vector votes for the labels of
// its best path, with the number of examples that it survived. Vectors must come in order.
class Voter {
  public:
    Voter(const Topology& topology, std::int64_t n_ids, double beam, const Forbidden& forbidden);

    // Adds the votes of the vectors first..last to votes (positions, labels). starts: n_sequences + 1.
    // known: the label of each position, negative where it is free; or null.
    void vote(const WeightVectors& vectors, std::int64_t first, std::int64_t last, const Slots& slots,
              const std::int64_t* starts, std::int64_t n_sequences, const std::int32_t* known, double* votes);

  private:
    std::int64_t k_;
    AttributeWeights attributes_;
    AttributeWeights::Buffers buffers_;
    NGramWeights n_grams_;
    PathFinder finder_;
};

// votes (positions, labels) += the votes of all vectors. Threads divide the sequences.
void add_votes(const WeightVectors& vectors, const Topology& topology, double beam,
               const Forbidden& forbidden, const AttributeView& attributes, const std::int32_t* known,
               double* votes, std::int64_t n_threads);

}  // namespace hedgerow
