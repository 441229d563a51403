// The objective of a structured SVM, of the weights w that a learner has now or of their mean:
//
//     1/2 |w|^2 + C/2 sum over sequences of weight * hinge loss
//     hinge loss = max over paths z of (loss(gold, z) + score(z)) - score(gold)
//
// where the loss is the number of wrong labels, or 1 for a wrong path.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/margin.hpp"

namespace hedgerow {

struct HingeObjective {
    double squared_size;  // |w|^2
    double hinge_losses;  // the weighted sum
};

// Adds the Hamming loss to label scores (length, labels): 1 for each wrong label.
void add_loss(const OnlineExample& example, std::int64_t n_labels, float* scores);

// The hinge loss of a sequence; paths.path() becomes the path z of the maximum, or gold if that is not known.
// IN: paths has the label scores, which include a Hamming loss; the table of transitions, bounded for paths.
double hinge_loss(const OnlineExample& example, bool hamming, const float* table,
                  const std::vector<double>& bounded, PathFinder& paths);

// Paths are exact, also if the learner has a beam.
HingeObjective hinge_objective(const MarginLearner& learner, const WeightCopy& copy,
                               const OnlineExamples& examples, std::int64_t n_threads);

}  // namespace hedgerow
