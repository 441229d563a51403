#include "lattice/pair_sums.hpp"

#include "util/rounded_sum.hpp"

namespace hedgerow {

template <class Real>
void add_pairs_by_row(const Topology& topology, const std::int64_t* starts, std::int64_t n, const Real* pair,
                      const double* weights, double unit, double* table) {
    const double rounder = rounder_of(unit);
    const std::int64_t k = topology.n_labels, size = topology.n_label_contexts() * k;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t t = starts[i]; t < starts[i + 1]; ++t, pair += size) {
            const std::int64_t place = t - starts[i];
            double* to = table + topology.first_row(place) * k;
            // A position with fewer labels before it than the order has only the first label contexts.
            const std::int64_t used = place < topology.order ? topology.power(place) * k : size;
            for (std::int64_t j = 0; j < used; ++j)
                to[j] += rounded(weights[i] * static_cast<double>(pair[j]), rounder);
        }
    }
}

template void add_pairs_by_row(const Topology&, const std::int64_t*, std::int64_t, const float*,
                               const double*, double, double*);
template void add_pairs_by_row(const Topology&, const std::int64_t*, std::int64_t, const double*,
                               const double*, double, double*);

}  // namespace hedgerow
