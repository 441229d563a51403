// The score of one path.
#pragma once

#include <cstdint>

#include "lattice/lattice.hpp"

namespace hedgerow {

template <class Real>
inline double sum_path(const Topology& topology, const Scores<Real>& scores, const std::int32_t* labels) {
    const ScoreReader<Real> reader(topology, scores);
    double sum = 0;
    for (std::int64_t t = 0; t < scores.length; ++t) {
        const std::int64_t context = topology.label_context(labels, t);
        sum += reader.template at<double>(t, topology.first_row(t), labels[t])(context);
    }
    return sum;
}

// Σ_t score of labels[t] at t after the label context of t, over scores.length positions.
template <class Real>
double path_score(const Topology& topology, const Scores<Real>& scores, const std::int32_t* labels) {
    // A constant order: the compiler then removes the loops over label contexts.
    return topology.order == 1 ? sum_path(Topology{topology.n_labels, 1}, scores, labels)
                               : sum_path(topology, scores, labels);
}

}  // namespace hedgerow
