#include "trees/round_grower.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "trees/example_selection.hpp"
#include "trees/group_evaluator.hpp"
#include "trees/packing.hpp"
#include "util/lockstep.hpp"
#include "util/parallel.hpp"
#include "util/random.hpp"

namespace hedgerow {
namespace {

constexpr std::int64_t kBytesOfBlock = 1 << 23;  // of residuals that are transposed together

// A group grows the trees of a block of labels at the same time, so every label of a block has memory of its
// own. This is the bound of that memory in each process, if a label alone does not exceed it.
constexpr std::int64_t kBytesOfGroupBlock = std::int64_t{3} << 29;
constexpr std::int64_t kMostTasks = 64;  // threads of a block

// The highest power of two whose product with `value` is at most `limit`; 1 if the value is 0.
double power_of_two_below(double limit, double value) {
    if (value == 0) return 1;
    const int power = std::ilogb(limit) - std::ilogb(value) - 1;
    return std::ldexp(1.0, std::min(std::max(power, -1000), 1000));
}

// What the units of a tree's targets and weights depend on: those of all members.
struct FitLimits {
    double highest_target = 0, sum_of_weights = 0;
};

FitLimits limits_of(const double* targets, const double* weights, std::int64_t n, Exchange* exchange) {
    double highest[2] = {};  // target, weight
    for (std::int64_t t = 0; t < n; ++t) {
        highest[0] = std::max(highest[0], std::fabs(targets[t]));
        highest[1] = std::max(highest[1], weights[t]);
    }
    if (exchange) {
        Message own;
        MessageWriter(own).put(highest, 2);
        const std::vector<Received> all = exchange->gather(own);
        for (MessageReader from : readers_of(all))
            for (double& one : highest) one = std::max(one, from.get<double>());
    }
    // Whole numbers, so that the sum does not depend on how positions are divided among members; rounded up,
    // so that it is never too small. There are fewer than 2^31 positions.
    const double unit = power_of_two_below(0x1p31, highest[1]);
    std::vector<std::int64_t> sum{0};
    for (std::int64_t t = 0; t < n; ++t) sum[0] += static_cast<std::int64_t>(std::ceil(weights[t] * unit));
    if (exchange) sum_over_members(*exchange, sum);
    return {highest[0], static_cast<double>(sum[0]) / unit};
}

}  // namespace

RoundGrower::RoundGrower(std::shared_ptr<const TreeData> data, std::int64_t n_labels,
                         const GrowthRules& rules, std::vector<double> weights,
                         std::shared_ptr<Exchange> exchange)
    : data_(std::move(data)),
      k_(n_labels),
      rules_(rules),
      weights_(std::move(weights)),
      exchange_(std::move(exchange)),
      residuals_(*data_, n_labels),
      label_order_(static_cast<std::size_t>(n_labels)),
      n_counted_(static_cast<std::size_t>(n_labels), 0) {
    std::iota(label_order_.begin(), label_order_.end(), 0);
    if (exchange_) join_group();
    packing_ = pack();
}

// All members take the same decisions: about weights, and about blocks of labels.
void RoundGrower::join_group() {
    layout_ = std::make_unique<GroupLayout>(*data_, *exchange_);
    std::int64_t most_bytes = 0;
    bool weighted = false;
    Message own;
    MessageWriter to(own);
    to.put(std::int64_t{!weights_.empty()});
    to.put(bytes_of_label());
    to.put(data_->n_positions);
    const std::vector<Received> all = exchange_->gather(own);
    std::int64_t member = 0;
    for (MessageReader from : readers_of(all)) {
        weighted |= from.get<std::int64_t>() != 0;
        most_bytes = std::max(most_bytes, from.get<std::int64_t>());
        const auto n_positions = from.get<std::int64_t>();
        if (member++ < layout_->rank) first_position_ += n_positions;
    }
    // A member without positions gets a weight that is not read: without weights it would pack sums
    // otherwise.
    if (weighted)
        weights_.resize(static_cast<std::size_t>(std::max<std::int64_t>(data_->n_positions, 1)), 1.0);
    group_block_ = std::clamp<std::int64_t>(kBytesOfGroupBlock / std::max<std::int64_t>(1, most_bytes), 1,
                                            std::min(k_, kMostTasks));
}

// An estimate: residuals, layers of positions, histograms and messages of a label that grows in a group.
std::int64_t RoundGrower::bytes_of_label() const {
    constexpr std::int64_t kBytesOfPlace = 24, kBytesOfEntry = 40;  // the latter: histograms, maps, messages
    const std::int64_t layers = data_->order == 0 ? 1 : 4;
    const std::int64_t places = residuals_.bytes_of_label() + kBytesOfPlace * layers * data_->n_cells();
    return places + kBytesOfEntry * data_->n_entries + GroupEvaluator::kBytesKept;
}

bool RoundGrower::adds_scores(bool samples) const {
    return !samples && rules_.influence_trim == 0 && !rules_.leaves_out_examples();
}

TreeRecords RoundGrower::grow(const RoundInput& round) {
    const std::lock_guard lock(growing_);
    const bool adds = adds_scores(round.in_sample != nullptr);
    Trees trees(static_cast<std::size_t>(k_));
    const std::int64_t block = block_size(round.n_threads);
    for (std::int64_t first = 0; first < k_; first += block) {
        const std::vector<std::int64_t> labels(label_order_.begin() + first,
                                               label_order_.begin() + std::min(first + block, k_));
        residuals_.load(round.marginals, round.gold, labels, round.n_threads);
        n_lent_ = 0;
        grow_block(round, labels, trees);
        if (adds) residuals_.add_to(round.scores, round.n_threads);
    }
    // The next round starts with the labels that cost most, so that threads finish at about the same time. A
    // group keeps the order, because its members count different positions.
    if (!exchange_)
        std::ranges::stable_sort(label_order_, std::greater(), [&](std::int64_t y) { return n_counted_[y]; });
    TreeRecords records;
    for (const auto& tree : trees) records.add(tree, round.step);
    return records;
}

std::int64_t RoundGrower::block_size(std::int64_t n_threads) const {
    if (exchange_) return group_block_;
    return std::min(k_, std::max<std::int64_t>({8, 2 * n_threads, residuals_.n_labels_of(kBytesOfBlock)}));
}

void RoundGrower::grow_block(const RoundInput& round, const std::vector<std::int64_t>& labels, Trees& trees) {
    const auto n = static_cast<std::int64_t>(labels.size());
    if (!exchange_) {
        return parallel_for(n, round.n_threads, [&] {
            return
                [&, grower = lend_grower()](std::int64_t i) { grow_label(*grower, round, labels, i, trees); };
        });
    }
    std::vector<std::shared_ptr<Grower>> growers;
    for (std::int64_t i = 0; i < n; ++i) growers.push_back(lend_grower());
    Lockstep(*exchange_, n, round.n_threads).run([&](std::int64_t i, Exchange& exchange) {
        growers[i]->use(exchange);
        grow_label(*growers[i], round, labels, i, trees);
    });
}

// Grows the tree of the i-th label of a block.
void RoundGrower::grow_label(Grower& grower, const RoundInput& round, const std::vector<std::int64_t>& labels,
                             std::int64_t i, Trees& trees) {
    std::int32_t* of_label = residuals_.of_label(i);
    const std::uint64_t seed = round.seed * kGoldenRatio64 + static_cast<std::uint64_t>(labels[i]);
    leave_out_examples(*data_, rules_, k_, residuals_.width(), first_position_, seed, of_label);
    trees[labels[i]] = grower.grow(of_label, residuals_.width(), round.in_sample, seed);
    n_counted_[labels[i]] = grower.n_counted();
    if (adds_scores(round.in_sample != nullptr)) grower.put_values(round.step, of_label);
}

TreeRecords RoundGrower::grow_shared(const RoundInput& round) {
    const std::lock_guard lock(growing_);
    if (!shared_) {
        if (exchange_) shared_group_ = std::make_unique<Group>(*layout_, exchange_.get());
        shared_ = std::make_unique<MultiOutputGrower>(*data_, k_, rules_, weights(), shared_group_.get());
    }
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
    const FitLimits limits = limits_of(targets, weights, data_->n_positions, exchange_.get());
    require(std::isfinite(limits.sum_of_weights), "the sum of weights is finite");
    const double scale = power_of_two_below(1, limits.highest_target);
    Packing packing{1, count_shift_for(data_->n_all_positions)};
    const double room = static_cast<double>(packing.one() - data_->n_all_positions);
    packing.weight_unit = power_of_two_below(room, limits.sum_of_weights);
    const double unit = packing.weight_unit;
    std::vector<Sums> by_cell(data_->position.size());
    for (std::int64_t t = 0; t < data_->n_positions; ++t) {
        by_cell[data_->cell[t]] = {std::llrint(targets[t] * scale * kResidualUnit),
                                   packing.one() + std::llrint(weights[t] * unit)};
    }
    Grower grower(*data_, k_, rules_, packing, nullptr, layout_.get());
    if (exchange_) grower.use(*exchange_);
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

Packing RoundGrower::pack() const {
    const double n_contexts_of_all = static_cast<double>(n_contexts());
    if (rules_.newton) return choose_packing(data_->n_all_positions, 0.25, 65536, 256);
    if (splits_positions(*data_, rules_.missing))
        return choose_packing(data_->n_all_positions, n_contexts_of_all, 65536, 1);
    return weights_.empty() ? choose_packing(data_->n_all_positions, n_contexts_of_all, 1, 1)
                            : choose_packing(data_->n_all_positions, n_contexts_of_all, 256, 16);
}

std::shared_ptr<Grower> RoundGrower::lend_grower() {
    const std::lock_guard lock(lending_);
    if (n_lent_ == growers_.size()) {
        growers_.push_back(std::make_shared<Grower>(*data_, k_, rules_, packing_, weights(), layout_.get()));
        if (measures_) growers_.back()->measure(&times_.emplace_back());
    }
    return growers_[n_lent_++];
}

}  // namespace hedgerow
