#include "linear/frank_wolfe.hpp"

#include <algorithm>
#include <utility>

#include "linear/hinge_objective.hpp"
#include "linear/path_difference.hpp"
#include "util/interrupt.hpp"
#include "util/ordered_sum.hpp"
#include "util/parallel.hpp"
#include "util/rounds.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kGapTaskExamples = 16;   // sequences that a thread takes at a time
constexpr std::int64_t kExamplesPerPoll = 256;  // sequences between two polls for interrupts

}  // namespace

double FrankWolfeLearner::learn(const OnlineExamples& examples, std::int64_t batch, std::int64_t n_threads) {
    const std::vector<std::int64_t> numbers = longest_first(examples, batch);
    const PathFinder bounds = path_finder();
    bounds.bound(n_grams_.table(), bounded_);
    double risen = 0;
    parallel_rounds(
        examples.n, batch, n_threads,
        [&] {
            return [&, finder = Finder{path_finder(), {}, {}, {}}](std::int64_t n) mutable {
                const std::int64_t i = numbers[n];
                find(examples[i], finder, sets_[examples.order[i]]);
            };
        },
        [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i)
                risen += move_shares(examples[i], sets_[examples.order[i]]);
            bounds.bound(n_grams_.table(), bounded_);
        });
    return risen;
}

double FrankWolfeLearner::improve(const OnlineExamples& examples) {
    double risen = 0;
    InterruptPoll poll;
    for (std::int64_t i = 0; i < examples.n; ++i) {
        risen += move_shares(examples[i], sets_[examples.order[i]]);
        if (i % kExamplesPerPoll == 0) poll();
    }
    return risen;
}

DualityGap FrankWolfeLearner::gap(const OnlineExamples& examples, std::int64_t n_threads) {
    path_finder().bound(n_grams_.table(), bounded_);
    std::vector<double> losses(static_cast<std::size_t>(examples.n));
    parallel_for((examples.n + kGapTaskExamples - 1) / kGapTaskExamples, n_threads, [&] {
        return [&, finder = Finder{path_finder(), {}, {}, {}}](std::int64_t task) mutable {
            const std::int64_t last = std::min(examples.n, (task + 1) * kGapTaskExamples);
            for (std::int64_t i = task * kGapTaskExamples; i < last; ++i)
                losses[i] = find(examples[i], finder, sets_[examples.order[i]]);
        };
    });
    const std::vector<float>& cells = n_grams_.values();
    DualityGap gap{attributes_.squared_size(n_threads) +
                       OrderedSum(static_cast<std::int64_t>(cells.size()), 1).dot(cells.data(), cells.data()),
                   0, 0};
    for (std::int64_t i = 0; i < examples.n; ++i) {
        double dual_loss = 0;
        for (const WrongPath& path : sets_[examples.order[i]].paths()) dual_loss += path.share * path.loss;
        gap.hinge_losses += cost_ * examples.weight(i) * losses[i];
        gap.dual_losses += cost_ * examples.weight(i) * dual_loss;
    }
    return gap;
}

// Adds the most violating path to the working set, unless it is gold; returns the hinge loss.
double FrankWolfeLearner::find(const OnlineExample& example, Finder& finder, WorkingSet& set) const {
    float* scores = finder.paths.label_scores(example.length());
    attributes_.score(example.slots, example.begin, example.end, example.begin, example.end, scores,
                      finder.buffers);
    if (hamming_) add_loss(example, topology_.n_labels, scores);
    const double loss = hinge_loss(example, hamming_, n_grams_.table(), bounded_, finder.paths);
    if (loss <= 0) return 0;
    WrongPath path = wrong_path(example, finder.paths.path());
    if (set.has(path)) return loss;
    const std::int64_t k = topology_.n_labels, n_attribute_features = attributes_.n_ids() * k;
    finder.features.clear();
    for_each_feature(
        example, path,
        [&](std::int32_t id, std::int32_t label, double part) { finder.features.add(id * k + label, part); },
        [&](std::int64_t cell, double part) { finder.features.add(n_attribute_features + cell, part); });
    const auto product = [&](const WrongPath& other) {
        double sum = 0;
        for_each_feature(
            example, other,
            [&](std::int32_t id, std::int32_t label, double part) {
                sum += part * finder.features[id * k + label];
            },
            [&](std::int64_t cell, double part) {
                sum += part * finder.features[n_attribute_features + cell];
            });
        return sum;
    };
    finder.products.clear();
    for (const WrongPath& other : set.paths()) finder.products.push_back(product(other));
    finder.products.push_back(product(path));
    set.add(std::move(path), finder.products);
    set.tidy();
    return loss;
}

