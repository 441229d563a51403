#include "linear/path_steps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lattice/fast_lane.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

PathStepLearner::PathStepLearner(const Features& features, std::vector<std::int64_t> cells,
                                 const PathStepRules& rules, double variance, bool averaged)
    : features_(features),
      cells_(std::move(cells)),
      rules_(rules),
      weight_of_cell_(static_cast<std::size_t>((features.width + 1) * features.width), -1),
      values_(static_cast<std::size_t>(features.n()) + cells_.size(), 0.0),
      sums_(averaged ? values_.size() : 0, 0.0),
      variances_(rules.shrinks ? values_.size() : 0, variance),
      table_(weight_of_cell_.size(), 0.0),
      difference_(values_.size(), 0.0),
      is_listed_(values_.size(), 0) {
    for (std::size_t i = 0; i < cells_.size(); ++i)
        weight_of_cell_[cells_[i]] = features.n() + static_cast<std::int64_t>(i);
}

double PathStepLearner::learn(const Slots& slots, std::int64_t begin, std::int64_t end,
                              const std::int32_t* gold, double weight) {
    const std::int64_t length = end - begin;
    read(slots, begin, end);
    find_best_path(length);
    std::int64_t n_wrong = 0;
    for (std::int64_t t = 0; t < length; ++t) n_wrong += path_[t] != gold[t];
    double cost = 0;
    if (n_wrong > 0) {
        find_difference(length, gold);
        cost = std::pow(static_cast<double>(n_wrong), rules_.loss_power);
        double size = rules_.slack;
        for (const std::int64_t f : differing_) {
            cost -= values_[f] * difference_[f];
            size += variance(f) * difference_[f] * difference_[f];
        }
        // Without a difference in features that have weights, no step can change the path.
        if (size > 0) take_step(weight * std::min(rules_.largest_step, cost / size));
    }
    ++n_vectors_;
    return cost;
}

// reads_ <- the attributes of the sequence that have features. Memory is prefetched well before its use.
void PathStepLearner::read(const Slots& slots, std::int64_t begin, std::int64_t end) {
    reads_.clear();
    for (std::int64_t t = begin; t < end; ++t) {
        for_each_id(slots, t, begin, end, [&](std::int32_t id, float value) {
            const std::int64_t first = features_.starts[id], last = features_.starts[id + 1];
            if (first == last) return;
            prefetch(&values_[first]);
            prefetch(&features_.outputs[first]);
            reads_.push_back({first, last, static_cast<double>(value), t - begin});
        });
    }
}

// path_ <- the best path; of equals the one whose last label is lowest, and so on backwards.
void PathStepLearner::find_best_path(std::int64_t length) {
    const std::int64_t k = features_.width;
    state_.assign(static_cast<std::size_t>(length * k), 0.0);
    for (const Read& read : reads_) {
        double* scores = state_.data() + read.position * k;
        for (std::int64_t f = read.begin; f < read.end; ++f)
            scores[features_.outputs[f]] += read.value * values_[f];
    }
    const FastLane<double>& lane = fast_lane<double>();
    const auto size = static_cast<std::size_t>(lane.max_work_size(k, length));
    if (work_.size() < size) work_.resize(size);
    path_.assign(static_cast<std::size_t>(length), 0);
    double score;
    lane.max_sum({length, state_.data(), nullptr, table_.data()}, k, 1, path_.data(), work_.data(), &score);
}

// difference_ <- features of gold - features of the path
void PathStepLearner::find_difference(std::int64_t length, const std::int32_t* gold) {
    for (const std::int64_t f : differing_) {
        difference_[f] = 0;
        is_listed_[f] = 0;
    }
    differing_.clear();
    for (const Read& read : reads_) {
        const std::int32_t right = gold[read.position], found = path_[read.position];
        if (right == found) continue;
        add_state(read, right, read.value);
        add_state(read, found, -read.value);
    }
    for (std::int64_t t = 1; t < length; ++t) {
        if (gold[t] == path_[t] && gold[t - 1] == path_[t - 1]) continue;
        add_cell(gold[t - 1], gold[t], 1.0);
        add_cell(path_[t - 1], path_[t], -1.0);
    }
}

void PathStepLearner::add_state(const Read& read, std::int32_t label, double amount) {
    const std::int32_t *first = features_.outputs + read.begin, *last = features_.outputs + read.end;
    const std::int32_t* at = std::lower_bound(first, last, label);
    if (at != last && *at == label) add(read.begin + (at - first), amount);
}

void PathStepLearner::add_cell(std::int32_t previous, std::int32_t label, double amount) {
    const std::int64_t f = weight_of_cell_[(previous + 1) * features_.width + label];
    if (f >= 0) add(f, amount);
}

void PathStepLearner::add(std::int64_t f, double amount) {
    if (!is_listed_[f]) {
        is_listed_[f] = 1;
        differing_.push_back(f);
    }
    difference_[f] += amount;
}

void PathStepLearner::take_step(double step) {
    const auto before = static_cast<double>(n_vectors_);
    for (const std::int64_t f : differing_) {
        const double d = difference_[f], change = step * variance(f) * d;
        values_[f] += change;
        if (!sums_.empty()) sums_[f] += before * change;
        if (rules_.shrinks) variances_[f] = 1 / (1 / variances_[f] + d * d / rules_.slack);
        if (f >= features_.n()) table_[cells_[f - features_.n()]] = values_[f];
    }
}

void PathStepLearner::copy_weights(double* to) const {
    const auto n = static_cast<double>(n_vectors_);
    for (std::size_t f = 0; f < values_.size(); ++f)
        to[f] = values_[f] - (sums_.empty() ? 0.0 : sums_[f] / n);
}

}  // namespace hedgerow
