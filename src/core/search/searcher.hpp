// Beam searches of training sequences that report where gold loses.
//
// standard       after the search: the best labelling, if it is not gold (Collins 2002)
// early          the same, at the step where the beam drops gold (Collins & Roark 2004)
// max_violation  the same, over the prefix where the best labelling beats gold by most (Huang et al. 2012)
// laso           at each step where the beam drops gold: the hypotheses that beat gold; the search then
//                continues from gold alone (Daume & Marcu 2005)
//
// LaSO does not recombine hypotheses: recombination would bias the sample of the competitors of gold.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "linear/attribute_weights.hpp"
#include "linear/online_examples.hpp"
#include "search/beam_search.hpp"
#include "search/sparse_n_gram_weights.hpp"

namespace hedgerow {

enum class Update { laso, early, max_violation, standard };

struct SearchRules {
    Update update;
    std::int64_t beam;
    bool backward;  // label from the last position to the first
    float tie;      // the margin by which gold must win

    // The position of a step, from the begin of the sequence.
    std::int64_t place(const OnlineExample& example, std::int64_t step) const {
        return backward ? example.length() - 1 - step : step;
    }
};

// Hypotheses that beat gold. They agree with gold at the first `agreed` steps.
struct SearchMistake {
    std::int64_t agreed, n_steps;
    std::int64_t n_hypotheses;
    std::vector<std::int32_t> labels;  // (hypotheses, steps not agreed on)
};

class Searcher {
  public:
    // Receives a mistake; returns whether it changed the weights.
    using Report = std::function<bool(SearchMistake&&)>;

    // never_final: labels that the last step of a search does not give.
    Searcher(const SearchRules& rules, const std::vector<std::int32_t>& never_final,
             const AttributeWeights& attributes, const SparseNGramWeights& n_grams)
        : rules_(rules),
          never_final_(never_final),
          attributes_(attributes),
          n_grams_(n_grams),
          search_(n_grams, rules.beam, rules.update != Update::laso) {}

    void run(const OnlineExample& example, const Report& report);

  private:
    const float* state(const OnlineExample& example, std::int64_t step);
    void with_laso(const OnlineExample& example, const Report& report);
    void with_one_update(const OnlineExample& example, const Report& report);
    double gold_score(const float* state, std::int64_t step);
    SearchMistake mistake(std::int64_t n_steps, std::int64_t first, std::int64_t last) const;

    const SearchRules& rules_;
    const std::vector<std::int32_t>& never_final_;
    const AttributeWeights& attributes_;
    const SparseNGramWeights& n_grams_;
    BeamSearch search_;
    AttributeWeights::Buffers buffers_;
    // Of the current sequence:
    std::vector<std::int32_t> gold_;                // by step
    std::int64_t agreed_ = 0;                       // steps at which all hypotheses agree with gold
    std::int64_t gold_code_ = 0;                    // of the steps so far in gold_score()
    std::int64_t scored_from_ = 0, scored_to_ = 0;  // steps whose label scores are in state_
    std::vector<float> state_;                      // (their positions, labels)
};

}  // namespace hedgerow
