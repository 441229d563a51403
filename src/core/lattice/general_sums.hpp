// log Z and marginals of one sequence by the general sweep of lattice.hpp: any order, any beam, scores of any
// size.
#pragma once

#include "lattice/semiring.hpp"
#include "lattice/topology.hpp"
#include "lattice/views.hpp"

namespace hedgerow {

// Keeps its memory from sequence to sequence.
template <class Real>
class GeneralSums {
  public:
    // Returns log Z. Marginals are 0 if there is no path; out.table is added to.
    double operator()(const Topology& topology, const Scores<Real>& scores, const Beam& beam,
                      const Marginals<Real>& out);

  private:
    LogSum<double> log_sum_;
    LogSum<DoubleDouble> exact_log_sum_;  // for scores that are not are_ordinary()
};

}  // namespace hedgerow
