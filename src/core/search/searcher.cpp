#include "search/searcher.hpp"

#include <algorithm>
#include <limits>

namespace hedgerow {

namespace {

// Steps that are scored together: enough to prefetch weights, few enough that little is wasted when the
// weights change.
constexpr std::int64_t kAhead = 32;

}  // namespace

void Searcher::run(const OnlineExample& example, const Report& report) {
    gold_.assign(example.gold, example.gold + example.length());
    if (rules_.backward) std::reverse(gold_.begin(), gold_.end());
    agreed_ = scored_from_ = scored_to_ = 0;
    gold_code_ = n_grams_.codes().start();
    search_.start();
    rules_.update == Update::laso ? with_laso(example, report) : with_one_update(example, report);
}

// The label scores of a step; the score of the gold label is lower by `tie`. Steps must come in order.
const float* Searcher::state(const OnlineExample& example, std::int64_t step) {
    const std::int64_t k = n_grams_.n_labels();
    if (step >= scored_to_) {
        scored_from_ = step;
        scored_to_ = std::min(step + kAhead, example.length());
        const std::int64_t n = scored_to_ - scored_from_;
        const std::int64_t first =
            std::min(rules_.place(example, scored_from_), rules_.place(example, scored_to_ - 1));
        state_.resize(static_cast<std::size_t>(n * k));
        attributes_.score(example.slots, example.begin + first, example.begin + first + n, example.begin,
                          example.end, state_.data(), buffers_);
        for (std::int64_t i = 0; i < n; ++i) state_[i * k + example.gold[first + i]] -= rules_.tie;
        const std::int64_t final_row = rules_.place(example, example.length() - 1) - first;
        for (const std::int32_t y : never_final_) {
            if (scored_to_ == example.length())
                state_[final_row * k + y] = -std::numeric_limits<float>::infinity();
        }
    }
    return state_.data() + (rules_.backward ? scored_to_ - 1 - step : step - scored_from_) * k;
}

void Searcher::with_laso(const OnlineExample& example, const Report& report) {
    for (std::int64_t step = 0; step < example.length(); ++step) {
        search_.step(state(example, step), gold_[step]);
        const bool last = step + 1 == example.length();
        if (search_.has_gold() && !(last && !search_.gold_leads())) continue;
        const bool changed = report(mistake(step + 1, search_.from(step + 1), search_.ahead_of_gold()));
        if (last) break;
        search_.go_on_from(gold_[step]);
        agreed_ = step + 1;
        if (changed) scored_to_ = step + 1;
    }
}

void Searcher::with_one_update(const OnlineExample& example, const Report& report) {
    const std::int64_t length = example.length();
    std::int64_t n_steps = length;  // steps to learn from
    double gold = 0, largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t step = 0; step < length; ++step) {
        const float* scores = state(example, step);
        search_.step(scores, gold_[step]);
        if (rules_.update == Update::early && !search_.has_gold()) {
            n_steps = step + 1;
            break;
        }
        if (rules_.update != Update::max_violation) continue;
        gold += gold_score(scores, step);
        const double ahead = search_.score() - gold;
        if (ahead <= largest + static_cast<double>(rules_.tie) / 2)
            continue;  // half a tie, so that rounding errors decide nothing
        largest = ahead;
        n_steps = step + 1;
    }
    if (search_.n_steps() == length && search_.gold_leads()) return;
    report(mistake(n_steps, search_.from(n_steps), search_.from(n_steps) + 1));
}

// The score that gold gets at a step, even if the beam has dropped gold.
double Searcher::gold_score(const float* state, std::int64_t step) {
    const std::int64_t label = gold_[step];
    auto score = static_cast<double>(state[label]);
    n_grams_.for_each_row(gold_code_, step,
                          [&](const RowView& weights) { score += static_cast<double>(weights[label]); });
    gold_code_ = n_grams_.codes().next(gold_code_, label);
    return score;
}

// The hypotheses first..last of a step.
SearchMistake Searcher::mistake(std::int64_t n_steps, std::int64_t first, std::int64_t last) const {
    const std::int64_t n = n_steps - agreed_;
    SearchMistake found{agreed_, n_steps, last - first,
                        std::vector<std::int32_t>(static_cast<std::size_t>((last - first) * n))};
    for (std::int64_t i = first; i < last; ++i) search_.trace(i, n, found.labels.data() + (i - first) * n);
    return found;
}

}  // namespace hedgerow
