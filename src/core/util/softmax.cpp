#include "util/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "util/parallel.hpp"
#include "util/rounded_sum.hpp"

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

std::int64_t n_tasks(std::int64_t n) {
    return (n + kTaskPositions - 1) / kTaskPositions;
}

// Calls visit(t, scratch, task) for each position t, on threads; scratch: (labels). The positions of a task
// are visited in order.
template <class Visit>
void for_each_position(std::int64_t n, std::int64_t n_labels, std::int64_t n_threads, Visit visit) {
    parallel_for(n_tasks(n), n_threads, [&] {
        return [&, scratch =
                       std::vector<double>(static_cast<std::size_t>(n_labels))](std::int64_t task) mutable {
            const std::int64_t end = std::min((task + 1) * kTaskPositions, n);
            for (std::int64_t t = task * kTaskPositions; t < end; ++t) visit(t, scratch.data(), task);
        };
    });
}

// Calls visit(t, P, task) for each position t with a weight, on threads.
template <class Visit>
void for_each_weighted(const PositionScores<double>& scores, const WeightedGold& gold, std::int64_t n_threads,
                       Visit visit) {
    for_each_position(scores.n_positions, scores.n_labels, n_threads,
                      [&](std::int64_t t, double* p, std::int64_t task) {
                          if (gold.weights[t] == 0) return;
                          const double sum = exponentials(scores, t, p).sum;
                          for (std::int64_t l = 0; l < scores.n_labels; ++l) p[l] /= sum;
                          visit(t, p, task);
                      });
}

}  // namespace

template <class Real>
void log_gold(const PositionScores<Real>& scores, const std::int32_t* gold, double* out,
              std::int64_t n_threads) {
    for_each_position(scores.n_positions, scores.n_labels, n_threads,
                      [&](std::int64_t t, double* scratch, std::int64_t) {
                          const auto [highest, sum] = exponentials(scores, t, scratch);
                          out[t] = score(scores, t, std::max(gold[t], 0)) - highest - std::log(sum);
                      });
}

template <class Real>
void softmax(const PositionScores<Real>& scores, double* out, std::int64_t n_threads) {
    for_each_position(scores.n_positions, scores.n_labels, n_threads,
                      [&](std::int64_t t, double*, std::int64_t) {
                          double* to = out + t * scores.n_labels;
                          const double sum = exponentials(scores, t, to).sum;
                          for (std::int64_t l = 0; l < scores.n_labels; ++l) to[l] /= sum;
                      });
}

void direction_sums(const PositionScores<double>& scores, const WeightedGold& gold, double unit,
                    double* gradient, double* curvature, std::int64_t n_threads) {
    const double rounder = rounder_of(unit);
    const auto k = static_cast<std::size_t>(scores.n_labels);
    const auto tasks = static_cast<std::size_t>(n_tasks(scores.n_positions));
    std::vector<double> sums(tasks * 2 * k, 0.0);  // of each task: gradient, then curvature
    for_each_weighted(scores, gold, n_threads, [&](std::int64_t t, const double* p, std::int64_t task) {
        double* own = sums.data() + static_cast<std::size_t>(task) * 2 * k;
        const double q = scores.q[t], first = gold.weights[t] * q, second = first * q;
        for (std::size_t l = 0; l < k; ++l) {
            own[l] -= rounded(first * p[l], rounder);
            own[k + l] += rounded(second * p[l], rounder);
        }
        own[gold.labels[t]] += rounded(first, rounder);
    });
    std::fill_n(gradient, k, 0.0);
    std::fill_n(curvature, k, 0.0);
    for (std::size_t task = 0; task < tasks; ++task) {
        for (std::size_t l = 0; l < k; ++l) {
            gradient[l] += sums[task * 2 * k + l];
            curvature[l] += sums[(task * 2 + 1) * k + l];
        }
    }
}

void along_direction(const PositionScores<double>& scores, const WeightedGold& gold, double* along,
                     double* variance, std::int64_t n_threads) {
    std::fill_n(along, scores.n_positions, 0.0);
    std::fill_n(variance, scores.n_positions, 0.0);
    for_each_weighted(scores, gold, n_threads, [&](std::int64_t t, const double* p, std::int64_t) {
        double mean = 0, square = 0;
        for (std::int64_t l = 0; l < scores.n_labels; ++l) {
            mean += p[l] * scores.eta[l];
            square += p[l] * scores.eta[l] * scores.eta[l];
        }
        along[t] = gold.weights[t] * (scores.eta[gold.labels[t]] - mean);
        variance[t] = gold.weights[t] * std::max(square - mean * mean, 0.0);
    });
}

template void log_gold(const PositionScores<float>&, const std::int32_t*, double*, std::int64_t);
template void log_gold(const PositionScores<double>&, const std::int32_t*, double*, std::int64_t);
template void softmax(const PositionScores<float>&, double*, std::int64_t);
template void softmax(const PositionScores<double>&, double*, std::int64_t);

}  // namespace hedgerow
