#include "search/beam_search.hpp"

#include <algorithm>
#include <limits>

namespace hedgerow {

namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

}  // namespace

BeamSearch::BeamSearch(const SparseNGramWeights& n_grams, std::int64_t beam, bool merges)
    : n_grams_(n_grams),
      k_(n_grams.n_labels()),
      stride_((k_ + kScoreBlock - 1) / kScoreBlock * kScoreBlock),
      beam_(beam),
      merges_(merges),
      sums_(static_cast<std::size_t>(k_)) {
    start();
}

void BeamSearch::start() {
    all_.assign(1, {n_grams_.codes().start(), -1, -1, 0.0f});
    firsts_.assign({0, 1});
    gold_ = gold_before_ = 0;
    kept_ = all_[0].code;
    score_ = 0;
}

void BeamSearch::step(const float* state, std::int64_t gold, std::int64_t keep) {
    expand(state);
    const auto size = static_cast<std::int64_t>(groups_.size()) * stride_;
    const std::int64_t most = std::min(beam_, size);
    if (static_cast<std::int64_t>(chosen_.size()) <= most) chosen_.resize(static_cast<std::size_t>(most + 1));
    n_chosen_ = search_kernels().highest(pool_.data(), size, most, chosen_.data());
    if (n_chosen_ == 0) chosen_[n_chosen_++] = {0.0f, 0};  // all scores are NaN or minus infinity
    keep_also(keep);
    const float best = chosen_[0].value;
    score_ += static_cast<double>(best);
    gold_before_ = gold_;
    gold_ = -1;
    for (std::int64_t i = 0; i < n_chosen_; ++i)
        append(winner(chosen_[i]), chosen_[i].at % stride_, chosen_[i].value - best, gold);
    firsts_.push_back(static_cast<std::int64_t>(all_.size()));
}

void BeamSearch::go_on_from(std::int64_t gold) {
    all_.resize(static_cast<std::size_t>(from(n_steps())));
    append(gold_before_, gold, 0.0f, gold);
    firsts_.back() = static_cast<std::int64_t>(all_.size());
}

// The index of the group; groups_.size() if there is none.
std::int64_t BeamSearch::group(std::int64_t shared) {
    return std::ranges::find(groups_, shared, &Group::shared) - groups_.begin();
}

// pool(group, y) <- max over the hypotheses of the group of score + state[y] + sum of n-gram weights of y
void BeamSearch::expand(const float* state) {
    const std::int64_t step = n_steps(), begin = from(step), n = to(step) - begin;
    const auto add = search_kernels().expand;
    const auto width = static_cast<std::size_t>(n_grams_.codes().order() + 2);
    if (rows_.size() < n * width) rows_.resize(n * width);
    if (pool_.size() < static_cast<std::size_t>(n * stride_))
        pool_.resize(static_cast<std::size_t>(n * stride_), kLowest);
    expansions_.resize(static_cast<std::size_t>(n));
    groups_.clear();
    RowView* row = rows_.data();
    for (std::int64_t i = 0; i < n; ++i) {
        const Hypothesis& parent = all_[begin + i];
        const RowView* const first = row;
        *row++ = {state, nullptr, k_};
        n_grams_.for_each_row(parent.code, step, [&](const RowView& weights) { *row++ = weights; });
        expansions_[i] = {first, row - first, -1};
        const std::int64_t shared = n_grams_.codes().shared(parent.code);
        const auto n_groups = static_cast<std::int64_t>(groups_.size());
        const std::int64_t g = merges_ ? group(shared) : n_groups;
        if (g == n_groups) {
            groups_.push_back({shared, i, i});
        } else {
            expansions_[groups_[g].last].next = i;
            groups_[g].last = i;
        }
        add(parent.score, first, row - first, k_, g < n_groups, pool_.data() + g * stride_, sums_.data());
    }
}

// Adds the hypothesis to keep to the chosen ones if the beam dropped it.
void BeamSearch::keep_also(std::int64_t label) {
    if (kept_ < 0) return;
    const std::int64_t g = group(n_grams_.codes().shared(kept_));
    kept_ = label < 0 ? -1 : n_grams_.codes().next(kept_, label);
    if (label < 0) return;
    const std::int64_t at = g * stride_ + label;
    const auto end = chosen_.begin() + n_chosen_;
    if (std::none_of(chosen_.begin(), end, [&](const Choice& c) { return c.at == at; }))
        chosen_[n_chosen_++] = {pool_[at], at};
}

// The first hypothesis of the group whose expansion has the chosen score. Adds in the order of expand().
std::int64_t BeamSearch::winner(const Choice& choice) const {
    const Group& of = groups_[choice.at / stride_];
    const std::int64_t label = choice.at % stride_, begin = from(n_steps());
    std::int64_t i = of.first;
    for (; i != of.last; i = expansions_[i].next) {
        float value = all_[begin + i].score;
        for (std::int64_t r = 0; r < expansions_[i].n_rows; ++r) value += expansions_[i].rows[r][label];
        if (value == choice.value) break;
    }
    return begin + i;
}

void BeamSearch::append(std::int64_t parent, std::int64_t label, float score, std::int64_t gold) {
    if (parent == gold_before_ && label == gold) gold_ = static_cast<std::int64_t>(all_.size());
    all_.push_back(
        {n_grams_.codes().next(all_[parent].code, label), parent, static_cast<std::int32_t>(label), score});
}

}  // namespace hedgerow
