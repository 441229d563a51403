#include "lattice/path_statistics.hpp"

#include <cmath>

#include "lattice/path_score.hpp"

namespace hedgerow {

// A node of weight W that shares it as w_1 + w_2 + ... = W adds -Σ_j w_j log(w_j / W): its weight times the
// entropy of the choice among its incoming edges.
template <class Real>
void path_entropy(const LatticeBatch<Real>& batch, double* entropy) {
    for_each_sum_lattice<LogSum>(batch, [&](auto& lattice, auto&, std::int64_t i) {
        double sum = 0;
        const bool any = lattice.forward() != kMinusInfinity;
        lattice.reverse(any ? 1.0 : 0.0,
                        [&](std::int64_t, std::int64_t, std::int64_t, double w, double node) {
                            if (w > 0) sum -= w * std::log(w / node);
                        });
        entropy[i] = any ? sum : kMinusInfinity;
    });
}

// If every allowed edge scores 0, then Z is the number of paths.
template <class Real>
void log_path_count(const LatticeBatch<Real>& batch, double* count) {
    for_each_lattice<SupportReader>(
        batch, LogSum<double>(), [&](auto& lattice, auto&, std::int64_t i) { count[i] = lattice.forward(); });
}

template <class Real>
void path_scores(const LatticeBatch<Real>& batch, const std::int32_t* labels, double* score) {
    batch.for_each_sequence([&] {
        return [&](std::int64_t i) {
            score[i] = path_score(batch.topology, batch.scores(i), labels + batch.first(i));
        };
    });
}

template void path_entropy(const LatticeBatch<float>&, double*);
template void path_entropy(const LatticeBatch<double>&, double*);
template void log_path_count(const LatticeBatch<float>&, double*);
template void log_path_count(const LatticeBatch<double>&, double*);
template void path_scores(const LatticeBatch<float>&, const std::int32_t*, double*);
template void path_scores(const LatticeBatch<double>&, const std::int32_t*, double*);

}  // namespace hedgerow
