// Beam search over partial labellings (hypotheses) of one sequence, with optional recombination: hypotheses
// with the same label context score all continuations equally, so only the best of them is kept.
//
// Hypotheses are expanded from best to worst, each by the labels in order. Ties are broken in favour of the
// first, both in recombination and in the choice of the beam.
#pragma once

#include <cstdint>
#include <vector>

#include "search/search_kernels.hpp"
#include "search/sparse_n_gram_weights.hpp"

namespace hedgerow {

struct Hypothesis {
    std::int64_t code;    // the label context, see LabelCodes
    std::int64_t parent;  // index among all hypotheses; -1 for the first
    std::int32_t label;   // of its last step
    float score;          // minus the score of the best hypothesis of its step
};

class BeamSearch {
  public:
    // merges: recombine hypotheses.
    BeamSearch(const SparseNGramWeights& n_grams, std::int64_t beam, bool merges);

    // Begins a sequence: one hypothesis without labels.
    void start();
    // Labels one more position with the label scores `state`. gold: the gold label; the search tracks the
    // hypothesis of all gold labels. keep: as long as it is not negative, the hypothesis of the labels `keep`
    // stays in the beam; needs recombination.
    void step(const float* state, std::int64_t gold = -1, std::int64_t keep = -1);
    // Replaces the hypotheses of the last step, which dropped gold, by gold alone.
    void go_on_from(std::int64_t gold);

    std::int64_t n_steps() const { return static_cast<std::int64_t>(firsts_.size()) - 2; }
    // The hypotheses after n_steps steps are from..to, best first.
    std::int64_t from(std::int64_t n_steps) const { return firsts_[n_steps]; }
    std::int64_t to(std::int64_t n_steps) const { return firsts_[n_steps + 1]; }
    const Hypothesis& at(std::int64_t i) const { return all_[i]; }
    // The score of the best hypothesis of the last step.
    double score() const { return score_; }
    bool has_gold() const { return gold_ >= 0; }
    bool gold_leads() const { return gold_ == from(n_steps()); }
    // The end of the hypotheses of the last step that score higher than gold.
    std::int64_t ahead_of_gold() const { return has_gold() ? gold_ : to(n_steps()); }
    // OUT: the last n labels of hypothesis i, in the order of steps.
    void trace(std::int64_t i, std::int64_t n, std::int32_t* labels) const {
        for (; n > 0; i = all_[i].parent) labels[--n] = all_[i].label;
    }

  private:
    // Hypotheses that the same label leads to one label context: a linked list of expansions.
    struct Group {
        std::int64_t shared, first, last;
    };
    // The rows of scores whose sum scores the next label of a hypothesis.
    struct Expansion {
        const RowView* rows;
        std::int64_t n_rows;
        std::int64_t next;  // expansion of the same group, -1 for none
    };
    void expand(const float* state);
    std::int64_t group(std::int64_t shared);
    void keep_also(std::int64_t label);
    std::int64_t winner(const Choice& choice) const;
    void append(std::int64_t parent, std::int64_t label, float score, std::int64_t gold);

    const SparseNGramWeights& n_grams_;
    std::int64_t k_, stride_, beam_;
    bool merges_;
    std::vector<Hypothesis> all_;
    std::vector<std::int64_t> firsts_;         // where the hypotheses of each step begin, and the end
    std::int64_t gold_ = 0, gold_before_ = 0;  // the gold hypothesis of this step and of the last; -1: none
    std::int64_t kept_ = 0;                    // the code of the hypothesis to keep; -1: none
    double score_ = 0;
    std::vector<Group> groups_;
    std::vector<Expansion> expansions_;  // of the hypotheses of the last step
    std::vector<RowView> rows_;
    std::vector<float> pool_;  // (groups, stride): the best score of each label; minus infinity beyond K
    std::vector<float> sums_;  // work space of an expansion
    std::vector<Choice> chosen_;
    std::int64_t n_chosen_ = 0;
};

}  // namespace hedgerow
