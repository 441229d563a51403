#include "linear/dual_ascent.hpp"

#include <algorithm>
#include <cmath>

#include "linear/linear_kernels.hpp"
#include "linear/n_gram_weights.hpp"
#include "util/interrupt.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kAttributesAhead = 8;  // attributes whose weights are prefetched
constexpr std::int64_t kRowsAtOnce = 32;      // rows that are summed at once
constexpr float kSmallestSum = 1e-20f;        // added to p + a, which can be 0

}  // namespace

DualAscent::DualAscent(const AttributeView& attributes, const Features& features, const Topology& topology,
                       std::vector<std::int64_t> cells, Forbidden forbidden, const std::int32_t* gold,
                       const double* weights, const std::vector<std::int64_t>& sequences,
                       const DualRules& rules, std::int64_t n_batches)
    : attributes_(attributes),
      features_(features),
      topology_(topology),
      cells_(std::move(cells)),
      forbidden_(std::move(forbidden)),
      gold_(gold),
      sequence_weights_(weights),
      rules_(rules),
      batches_(attributes, features, sequences, n_batches),
      scorer_(features),
      states_(static_cast<std::size_t>(features.n())),
      n_grams_(cells_.size(), 0.0f),
      centre_(rules.pull > 0 ? states_.size() + cells_.size() : 0, 0.0f),
      least_(static_cast<float>(rules.l1)),
      inverse_(static_cast<float>(0.5 / (rules.l2 + rules.pull))),
      residuals_(static_cast<std::size_t>(attributes.n_positions() * topology.n_labels), 0.0f),
      n_gram_residuals_(static_cast<std::size_t>(n_batches) * cells_.size(), 0.0),
      table_(static_cast<std::size_t>(topology.n_rows() * topology.n_labels)),
      has_biases_(!cells_.empty() && cells_.front() < topology.n_labels),
      n_counts_(static_cast<std::int64_t>(table_.size())),
      cell_sums_(cells_.size()) {
    if (topology.order == 1) {
        const std::int64_t k = topology.n_labels;
        for (const std::int64_t cell : forbidden_.cells) table_[cell] = Forbidden::kNever;
        sparse_ = SparseTable::of(table_.data(), k, cells_.data(), static_cast<std::int64_t>(cells_.size()));
        if (sparse_) n_counts_ = sparse_->n_counts();
        for (const std::int64_t cell : cells_)
            places_.push_back(sparse_ && cell >= k ? sparse_->place(cell / k - 1, cell % k) : cell);
    }
    if (!sparse_)
        prepared_.resize(static_cast<std::size_t>(fast_lane<float>().table_size(topology.n_labels)));
    for (std::size_t f = 0; f < states_.size(); ++f) states_[f] = {0.0f, features.outputs[f]};
    std::size_t n_rows = 0, n_sequences = 0, n_features = 0, n_tasks = 0;
    for (std::int64_t b = 0; b < n_batches; ++b) {
        const Batches::Batch& batch = batches_[b];
        n_rows = std::max(n_rows, static_cast<std::size_t>(batch.n_rows));
        n_sequences = std::max(n_sequences, batch.sequences.size());
        n_features = std::max(n_features, static_cast<std::size_t>(batch.attributes.back().features));
        n_tasks = std::max(n_tasks, batch.cuts.size());
    }
    state_.resize(n_rows * static_cast<std::size_t>(topology.n_labels));
    changes_.resize(state_.size());
    counts_.resize(n_sequences * static_cast<std::size_t>(n_counts_));
    sums_.resize(n_features);
    parts_.resize(n_sequences + n_tasks);
}

// soft(v, l1) / (2 (l2 + pull))
inline float DualAscent::weight_of(float v) const {
    return (v - std::min(std::max(v, -least_), least_)) * inverse_;
}

// The square of a change of v; 0 if the weight is 0 and an L1 penalty keeps it there.
inline float DualAscent::square_of(float change, float v) const {
    return least_ > 0 && std::abs(v) <= least_ ? 0.0f : change * change;
}

double DualAscent::sweep(const std::int64_t* order, std::int64_t n, double caution, std::int64_t n_threads) {
    work_.resize(static_cast<std::size_t>(n_threads));
    for (Work& work : work_) {
        work.row.resize(static_cast<std::size_t>(topology_.n_labels));
        work.weights.resize(work.row.size());
    }
    double steps = 0;
    TaskTeam::work(n_threads, [&](TaskTeam& team) {
        InterruptPoll poll;
        for (std::int64_t i = 0; i < n; ++i) {
            steps += learn(batches_[order[i]], order[i], caution, team);
            poll();
        }
    });
    return steps / static_cast<double>(std::max<std::int64_t>(n, 1));
}

