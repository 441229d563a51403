#include "linear/stochastic.hpp"

#include <algorithm>
#include <cmath>

#include "linear/n_gram_weights.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

namespace {
constexpr double kMostDecay = 0.5;  // the largest decay of one step
}  // namespace

StochasticLearner::StochasticLearner(const Topology& topology, const Features& features,
                                     std::vector<std::int64_t> cells, Forbidden forbidden, double rate,
                                     double decay)
    : topology_(topology),
      features_(features),
      entries_(static_cast<std::size_t>(features.n())),
      cells_(std::move(cells)),
      forbidden_(std::move(forbidden)),
      n_grams_(cells_.size(), 0.0),
      sums_(entries_.size() + cells_.size(), 0.0),
      table_(static_cast<std::size_t>(topology.n_rows() * topology.n_labels)),
      n_gram_residuals_(table_.size()),
      prepared_(static_cast<std::size_t>(fast_lane<float>().table_size(topology.n_labels))),
      first_rate_(decay > 0 ? std::min(rate, kMostDecay / decay) : rate),
      decay_(decay) {
    for (std::size_t f = 0; f < entries_.size(); ++f) entries_[f] = {features.outputs[f], 0.0f};
}

double StochasticLearner::loss(const Slots& slots, std::int64_t begin, std::int64_t end,
                               const std::int32_t* gold) {
    read(slots, begin, end);
    score(end - begin);
    fill_table();
    const double log_z = infer(end - begin);
    return log_z - subtract_from_gold(end - begin, gold);
}

double StochasticLearner::learn(const Slots& slots, std::int64_t begin, std::int64_t end,
                                const std::int32_t* gold, double weight) {
    const double before = loss(slots, begin, end, gold);
    const double rate = first_rate_ / (1 + first_rate_ * decay_ * static_cast<double>(n_seen_));
    scale_ *= 1 - rate * decay_;
    absorb(rate * weight / scale_);
    ++n_seen_;
    before_ += static_cast<double>(n_seen_) * scale_;
    total_ += static_cast<double>(n_seen_);
    return before;
}

// reads_ <- the attributes of the sequence that have features. Memory is prefetched well before its use.
void StochasticLearner::read(const Slots& slots, std::int64_t begin, std::int64_t end) {
    reads_.clear();
    for (std::int64_t t = begin; t < end; ++t) {
        for_each_id(slots, t, begin, end, [&](std::int32_t id, float value) {
            prefetch(features_.starts + id);
            reads_.push_back({id, id, value, static_cast<std::int32_t>(t - begin)});
        });
    }
    std::size_t n = 0;
    for (Read read : reads_) {
        read.begin = features_.starts[read.end];
        read.end = features_.starts[read.end + 1];
        if (read.begin == read.end) continue;
        prefetch(&entries_[read.begin]);
        prefetch(&sums_[read.begin]);
        reads_[n++] = read;
    }
    reads_.resize(n);
}

void StochasticLearner::score(std::int64_t length) {
    const std::int64_t k = topology_.n_labels;
    const auto size = static_cast<std::size_t>(length * k);
    state_.assign(size, 0.0f);
    residuals_.resize(size);
    for (const Read& read : reads_) {
        float* scores = state_.data() + read.position * k;
        for (std::int64_t f = read.begin; f < read.end; ++f)
            scores[entries_[f].output] += read.value * entries_[f].value;
    }
    const auto scale = static_cast<float>(scale_);
    for (float& score : state_) score *= scale;
    forbidden_.apply_to_end(state_.data() + (length - 1) * k);
}

void StochasticLearner::fill_table() {
    std::fill(table_.begin(), table_.end(), 0.0f);
    for (std::size_t i = 0; i < cells_.size(); ++i)
        table_[cells_[i]] = static_cast<float>(scale_ * n_grams_[i]);
    sum_shorter_contexts(topology_, table_.data());
    for (const std::int64_t cell : forbidden_.cells) table_[cell] = Forbidden::kNever;
}

// residuals_ <- state marginals, n_gram_residuals_ <- pair marginals summed by row of the table. Returns
// log Z.
double StochasticLearner::infer(std::int64_t length) {
    const std::int64_t k = topology_.n_labels, order = topology_.order;
    const Scores<float> scores{length, state_.data(), nullptr, table_.data()};
    const Marginals<float> out{residuals_.data(), nullptr, n_gram_residuals_.data(), 1.0};
    std::fill(n_gram_residuals_.begin(), n_gram_residuals_.end(), 0.0);
    if (order > 1) return general_sums_(topology_, scores, {}, out);
    const FastLane<float>& lane = fast_lane<float>();
    double shifts[2] = {0, 0}, log_z = 0;
    if (order == 1) lane.prepare(table_.data(), k, prepared_.data(), shifts);
    const auto size = static_cast<std::size_t>(lane.work_size(k, order, length, false));
    if (work_.size() < size) work_.resize(size);
    if (lane.sum_product(scores, k, order, prepared_.data(), shifts, out, work_.data(), &log_z)) return log_z;
    std::fill(n_gram_residuals_.begin(), n_gram_residuals_.end(), 0.0);
    return general_sums_(topology_, scores, {}, out);
}

// Marginals <- gold counts - marginals; those of an n-gram are summed over the rows of the table that contain
// it. Returns the score of the gold labels.
double StochasticLearner::subtract_from_gold(std::int64_t length, const std::int32_t* gold) {
    const std::int64_t k = topology_.n_labels;
    for (float& residual : residuals_) residual = -residual;
    for (double& residual : n_gram_residuals_) residual = -residual;
    double score = 0;
    for (std::int64_t t = 0; t < length; ++t) {
        const std::int64_t row = topology_.first_row(t) + topology_.label_context(gold, t);
        const std::int64_t cell = row * k + gold[t];
        score += static_cast<double>(state_[t * k + gold[t]]) + static_cast<double>(table_[cell]);
        residuals_[t * k + gold[t]] += 1.0f;
        n_gram_residuals_[cell] += 1.0;
    }
    sum_longer_contexts(topology_, n_gram_residuals_.data());
    return score;
}

void StochasticLearner::absorb(double step) {
    for (const Read& read : reads_) {
        const float* residual = residuals_.data() + read.position * topology_.n_labels;
        const auto amount = static_cast<float>(step * static_cast<double>(read.value));
        for (std::int64_t f = read.begin; f < read.end; ++f) {
            const float change = amount * residual[entries_[f].output];
            entries_[f].value += change;
            sums_[f] += before_ * static_cast<double>(change);
        }
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const double change = step * n_gram_residuals_[cells_[i]];
        n_grams_[i] += change;
        sums_[entries_.size() + i] += before_ * change;
    }
}

double StochasticLearner::squared_size() const {
    double sum = 0;
    for (const Entry& entry : entries_)
        sum += static_cast<double>(entry.value) * static_cast<double>(entry.value);
    for (const double value : n_grams_) sum += value * value;
    return scale_ * scale_ * sum;
}

void StochasticLearner::mean(double* weights) const {
    const double total = std::max(total_, 1.0);
    for (std::size_t f = 0; f < entries_.size(); ++f)
        weights[f] = (before_ * static_cast<double>(entries_[f].value) - sums_[f]) / total;
    for (std::size_t i = 0; i < cells_.size(); ++i)
        weights[entries_.size() + i] = (before_ * n_grams_[i] - sums_[entries_.size() + i]) / total;
}

}  // namespace hedgerow
