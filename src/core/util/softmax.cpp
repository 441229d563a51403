#include "util/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "util/parallel.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kTaskPositions = 1024;  // positions of one task of a thread

template <class Real>
double score(const PositionScores<Real>& from, std::int64_t t, std::int64_t l) {
    const auto own = static_cast<double>(from.scores[t * from.n_labels + l]);
    return from.eta ? own + from.q[t] * from.eta[l] : own;
}

struct Sum {
    double highest, sum;
};

// OUT: to_l = exp(s_l - max s). Returns max s and the sum of to_l.
template <class Real>
Sum exponentials(const PositionScores<Real>& from, std::int64_t t, double* to) {
    for (std::int64_t l = 0; l < from.n_labels; ++l) to[l] = score(from, t, l);
    const double highest = *std::max_element(to, to + from.n_labels);
    double sum = 0;
    for (std::int64_t l = 0; l < from.n_labels; ++l) sum += to[l] = std::exp(to[l] - highest);
    return {highest, sum};
}

// Calls visit(t, scratch) for each position t, on threads; scratch: (labels).
template <class Visit>
void for_each_position(std::int64_t n, std::int64_t n_labels, std::int64_t n_threads, Visit visit) {
    parallel_for((n + kTaskPositions - 1) / kTaskPositions, n_threads, [&] {
        return [&, scratch =
                       std::vector<double>(static_cast<std::size_t>(n_labels))](std::int64_t task) mutable {
            const std::int64_t end = std::min((task + 1) * kTaskPositions, n);
            for (std::int64_t t = task * kTaskPositions; t < end; ++t) visit(t, scratch.data());
        };
    });
}

}  // namespace

template <class Real>
void log_gold(const PositionScores<Real>& scores, const std::int32_t* gold, double* out,
              std::int64_t n_threads) {
    for_each_position(scores.n_positions, scores.n_labels, n_threads, [&](std::int64_t t, double* scratch) {
        const auto [highest, sum] = exponentials(scores, t, scratch);
        out[t] = score(scores, t, std::max(gold[t], 0)) - highest - std::log(sum);
    });
}

template <class Real>
void softmax(const PositionScores<Real>& scores, double* out, std::int64_t n_threads) {
    for_each_position(scores.n_positions, scores.n_labels, n_threads, [&](std::int64_t t, double*) {
        double* to = out + t * scores.n_labels;
        const double sum = exponentials(scores, t, to).sum;
        for (std::int64_t l = 0; l < scores.n_labels; ++l) to[l] /= sum;
    });
}

template void log_gold(const PositionScores<float>&, const std::int32_t*, double*, std::int64_t);
template void log_gold(const PositionScores<double>&, const std::int32_t*, double*, std::int64_t);
template void softmax(const PositionScores<float>&, double*, std::int64_t);
template void softmax(const PositionScores<double>&, double*, std::int64_t);

}  // namespace hedgerow
