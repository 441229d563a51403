#include "search/search_learner.hpp"

#include <algorithm>
#include <limits>

namespace hedgerow {

namespace {

// Steps that are scored together: enough to prefetch weights, few enough that little is wasted when the
// weights change.
constexpr std::int64_t kAhead = 32;

}  // namespace

std::int64_t SearchLearner::learn(const Slots& slots, std::int64_t begin, std::int64_t end,
                                  const std::int32_t* gold, float weight) {
    const Example example{slots, begin, end, gold, weight};
    gold_.assign(gold, gold + example.length());
    if (rules_.backward) std::reverse(gold_.begin(), gold_.end());
    agreed_ = scored_from_ = scored_to_ = 0;
    gold_code_ = n_grams_.codes().start();
    search_.start();
    const std::int64_t n = rules_.update == Update::laso ? with_laso(example) : with_one_update(example);
    ++n_seen_;
    return n;
}

// The label scores of a step; the score of the gold label is lower by `tie`. Steps must come in order.
const float* SearchLearner::state(const Example& example, std::int64_t step) {
    const std::int64_t k = n_grams_.n_labels();
    if (step >= scored_to_) {
        scored_from_ = step;
        scored_to_ = std::min(step + kAhead, example.length());
        const std::int64_t n = scored_to_ - scored_from_;
        const std::int64_t first = std::min(place(example, scored_from_), place(example, scored_to_ - 1));
        state_.resize(static_cast<std::size_t>(n * k));
        attributes_.score(example.slots, example.begin + first, example.begin + first + n, example.begin,
                          example.end, state_.data());
        for (std::int64_t i = 0; i < n; ++i) state_[i * k + example.gold[first + i]] -= rules_.tie;
        const std::int64_t final_row = place(example, example.length() - 1) - first;
        for (const std::int32_t y : never_final_) {
            if (scored_to_ == example.length())
                state_[final_row * k + y] = -std::numeric_limits<float>::infinity();
        }
    }
    return state_.data() + (rules_.backward ? scored_to_ - 1 - step : step - scored_from_) * k;
}

std::int64_t SearchLearner::with_laso(const Example& example) {
    std::int64_t n_updates = 0;
    for (std::int64_t step = 0; step < example.length(); ++step) {
        search_.step(state(example, step), gold_[step]);
        const bool last = step + 1 == example.length();
        if (search_.has_gold() && !(last && !search_.gold_leads())) continue;
        update(example, step + 1, search_.from(step + 1), search_.ahead_of_gold());
        ++n_updates;
        if (last) break;
        search_.go_on_from(gold_[step]);
        agreed_ = scored_to_ = step + 1;
    }
    return n_updates;
}

std::int64_t SearchLearner::with_one_update(const Example& example) {
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
    if (search_.n_steps() == length && search_.gold_leads()) return 0;
    update(example, n_steps, search_.from(n_steps), search_.from(n_steps) + 1);
    return 1;
}

// The score that gold gets at a step, even if the beam has dropped gold.
double SearchLearner::gold_score(const float* state, std::int64_t step) {
    const std::int64_t label = gold_[step];
    auto score = static_cast<double>(state[label]);
    n_grams_.for_each_row(gold_code_, step,
                          [&](const float* weights) { score += static_cast<double>(weights[label]); });
    gold_code_ = n_grams_.codes().next(gold_code_, label);
    return score;
}

// weights += weight (features of gold - mean of the features of the hypotheses first..last), over the first
// n_steps steps.
void SearchLearner::update(const Example& example, std::int64_t n_steps, std::int64_t first,
                           std::int64_t last) {
    const std::int64_t n = n_steps - agreed_;
    const float share = example.weight / static_cast<float>(last - first);
    labels_.resize(static_cast<std::size_t>((last - first) * n));
    for (std::int64_t i = first; i < last; ++i) search_.trace(i, n, labels_.data() + (i - first) * n);
    for (std::int64_t t = 0; t < n; ++t) {
        differing_.clear();
        for (std::int64_t at = t; at < static_cast<std::int64_t>(labels_.size()); at += n)
            if (labels_[at] != gold_[agreed_ + t]) differing_.push_back(labels_[at]);
        if (!differing_.empty()) update_attributes(example, agreed_ + t, share);
    }
    for (std::int64_t i = 0; i < last - first; ++i) update_n_grams(n_steps, labels_.data() + i * n, share);
}

void SearchLearner::update_attributes(const Example& example, std::int64_t step, float share) {
    const auto before = static_cast<double>(n_vectors());
    const float n = static_cast<float>(differing_.size());
    const std::int64_t t = example.begin + place(example, step);
    for_each_id(example.slots, t, example.begin, example.end, [&](std::int32_t id, float value) {
        if (!attributes_.keeps(id)) return;
        attributes_.add(id, gold_[step], n * share * value, before);
        for (const std::int32_t label : differing_) attributes_.add(id, label, -share * value, before);
    });
}

void SearchLearner::update_n_grams(std::int64_t n_steps, const std::int32_t* labels, float amount) {
    const LabelCodes& codes = n_grams_.codes();
    const auto before = static_cast<double>(n_vectors());
    std::int64_t gold = codes.start();
    for (std::int64_t t = std::max<std::int64_t>(0, agreed_ - codes.memory()); t < agreed_; ++t)
        gold = codes.next(gold, gold_[t]);
    std::int64_t found = gold;
    for (std::int64_t t = agreed_; t < n_steps; ++t) {
        const std::int64_t label = labels[t - agreed_];
        const auto add = [&](std::int64_t code, std::int64_t to, float by) {
            codes.for_each_context(code, t,
                                   [&](std::int64_t context) { n_grams_.add(context, to, by, before); });
        };
        if (label != gold_[t] || (found != gold && codes.order() > 0)) {
            add(gold, gold_[t], amount);
            add(found, label, -amount);
        }
        gold = codes.next(gold, gold_[t]);
        found = codes.next(found, label);
    }
}

}  // namespace hedgerow