WrongPath FrankWolfeLearner::wrong_path(const OnlineExample& example,
                                        const std::vector<std::int32_t>& path) const {
    WrongPath wrong;
    for_each_difference(
        n_grams_, topology_.order, example.gold, path.data(), example.length(),
        [&](std::int64_t t) { wrong.labels.push_back({static_cast<std::int32_t>(t), path[t], 1.0}); },
        [&](const std::int32_t* labels, std::int64_t cell) {
            wrong.n_grams.push_back({cell, labels == example.gold ? 1.0 : -1.0});
        });
    wrong.loss = hamming_ ? static_cast<double>(wrong.labels.size()) : 1.0;
    std::ranges::stable_sort(wrong.n_grams, {}, &WrongPath::NGram::cell);
    std::size_t n = 0;  // n-grams of gold and path cancel
    for (const WrongPath::NGram& item : wrong.n_grams) {
        if (n > 0 && wrong.n_grams[n - 1].cell == item.cell)
            wrong.n_grams[n - 1].part += item.part;
        else
            wrong.n_grams[n++] = item;
    }
    wrong.n_grams.resize(n);
    std::erase_if(wrong.n_grams, [](const WrongPath::NGram& item) { return item.part == 0; });
    wrong.n_grams.shrink_to_fit();
    wrong.labels.shrink_to_fit();
    return wrong;
}

// Calls visit_state(attribute, label, part) and visit_cell(cell, part) for the features of gold - those of
// the path.
template <class VisitState, class VisitCell>
void FrankWolfeLearner::for_each_feature(const OnlineExample& example, const WrongPath& path,
                                         VisitState visit_state, VisitCell visit_cell) const {
    for (const WrongPath::Label& wrong : path.labels) {
        for_each_id(example.slots, example.begin + wrong.t, example.begin, example.end,
                    [&](std::int32_t id, float value) {
                        if (!attributes_.keeps(id)) return;
                        const double part = wrong.part * static_cast<double>(value);
                        visit_state(id, example.gold[wrong.t], part);
                        visit_state(id, wrong.label, -part);
                    });
    }
    for (const WrongPath::NGram& n_gram : path.n_grams) visit_cell(n_gram.cell, n_gram.part);
}

// Moves the shares of one sequence to where the dual is highest, and the weights with them.
double FrankWolfeLearner::move_shares(const OnlineExample& example, WorkingSet& set) {
    if (set.paths().empty()) return 0;
    slopes_.clear();
    for (const WrongPath& path : set.paths()) {
        double slope = path.loss;
        for_each_feature(
            example, path,
            [&](std::int32_t id, std::int32_t label, double part) {
                slope -= part * static_cast<double>(attributes_.row(id)[label]);
            },
            [&](std::int64_t cell, double part) {
                slope -= part * static_cast<double>(n_grams_.values()[cell]);
            });
        slopes_.push_back(slope);
    }
    const double cost = cost_ * static_cast<double>(example.weight);
    const double risen = set.climb(slopes_, cost);
    for (const WrongPath& path : set.paths()) {
        if (path.moved == 0) continue;
        const double factor = cost * path.moved;
        for_each_feature(
            example, path,
            [&](std::int32_t id, std::int32_t label, double part) {
                attributes_.add(id, label, static_cast<float>(factor * part), 0.0);
            },
            [&](std::int64_t cell, double part) {
                n_grams_.add(cell, static_cast<float>(factor * part), 0.0);
            });
    }
    return risen;
}

}  // namespace hedgerow
