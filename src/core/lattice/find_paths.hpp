// Paths of every sequence of a batch: the best one, the n best, or samples.
#pragma once

#include "lattice/lattice_batch.hpp"

namespace hedgerow {

// score[i] = max_y score of path y of sequence i, and labels [positions] = argmax. Where a sequence has no
// path, its score is minus infinity and its labels are 0.
template <class Real>
void best_path(const LatticeBatch<Real>& batch, double* score, std::int32_t* labels);

// The n best paths, best first: score [sequences, n], labels [n, positions]. Where a sequence has fewer
// paths, the score is minus infinity and the labels are 0.
template <class Real>
void best_paths(const LatticeBatch<Real>& batch, std::int64_t n, double* score, std::int32_t* labels);

// n samples from P(y) = exp(score of path y) / Z, exact and independent: labels [n, positions], and log Z of
// every sequence. Labels are 0 where a sequence has no path. The samples depend on the seed and the index of
// the sequence, not on the threads.
template <class Real>
void sample_paths(const LatticeBatch<Real>& batch, std::int64_t n, std::uint64_t seed, double* log_z,
                  std::int32_t* labels);

}  // namespace hedgerow
