// Learning to search: weights that change where a beam search loses gold.
//
// Standard: after the search, gold minus the best labelling (Collins 2002). Early: the same at the step where
// gold is lost, and no further (Collins & Roark 2004). Max-violation: of all prefixes the one where the best
// is furthest ahead of gold (Huang, Fayong & Guo 2012). LaSO: gold minus the mean of those ahead of it, which
// is the whole beam at the step where gold is lost; the search then goes on from gold alone (Daume & Marcu
// 2005). Beams of LaSO do not merge: hypotheses that must differ in their last labels are no fair sample of
// those that compete with gold.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/online.hpp"
#include "search/beam_search.hpp"
#include "search/label_grams.hpp"

namespace hedgerow {

enum class Update { laso, early, max_violation, standard };

struct SearchRules {
    Update update;
    std::int64_t beam;
    bool backward;  // the last position is labelled first
    float tie;      // by which gold must win
};

class SearchLearner {
  public:
    SearchLearner(const SearchRules& rules, AttributeWeights attributes, GramWeights grams)
        : rules_(rules),
          attributes_(std::move(attributes)),
          grams_(std::move(grams)),
          search_(grams_, rules.beam, rules.update != Update::laso) {}
    SearchLearner(const SearchLearner&) = delete;  // the search reads its own weights
    SearchLearner& operator=(const SearchLearner&) = delete;

    // Learns from the positions begin..end, whose labels are `gold`; how often that changed the weights.
    std::int64_t learn(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold,
                       float weight);

    // Counts n more examples that change nothing.
    void stay(std::int64_t n) { n_seen_ += n; }

    const AttributeWeights& attributes() const { return attributes_; }
    const GramWeights& grams() const { return grams_; }
    // How many weight vectors there were, one after each example, the first of zeros.
    std::int64_t n_vectors() const { return n_seen_ + 1; }

  private:
    struct Example {
        const Slots& slots;
        std::int64_t begin, end;
        const std::int32_t* gold;  // by position
        float weight;

        std::int64_t length() const { return end - begin; }
    };
    std::int64_t place(const Example& example, std::int64_t step) const {
        return rules_.backward ? example.length() - 1 - step : step;
    }
    const float* state(const Example& example, std::int64_t step);
    std::int64_t with_laso(const Example& example);
    std::int64_t with_one_update(const Example& example);
    double gold_score(const float* state, std::int64_t step);
    void move(const Example& example, std::int64_t n_steps, std::int64_t first, std::int64_t last);
    void move_attributes(const Example& example, std::int64_t step, float share);
    void move_grams(std::int64_t n_steps, const std::int32_t* labels, float amount);

    SearchRules rules_;
    AttributeWeights attributes_;
    GramWeights grams_;
    BeamSearch search_;
    std::int64_t n_seen_ = 0;
    // Of the sequence at hand:
    std::vector<std::int32_t> gold_;                // by step
    std::int64_t agreed_ = 0;                       // steps at which all hypotheses are gold
    std::int64_t gold_code_ = 0;                    // of the steps whose gold score was asked for
    std::int64_t scored_from_ = 0, scored_to_ = 0;  // steps whose labels have scores
    std::vector<float> state_;                      // (their positions, labels)
    std::vector<std::int32_t> labels_;              // (hypotheses, steps not agreed on)
    std::vector<std::int32_t> differing_;
};

}  // namespace hedgerow
