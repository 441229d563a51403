// Learning to search: weights += weight (features of gold - mean of the features of the hypotheses that beat
// gold), where a beam search prefers other labels to gold (searcher.hpp).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "search/searcher.hpp"

namespace hedgerow {

// Learns from batches of sequences: threads search a batch under the same weights, then the weights are
// updated sequence by sequence, by the hypotheses that still beat gold. With a batch of 1, LaSO updates the
// weights during a search.
class SearchLearner {
  public:
    struct Counts {
        std::int64_t mistakes, updates;  // sequences with updates, and updates
    };

    // never_final: labels that the last step of a search does not give.
    SearchLearner(const SearchRules& rules, AttributeWeights attributes, SparseNGramWeights n_grams,
                  std::vector<std::int32_t> never_final)
        : rules_(rules),
          never_final_(std::move(never_final)),
          attributes_(std::move(attributes)),
          n_grams_(std::move(n_grams)) {}

    // Learns from all examples in their order.
    Counts learn(const OnlineExamples& examples, std::int64_t batch, std::int64_t n_threads);

    // Counts n more examples that do not change the weights.
    void stay(std::int64_t n) { n_seen_ += n; }

    const AttributeWeights& attributes() const { return attributes_; }
    const SparseNGramWeights& n_grams() const { return n_grams_; }
    // The number of weight vectors so far: one after each example, and the first, which is 0.
    std::int64_t n_vectors() const { return n_seen_ + 1; }

  private:
    void prefetch_weights(const OnlineExample& example, const SearchMistake& mistake) const;
    template <class Visit>
    void for_each_n_gram_difference(const OnlineExample& example, const SearchMistake& mistake,
                                    const std::int32_t* labels, Visit visit) const;
    void drop_losers(const OnlineExample& example, SearchMistake& mistake) const;
    double lead(const OnlineExample& example, const SearchMistake& mistake, const std::int32_t* labels) const;
    void update(const OnlineExample& example, const SearchMistake& mistake);
    void update_attributes(const OnlineExample& example, std::int64_t step, float share);
    std::int32_t gold(const OnlineExample& example, std::int64_t step) const {
        return example.gold[rules_.place(example, step)];
    }

    SearchRules rules_;
    std::vector<std::int32_t> never_final_;
    AttributeWeights attributes_;
    SparseNGramWeights n_grams_;
    std::int64_t n_seen_ = 0;
    std::vector<std::int32_t> differing_;  // labels at a step that are not gold
};

}  // namespace hedgerow
