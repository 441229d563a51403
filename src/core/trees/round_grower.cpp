#include "trees/round_grower.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "util/parallel.hpp"
#include "util/random.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kBytesOfBlock = 1 << 25;  // of residuals that are transposed together

// The highest power of two whose product with `value` is at most `limit`; 1 if the value is 0.
double power_of_two_below(double limit, double value) {
    if (value == 0) return 1;
    const int power = std::ilogb(limit) - std::ilogb(value) - 1;
    return std::ldexp(1.0, std::min(std::max(power, -1000), 1000));
}

}  // namespace

RoundGrower::RoundGrower(std::shared_ptr<const TreeData> data, std::int64_t n_labels,
                         const GrowthRules& rules, std::vector<double> weights)
    : data_(std::move(data)),
      k_(n_labels),
      rules_(rules),
      weights_(std::move(weights)),
      residuals_(*data_, n_labels),
      label_order_(static_cast<std::size_t>(n_labels)),
      n_counted_(static_cast<std::size_t>(n_labels), 0) {
    std::iota(label_order_.begin(), label_order_.end(), 0);
}

bool RoundGrower::adds_scores(bool samples) const {
    return !samples && rules_.influence_trim == 0;
}

TreeRecords RoundGrower::grow(const RoundInput& round) {
    const std::lock_guard lock(growing_);
    const bool adds = adds_scores(round.in_sample != nullptr);
    std::vector<std::vector<TreeNode>> trees(static_cast<std::size_t>(k_));
    const std::int64_t block =
        std::min(k_, std::max<std::int64_t>({8, 2 * round.n_threads, residuals_.n_labels_of(kBytesOfBlock)}));
    for (std::int64_t first = 0; first < k_; first += block) {
        const std::vector<std::int64_t> labels(label_order_.begin() + first,
                                               label_order_.begin() + std::min(first + block, k_));
        residuals_.load(round.marginals, round.gold, labels, round.n_threads);
        parallel_for(static_cast<std::int64_t>(labels.size()), round.n_threads, [&] {
            return [&, grower = lend_grower()](std::int64_t i) {
                std::int32_t* of_label = residuals_.of_label(i);
                const std::uint64_t seed =
                    round.seed * kGoldenRatio64 + static_cast<std::uint64_t>(labels[i]);
                trees[labels[i]] = grower->grow(of_label, residuals_.width(), round.in_sample, seed);
                n_counted_[labels[i]] = grower->n_counted();
                if (adds) grower->put_values(round.step, of_label);
            };
        });
        n_lent_ = 0;
        if (adds) residuals_.add_to(round.scores, round.n_threads);
    }
    // The next round starts with the labels that cost most, so that threads finish at about the same time.
    std::ranges::stable_sort(label_order_, std::greater(), [&](std::int64_t y) { return n_counted_[y]; });
    TreeRecords records;
    for (const auto& tree : trees) records.add(tree, round.step);
    return records;
}

TreeRecords RoundGrower::grow_shared(const RoundInput& round) {
    const std::lock_guard lock(growing_);
    if (!shared_) shared_ = std::make_unique<MultiOutputGrower>(*data_, k_, rules_, weights());
    shared_residuals_.resize(static_cast<std::size_t>(data_->n_positions * k_));
    for (std::size_t i = 0; i < shared_residuals_.size(); ++i) shared_residuals_[i] = -round.marginals[i];
    for (std::int64_t t = 0; t < data_->n_positions; ++t) shared_residuals_[t * k_ + round.gold[t]] += 1;
    const auto& tree = shared_->grow(shared_residuals_.data(), round.in_sample, round.seed * kGoldenRatio64,
                                     round.n_threads);
    TreeRecords records;
    records.add(tree, round.step, shared_->values().data(), k_);
    if (!adds_scores(round.in_sample != nullptr)) return records;
    shared_->apply([&](std::int64_t t, std::int64_t node) {
        const float* value = shared_->values().data() + node * k_;
        float* to = round.scores + t * k_;
        for (std::int64_t label = 0; label < k_; ++label)
            to[label] += static_cast<float>(value[label] * round.step);
    });
    return records;
}

// Targets and weights become whole numbers that use as many bits as there is room for: see histogram.hpp.
TreeRecords RoundGrower::fit(const double* targets, const double* weights, std::uint64_t seed,
                             float* values) const {
    double highest = 0, sum_of_weights = 0;
    for (std::int64_t t = 0; t < data_->n_positions; ++t) {
        highest = std::max(highest, std::fabs(targets[t]));
        sum_of_weights += weights[t];
    }
    const double scale = power_of_two_below(1, highest);
    const double room = std::ldexp(1.0, kCountShift) - static_cast<double>(data_->n_positions);
    const double unit = power_of_two_below(room, sum_of_weights);
    std::vector<Sums> by_cell(data_->position.size());
    for (std::int64_t t = 0; t < data_->n_positions; ++t) {
        by_cell[data_->cell[t]] =
            one_position(std::llrint(targets[t] * scale * kResidualUnit), std::llrint(weights[t] * unit));
    }
    Grower grower(*data_, k_, rules_, unit, nullptr);
    std::vector<TreeNode> tree = grower.grow(by_cell.data(), seed);
    for (TreeNode& node : tree) node.gain /= scale * scale;
    std::vector<std::int32_t> bits(data_->position.size());
    grower.put_values(1 / scale, bits.data());
    for (std::int64_t t = 0; t < data_->n_positions; ++t)
        values[t] = std::bit_cast<float>(bits[data_->cell[t]]);
    TreeRecords records;
    records.add(tree, 1 / scale);
    return records;
}

void RoundGrower::measure() {
    measures_ = true;
    for (const auto& grower : growers_) grower->measure(&times_.emplace_back());
}

GrowthTimes RoundGrower::times() const {
    GrowthTimes sum;
    for (const GrowthTimes& one : times_) sum += one;
    return sum;
}

std::int64_t RoundGrower::n_counted() const {
    return std::accumulate(n_counted_.begin(), n_counted_.end(), std::int64_t{0});
}

// Weights are whole multiples of 1 / weight_unit. Where positions are split, the unit is as fine as leaves
// room for the weights of all examples.
double RoundGrower::weight_unit() const {
    constexpr double kFine = 65536.0;
    if (rules_.newton) return kFine;
    if (!splits_positions(*data_, rules_.missing)) return weights_.empty() ? 1.0 : 256.0;
    const double examples = static_cast<double>(data_->n_positions) * static_cast<double>(n_contexts());
    double unit = kFine;
    while (unit > 1 && examples * unit >= std::ldexp(1.0, kCountShift)) unit /= 2;
    return unit;
}

std::shared_ptr<Grower> RoundGrower::lend_grower() {
    const std::lock_guard lock(lending_);
    if (n_lent_ == growers_.size()) {
        growers_.push_back(std::make_shared<Grower>(*data_, k_, rules_, weight_unit(), weights()));
        if (measures_) growers_.back()->measure(&times_.emplace_back());
    }
    return growers_[n_lent_++];
}

}  // namespace hedgerow
