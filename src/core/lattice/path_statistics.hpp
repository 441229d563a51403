// Numbers that describe the paths of every sequence of a batch: entropy, count, and the score of one path.
#pragma once

#include "lattice/lattice_batch.hpp"

namespace hedgerow {

// entropy[i] = -Σ_y P(y) log P(y) over the paths y of sequence i, in nats; minus infinity without a path.
template <class Real>
void path_entropy(const LatticeBatch<Real>& batch, double* entropy);

// count[i] = log of the number of paths of sequence i that are not forbidden.
template <class Real>
void log_path_count(const LatticeBatch<Real>& batch, double* count);

// score[i] = score of the given path of sequence i; labels [positions].
template <class Real>
void path_scores(const LatticeBatch<Real>& batch, const std::int32_t* labels, double* score);

}  // namespace hedgerow