// One step on a batch; returns its length. Sums over tasks are taken in the order of the tasks.
double DualAscent::learn(const Batches::Batch& batch, std::int64_t b, double caution, TaskTeam& team) {
    fill_table();
    const auto n_sequences = static_cast<std::int64_t>(batch.sequences.size());
    const auto n_tasks = static_cast<std::int64_t>(batch.cuts.size()) - 1;
    const std::int64_t together = sequences_together(n_sequences);
    team.run((n_sequences + together - 1) / together, [&](std::int64_t task, std::int64_t thread) {
        const std::int64_t first = task * together, last = std::min(first + together, n_sequences);
        infer(batch, first, last, work_[thread]);
        for (std::int64_t s = first; s < last; ++s) parts_[s].divergence = compare(batch, s);
    });
    double divergence = 0, curvature = sum_n_grams(batch, b);
    for (std::int64_t s = 0; s < n_sequences; ++s) divergence += parts_[s].divergence;
    team.run(n_tasks, [&](std::int64_t task, std::int64_t thread) {
        parts_[task].curvature = sum_attributes(batch, task, work_[thread]);
    });
    for (std::int64_t task = 0; task < n_tasks; ++task) curvature += parts_[task].curvature;
    curvature = divergence + curvature / (2 * (rules_.l2 + rules_.pull));
    if (!(divergence > 0 && std::isfinite(curvature))) return 0.0;
    const double step = caution * divergence / curvature;
    team.run(n_tasks + n_sequences, [&](std::int64_t task, std::int64_t thread) {
        if (task < n_tasks)
            move_attributes(batch, task, step, work_[thread]);
        else
            move_residuals(batch.sequences[task - n_tasks], step);
    });
    move_n_grams(b, step);
    return step;
}

void DualAscent::move_residuals(const Batches::Sequence& sequence, double step) {
    const std::int64_t begin = attributes_.starts[sequence.index], k = topology_.n_labels;
    const std::int64_t size = (attributes_.starts[sequence.index + 1] - begin) * k;
    float* residuals = residuals_.data() + begin * k;
    const float* changes = changes_.data() + sequence.row * k;
    const auto by = static_cast<float>(step);
    for (std::int64_t i = 0; i < size; ++i) residuals[i] += by * changes[i];
}

// With a sparse table sequences share its reading; what one of them gets does not depend on the others.
std::int64_t DualAscent::sequences_together(std::int64_t n_sequences) const {
    const auto n_threads = static_cast<std::int64_t>(work_.size());
    if (!sparse_) return 1;
    return std::clamp<std::int64_t>((n_sequences + n_threads - 1) / n_threads, 1,
                                    fast_lane<float>().sparse_together);
}

void DualAscent::fill_table() {
    if (sparse_ && !has_biases_) {  // all other cells stay as they are
        for (std::size_t i = 0; i < cells_.size(); ++i) table_[cells_[i]] = weight_of(n_grams_[i]);
        return sparse_->read(table_.data());
    }
    std::fill(table_.begin(), table_.end(), 0.0f);
    for (std::size_t i = 0; i < cells_.size(); ++i) table_[cells_[i]] = weight_of(n_grams_[i]);
    sum_shorter_contexts(topology_, table_.data());
    for (const std::int64_t cell : forbidden_.cells) table_[cell] = Forbidden::kNever;
    if (sparse_)
        sparse_->read(table_.data());
    else if (topology_.order == 1)
        fast_lane<float>().prepare(table_.data(), topology_.n_labels, prepared_.data(), shifts_);
}

// changes_ <- p of these sequences of the batch, counts_ <- weight times expected counts.
void DualAscent::infer(const Batches::Batch& batch, std::int64_t first, std::int64_t last, Work& work) {
    const std::int64_t k = topology_.n_labels;
    Scores<float> scores[kMostLanes];
    SparseOut<float> sparse[kMostLanes];
    for (std::int64_t s = first; s < last; ++s) {
        const Batches::Sequence& sequence = batch.sequences[s];
        const std::int64_t begin = attributes_.starts[sequence.index];
        const std::int64_t length = attributes_.starts[sequence.index + 1] - begin;
        const double weight = sequence_weights_[sequence.index];
        float *state = state_.data() + sequence.row * k, *marginals = changes_.data() + sequence.row * k;
        double* counts = counts_.data() + s * n_counts_;
        scorer_.score_range(attributes_, begin, begin + length, 0, state);
        forbidden_.apply_to_end(state + (length - 1) * k);
        std::fill_n(counts, n_counts_, 0.0);
        scores[s - first] = {length, state, nullptr, table_.data()};
        sparse[s - first] = {marginals, counts, weight};
        if (!sparse_) infer_all(scores[s - first], {marginals, nullptr, counts, weight}, work);
    }
    if (sparse_) infer_sparse(scores, last - first, sparse, work);
}

