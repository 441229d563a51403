// The objective of a structured SVM, of the weights w that a learner has now or of their mean:
//
//     1/2 |w|^2 + C/2 sum over sequences of weight * hinge loss
//     hinge loss = max over paths z of (loss(gold, z) + score(z)) - score(gold)
//
// where the loss is the number of wrong labels, or 1 for a wrong path.
#pragma once

#include <cstdint>

#include "linear/margin.hpp"

namespace hedgerow {

struct HingeObjective {
    double squared_size;  // |w|^2
    double hinge_losses;  // the weighted sum
};

// Paths are exact, also if the learner has a beam.
HingeObjective hinge_objective(const MarginLearner& learner, const WeightCopy& copy,
                               const OnlineExamples& examples, std::int64_t n_threads);

}  // namespace hedgerow
