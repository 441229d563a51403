#include "linear/hinge_objective.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "util/ordered_sum.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kTaskExamples = 16;  // sequences that a thread takes at a time

}  // namespace

void add_loss(const OnlineExample& example, std::int64_t n_labels, float* scores) {
    for (std::int64_t t = 0; t < example.length(); ++t)
        for (std::int64_t y = 0; y < n_labels; ++y)
            scores[t * n_labels + y] += y != example.gold[t] ? 1.0f : 0.0f;
}

double hinge_loss(const OnlineExample& example, bool hamming, const float* table,
                  const std::vector<double>& bounded, PathFinder& paths) {
    const std::int64_t length = example.length();
    const std::vector<std::int32_t>& path = paths.best(table, bounded);
    if (std::equal(path.begin(), path.end(), example.gold) && (hamming || !paths.next_best(table)))
        return 0.0;
    const double lead = paths.score(table, path.data(), length) - paths.score(table, example.gold, length);
    return std::max(lead + (hamming ? 0.0 : 1.0), 0.0);
}

HingeObjective hinge_objective(const MarginLearner& learner, const WeightCopy& copy,
                               const OnlineExamples& examples, std::int64_t n_threads) {
    const Topology& topology = learner.topology();
    const std::int64_t k = topology.n_labels;
    const bool hamming = learner.rules().hamming;
    const AttributeWeights attributes = learner.attributes().copied(copy, n_threads);
    std::vector<float> table = learner.n_grams().copied(copy);
    const auto n_cells = static_cast<std::int64_t>(table.size());
    const double squared_size =
        attributes.squared_size(n_threads) + OrderedSum(n_cells, 1).dot(table.data(), table.data());
    sum_shorter_contexts(topology, table.data());
    std::vector<double> bounded;
    PathFinder(topology, 0, learner.forbidden()).bound(table.data(), bounded);

    std::vector<double> losses(static_cast<std::size_t>(examples.n));
    parallel_for((examples.n + kTaskExamples - 1) / kTaskExamples, n_threads, [&] {
        return [&, paths = PathFinder(topology, 0, learner.forbidden()),
                buffers = AttributeWeights::Buffers()](std::int64_t task) mutable {
            const std::int64_t last = std::min(examples.n, (task + 1) * kTaskExamples);
            for (std::int64_t i = task * kTaskExamples; i < last; ++i) {
                const OnlineExample example = examples[i];
                float* scores = paths.label_scores(example.length());
                attributes.score(example.slots, example.begin, example.end, example.begin, example.end,
                                 scores, buffers);
                if (hamming) add_loss(example, k, scores);
                losses[i] = hinge_loss(example, hamming, table.data(), bounded, paths);
            }
        };
    });
    double sum = 0;
    for (std::int64_t i = 0; i < examples.n; ++i) sum += examples.weight(i) * losses[i];
    return {squared_size, sum};
}

}  // namespace hedgerow