void DualAscent::infer_all(const Scores<float>& scores, const Marginals<float>& out, Work& work) {
    const std::int64_t k = topology_.n_labels, order = topology_.order;
    if (order <= 1) {
        const FastLane<float>& lane = fast_lane<float>();
        const auto size = static_cast<std::size_t>(lane.work_size(k, order, scores.length, false));
        if (work.numbers.size() < size) work.numbers.resize(size);
        double log_z;
        if (lane.sum_product(scores, k, order, prepared_.data(), shifts_, out, work.numbers.data(), &log_z))
            return;
        std::fill_n(out.table, n_counts_, 0.0);
    }
    work.general_sums(topology_, scores, {}, out);
}

void DualAscent::infer_sparse(const Scores<float>* scores, std::int64_t n, const SparseOut<float>* out,
                              Work& work) {
    const FastLane<float>& lane = fast_lane<float>();
    const std::int64_t k = topology_.n_labels;
    std::int64_t longest = 0;
    for (std::int64_t j = 0; j < n; ++j) longest = std::max(longest, scores[j].length);
    const auto size = static_cast<std::size_t>(lane.sparse_work_size(k, sparse_->n_cells(), longest, n));
    if (work.sparse_numbers.size() < size) work.sparse_numbers.resize(size);
    double log_z[kMostLanes];
    bool is_safe[kMostLanes];
    lane.sparse_sums(sparse_->rows(), scores, n, out, work.sparse_numbers.data(), log_z, is_safe);
    for (std::int64_t j = 0; j < n; ++j) {
        if (is_safe[j]) continue;
        std::vector<double> table(table_.size(), 0.0);
        work.general_sums(topology_, scores[j], {}, {out[j].state, nullptr, table.data(), out[j].weight});
        for (std::int64_t cell = 0; cell < static_cast<std::int64_t>(table.size()); ++cell)
            out[j].counts[cell < k ? cell : sparse_->place(cell / k - 1, cell % k)] += table[cell];
    }
}

// After infer(): changes_ <- weight (p - a) of sequence s of the batch, counts_ <- weight (expected - gold
// counts). Returns the divergence of p and a.
double DualAscent::compare(const Batches::Batch& batch, std::int64_t s) {
    const std::int64_t k = topology_.n_labels;
    const Batches::Sequence& sequence = batch.sequences[s];
    const std::int64_t begin = attributes_.starts[sequence.index];
    const std::int64_t length = attributes_.starts[sequence.index + 1] - begin;
    const double weight = sequence_weights_[sequence.index];
    float* changes = changes_.data() + sequence.row * k;
    double* counts = counts_.data() + s * n_counts_;
    const auto number = static_cast<float>(weight);
    float* residuals = residuals_.data() + begin * k;
    double divergence = 0;
    for (std::int64_t t = 0; t < length; ++t) {
        const std::int32_t gold = gold_[begin + t];
        const std::int64_t row = topology_.first_row(t) + topology_.label_context(gold_ + begin, t);
        counts[sparse_ && t > 0 ? sparse_->place(row - 1, gold) : row * k + gold] -= weight;
        residuals[t * k + gold] += number;  // weight a
        float sum = 0;
        for (std::int64_t i = t * k; i < (t + 1) * k; ++i) {
            const float p = number * changes[i], a = residuals[i];
            changes[i] = p - a;
            sum += 2 * (p - a) * (p - a) / (std::abs(p + a) + kSmallestSum);
        }
        residuals[t * k + gold] -= number;
        divergence += static_cast<double>(sum);
    }
    return divergence;
}

// row <- the sum over the occurrences of the i-th attribute of value changes.
inline void DualAscent::sum_rows(const Batches::Batch& batch, std::int64_t i, float* row) const {
    const std::int64_t k = topology_.n_labels;
    WeightedRow rows[kRowsAtOnce];
    std::fill_n(row, k, 0.0f);
    for (std::int64_t o = batch.attributes[i].occurrences; o < batch.attributes[i + 1].occurrences;) {
        std::int64_t n = 0;
        for (; n < kRowsAtOnce && o < batch.attributes[i + 1].occurrences; ++n, ++o)
            rows[n] = {changes_.data() + batch.rows[o] * k, batch.values.empty() ? 1.0f : batch.values[o]};
        linear_kernels().add_rows(rows, n, k, row);
    }
}

