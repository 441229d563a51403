#include "lattice/general_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lattice/lattice.hpp"
#include "util/rounded_sum.hpp"

namespace hedgerow {
namespace {

// The marginal of an edge (h, y) at t is the weight that the reverse sweep gives it; P(y_t = y) = Σ_h P(h,
// y_t = y) is summed in double.
template <class Real, class Semiring>
double sweep(const Topology& topology, const Scores<Real>& scores, const Beam& beam,
             const Marginals<Real>& out, Semiring& semiring) {
    const std::int64_t k = topology.n_labels, length = scores.length;
    const std::int64_t pair_size = topology.n_label_contexts() * k;
    Lattice<Semiring, ScoreReader<Real>> lattice(topology, semiring, {topology, scores}, beam);
    const double log_z = lattice.forward();
    if (out.state) std::fill_n(out.state, length * k, Real(0));
    if (out.pair) std::fill_n(out.pair, length * pair_size, Real(0));
    if (log_z == kMinusInfinity || !(out.state || out.pair || out.table)) return log_z;
    std::vector<double> state(out.state ? static_cast<std::size_t>(k) : 0);
    std::int64_t current = length, row = 0;
    const auto write_state = [&] {
        if (!out.state || current == length) return;
        for (std::int64_t y = 0; y < k; ++y) out.state[current * k + y] = static_cast<Real>(state[y]);
        std::fill(state.begin(), state.end(), 0.0);
    };
    lattice.reverse(1.0, [&](std::int64_t t, std::int64_t node, std::int64_t y, double w, double) {
        if (t == length) return;
        if (t != current) {
            write_state();
            current = t;
            row = topology.first_row(t);
        }
        const std::int64_t h = topology.order == 0 ? 0 : node;
        if (out.state) state[y] += w;
        if (out.pair) out.pair[t * pair_size + h * k + y] += static_cast<Real>(w);
        if (out.table) out.table[(row + h) * k + y] += rounded(out.weight * w, out.rounder);
    });
    write_state();
    return log_z;
}

}  // namespace

template <class Real>
double GeneralSums<Real>::operator()(const Topology& topology, const Scores<Real>& scores, const Beam& beam,
                                     const Marginals<Real>& out) {
    if (are_ordinary(topology, scores)) return sweep(topology, scores, beam, out, log_sum_);
    return sweep(topology, scores, beam, out, exact_log_sum_);
}

template class GeneralSums<float>;
template class GeneralSums<double>;

}  // namespace hedgerow
