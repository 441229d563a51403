// A structured SVM by block-coordinate Frank-Wolfe steps on its dual (Lacoste-Julien et al. 2013), with the
// paths of each sequence kept (working_set.hpp).
//
// The primal is 1/2 |w|^2 + sum over sequences of cost * weight * hinge loss; the dual is never above it, and
// their difference bounds how far w is from the optimum. No step lowers the dual.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/attribute_weights.hpp"
#include "linear/feature_sums.hpp"
#include "linear/margin.hpp"
#include "linear/n_gram_weights.hpp"
#include "linear/online_examples.hpp"
#include "linear/working_set.hpp"

namespace hedgerow {

// Sums over the sequences of some examples; losses times cost and weight.
struct DualityGap {
    double squared_size;  // |w|^2
    double hinge_losses;
    double dual_losses;  // of the shares

    double primal() const { return squared_size / 2 + hinge_losses; }
    double dual() const { return dual_losses - squared_size / 2; }
};

class FrankWolfeLearner {
  public:
    // cost: of a hinge loss of 1 in a sequence of weight 1.
    FrankWolfeLearner(const Topology& topology, bool hamming, double cost, const Forbidden& forbidden,
                      AttributeWeights attributes, NGramWeights n_grams, std::int64_t n_sequences)
        : topology_(topology),
          hamming_(hamming),
          cost_(cost),
          forbidden_(forbidden),
          attributes_(std::move(attributes)),
          n_grams_(std::move(n_grams)),
          sets_(static_cast<std::size_t>(n_sequences)) {}

    // Finds the most violating path of each sequence and moves its shares. The paths of a batch are found
    // with the same weights. Returns by how much the dual has risen.
    double learn(const OnlineExamples& examples, std::int64_t batch, std::int64_t n_threads);

    // Moves shares among the paths found so far. Returns by how much the dual has risen.
    double improve(const OnlineExamples& examples);

    // Both objectives at the current weights. The most violating paths are kept for later steps.
    DualityGap gap(const OnlineExamples& examples, std::int64_t n_threads);

    const Topology& topology() const { return topology_; }
    const AttributeWeights& attributes() const { return attributes_; }
    const NGramWeights& n_grams() const { return n_grams_; }

  private:
    // What a thread needs to find paths.
    struct Finder {
        PathFinder paths;
        AttributeWeights::Buffers buffers;
        FeatureSums features;
        std::vector<double> products;
    };

    PathFinder path_finder() const { return {topology_, 0, forbidden_}; }
    double find(const OnlineExample& example, Finder& finder, WorkingSet& set) const;
    WrongPath wrong_path(const OnlineExample& example, const std::vector<std::int32_t>& path) const;
    double move_shares(const OnlineExample& example, WorkingSet& set);
    template <class VisitState, class VisitCell>
    void for_each_feature(const OnlineExample& example, const WrongPath& path, VisitState visit_state,
                          VisitCell visit_cell) const;

    Topology topology_;
    bool hamming_;
    double cost_;
    Forbidden forbidden_;
    AttributeWeights attributes_;
    NGramWeights n_grams_;
    std::vector<WorkingSet> sets_;  // by sequence
    std::vector<double> bounded_;   // the table of n_grams_ prepared for path finders
    std::vector<double> slopes_;
};

}  // namespace hedgerow
