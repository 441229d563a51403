// Beam search over partial labellings of one sequence. There is no dynamic programming but this, if asked
// for: hypotheses whose last labels are the same are one, for nothing that follows can tell them apart.
//
// Hypotheses are expanded best first, each by the labels in turn. Of two that are one, the better is kept, of
// equals the first; and so it is with those that the beam has room for.
#pragma once

#include <cstdint>
#include <vector>

#include "search/label_grams.hpp"
#include "search/search_kernels.hpp"

namespace hedgerow {

struct Hypothesis {
    std::int64_t code;    // the last labels, see GramNumbers
    std::int64_t parent;  // where among all hypotheses; -1 for the first
    std::int32_t label;   // of the step that made it
    float score;          // less that of the best of its step
};

class BeamSearch {
  public:
    // merges: hypotheses that nothing can tell apart are one.
    BeamSearch(const GramWeights& grams, std::int64_t beam, bool merges);

    // Nothing is labelled yet.
    void start();
    // Labels one more position whose labels score `state`. The hypothesis of the gold labels is watched. With
    // merging, the labels that `keep` names step by step, until a negative one, lead to a hypothesis that no
    // beam loses.
    void step(const float* state, std::int64_t gold = -1, std::int64_t keep = -1);
    // Goes on from gold alone, which the last step lost.
    void go_on_from(std::int64_t gold);

    std::int64_t n_steps() const { return static_cast<std::int64_t>(firsts_.size()) - 2; }
    // The hypotheses after so many steps are from..to, best first.
    std::int64_t from(std::int64_t n_steps) const { return firsts_[n_steps]; }
    std::int64_t to(std::int64_t n_steps) const { return firsts_[n_steps + 1]; }
    const Hypothesis& at(std::int64_t i) const { return all_[i]; }
    // Of the best hypothesis now.
    double score() const { return score_; }
    bool has_gold() const { return gold_ >= 0; }
    bool gold_leads() const { return gold_ == from(n_steps()); }
    // The end of the hypotheses now that are ahead of gold.
    std::int64_t ahead_of_gold() const { return has_gold() ? gold_ : to(n_steps()); }
    // The last n labels of hypothesis i, by step.
    void trace(std::int64_t i, std::int64_t n, std::int32_t* labels) const {
        for (; n > 0; i = all_[i].parent) labels[--n] = all_[i].label;
    }

  private:
    // Hypotheses whose successors by the same label are one; linked, the first first.
    struct Group {
        std::int64_t shared, first, last;
    };
    // What speaks of the next label of a hypothesis.
    struct Expansion {
        const float* const* rows;
        std::int64_t n_rows;
        std::int64_t next;  // of its group, -1 for none
    };
    void expand(const float* state);
    std::int64_t group(std::int64_t shared);
    void keep_also(std::int64_t label);
    std::int64_t winner(const Choice& choice) const;
    void append(std::int64_t parent, std::int64_t label, float score, std::int64_t gold);

    const GramWeights& grams_;
    std::int64_t k_, stride_, beam_;
    bool merges_;
    std::vector<Hypothesis> all_;
    std::vector<std::int64_t> firsts_;         // where the hypotheses of each step begin, and the end
    std::int64_t gold_ = 0, gold_before_ = 0;  // the hypothesis that is gold, now and a step ago; -1: none
    std::int64_t kept_ = 0;                    // the code of the hypothesis that is kept; -1: none
    double score_ = 0;
    std::vector<Group> groups_;
    std::vector<Expansion> expansions_;  // of the hypotheses before this step
    std::vector<const float*> rows_;
    std::vector<float> pool_;  // (groups, stride): the best score of each label; minus infinity beyond K
    std::vector<Choice> chosen_;
    std::int64_t n_chosen_ = 0;
};

}  // namespace hedgerow