// sums_ <- the change of the expected features, for the attributes of a task; returns the sum of its squares.
double DualAscent::sum_attributes(const Batches::Batch& batch, std::int64_t task, Work& work) {
    double squares = 0;
    const std::int64_t k = topology_.n_labels;
    for (std::int64_t i = batch.cuts[task]; i < batch.cuts[task + 1]; ++i) {
        const Batches::Attribute& attribute = batch.attributes[i];
        if (i + kAttributesAhead < batch.cuts[task + 1])
            prefetch(&states_[batch.attributes[i + kAttributesAhead].first]);
        const float* row = work.row.data();
        if (batch.attributes[i + 1].occurrences - attribute.occurrences == 1 && batch.values.empty())
            row = changes_.data() + batch.rows[attribute.occurrences] * k;
        else
            sum_rows(batch, i, work.row.data());
        const Feature* feature = states_.data() + attribute.first;
        const std::int32_t n = batch.attributes[i + 1].features - attribute.features;
        float* sums = sums_.data() + attribute.features;
        float square = 0;
        for (std::int32_t j = 0; j < n; ++j) {
            sums[j] = row[feature[j].output];
            square += square_of(sums[j], feature[j].v);
        }
        squares += static_cast<double>(square);
    }
    return squares;
}

// The same for n-grams.
double DualAscent::sum_n_grams(const Batches::Batch& batch, std::int64_t b) {
    for (std::size_t s = 1; s < batch.sequences.size(); ++s) {
        const double* counts = counts_.data() + static_cast<std::int64_t>(s) * n_counts_;
        for (std::int64_t i = 0; i < n_counts_; ++i) counts_[i] += counts[i];
    }
    if (sparse_)
        sum_biases();
    else
        sum_longer_contexts(topology_, counts_.data());
    double squares = 0;
    const double* before = n_gram_residuals_.data() + b * static_cast<std::int64_t>(cells_.size());
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        cell_sums_[i] = counts_[sparse_ ? places_[i] : cells_[i]] - before[i];
        squares += static_cast<double>(square_of(static_cast<float>(cell_sums_[i]), n_grams_[i]));
    }
    return squares;
}

// A bias applies to every cell of its label.
void DualAscent::sum_biases() {
    for (std::int64_t i = topology_.n_labels; has_biases_ && i < n_counts_; ++i)
        counts_[sparse_->label(i)] += counts_[i];
}

void DualAscent::move_attributes(const Batches::Batch& batch, std::int64_t task, double step, Work& work) {
    const auto by = static_cast<float>(step);
    for (std::int64_t i = batch.cuts[task]; i < batch.cuts[task + 1]; ++i) {
        const Batches::Attribute& attribute = batch.attributes[i];
        Feature* feature = states_.data() + attribute.first;
        const std::int32_t n = batch.attributes[i + 1].features - attribute.features;
        const float* sums = sums_.data() + attribute.features;
        for (std::int32_t j = 0; j < n; ++j) {
            feature[j].v -= by * sums[j];
            work.weights[j] = weight_of(feature[j].v);
        }
        scorer_.set_weights(attribute.id, features_, work.weights.data());
    }
}

void DualAscent::move_n_grams(std::int64_t b, double step) {
    double* residuals = n_gram_residuals_.data() + b * static_cast<std::int64_t>(cells_.size());
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        residuals[i] += step * cell_sums_[i];
        n_grams_[i] -= static_cast<float>(step * cell_sums_[i]);
    }
}

void DualAscent::move_centre() {
    if (centre_.empty()) return;
    const auto factor = static_cast<float>(2 * rules_.pull);
    const auto move = [&](float& v, float& centre) {
        const float weight = weight_of(v);
        v += factor * (weight - centre);
        centre = weight;
    };
    for (std::size_t f = 0; f < states_.size(); ++f) move(states_[f].v, centre_[f]);
    for (std::size_t i = 0; i < cells_.size(); ++i) move(n_grams_[i], centre_[states_.size() + i]);
    std::vector<float> own;
    for (std::int64_t i = 0; i < features_.n_ids; ++i) {
        own.clear();
        for (std::int64_t f = features_.starts[i]; f < features_.starts[i + 1]; ++f)
            own.push_back(weight_of(states_[f].v));
        if (!own.empty()) scorer_.set_weights(i, features_, own.data());
    }
}

void DualAscent::weights(double* out) const {
    for (const Feature& feature : states_) *out++ = static_cast<double>(weight_of(feature.v));
    for (const float v : n_grams_) *out++ = static_cast<double>(weight_of(v));
}

}  // namespace hedgerow
