// Learning to search: the weights are updated where a beam search prefers other labels to gold.
//
// standard       after the search: features of gold minus features of the best labelling (Collins 2002)
// early          the same, at the step where the beam drops gold (Collins & Roark 2004)
// max_violation  the same, over the prefix where the best labelling beats gold by most (Huang et al. 2012)
// laso           at each step where the beam drops gold: gold minus the mean of the hypotheses that beat
//                gold; the search then continues from gold alone (Daume & Marcu 2005)
//
// LaSO does not recombine hypotheses: recombination would bias the sample of the competitors of gold.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/attribute_weights.hpp"
#include "search/beam_search.hpp"
#include "search/sparse_n_gram_weights.hpp"

namespace hedgerow {

enum class Update { laso, early, max_violation, standard };

struct SearchRules {
    Update update;
    std::int64_t beam;
    bool backward;  // label from the last position to the first
    float tie;      // the margin by which gold must win
};

class SearchLearner {
  public:
    // never_final: labels that the last step of a search does not give.
    SearchLearner(const SearchRules& rules, AttributeWeights attributes, SparseNGramWeights n_grams,
                  std::vector<std::int32_t> never_final)
        : rules_(rules),
          never_final_(std::move(never_final)),
          attributes_(std::move(attributes)),
          n_grams_(std::move(n_grams)),
          search_(n_grams_, rules.beam, rules.update != Update::laso) {}
    SearchLearner(const SearchLearner&) = delete;  // search_ refers to n_grams_
    SearchLearner& operator=(const SearchLearner&) = delete;

    // Learns from the sequence [begin, end) with labels `gold`; returns the number of updates.
    std::int64_t learn(const Slots& slots, std::int64_t begin, std::int64_t end, const std::int32_t* gold,
                       float weight);

    // Counts n more examples that do not change the weights.
    void stay(std::int64_t n) { n_seen_ += n; }

    const AttributeWeights& attributes() const { return attributes_; }
    const SparseNGramWeights& n_grams() const { return n_grams_; }
    // The number of weight vectors so far: one after each example, and the first, which is 0.
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
    void update(const Example& example, std::int64_t n_steps, std::int64_t first, std::int64_t last);
    void update_attributes(const Example& example, std::int64_t step, float share);
    void update_n_grams(std::int64_t n_steps, const std::int32_t* labels, float amount);

    SearchRules rules_;
    std::vector<std::int32_t> never_final_;
    AttributeWeights attributes_;
    SparseNGramWeights n_grams_;
    BeamSearch search_;
    std::int64_t n_seen_ = 0;
    // Of the current sequence:
    std::vector<std::int32_t> gold_;                // by step
    std::int64_t agreed_ = 0;                       // steps at which all hypotheses agree with gold
    std::int64_t gold_code_ = 0;                    // of the steps so far in gold_score()
    std::int64_t scored_from_ = 0, scored_to_ = 0;  // steps whose label scores are in state_
    std::vector<float> state_;                      // (their positions, labels)
    std::vector<std::int32_t> labels_;              // (hypotheses, steps not agreed on)
    std::vector<std::int32_t> differing_;
};

}  // namespace hedgerow
