#include "search/search_learner.hpp"

#include <algorithm>

#include "util/rounds.hpp"

namespace hedgerow {

SearchLearner::Counts SearchLearner::learn(const OnlineExamples& examples, std::int64_t batch,
                                           std::int64_t n_threads) {
    Counts counts{0, 0};
    const bool at_once = batch == 1;
    const std::vector<std::int64_t> numbers = longest_first(examples, batch);
    std::vector<std::vector<SearchMistake>> found(static_cast<std::size_t>(std::min(batch, examples.n)));
    const auto search = [&](Searcher& searcher, std::int64_t i) {
        std::vector<SearchMistake>& mistakes = found[i % batch];
        mistakes.clear();
        searcher.run(examples[i], [&](SearchMistake&& mistake) {
            if (at_once) update(examples[i], mistake);
            mistakes.push_back(std::move(mistake));
            return at_once;
        });
    };
    const auto make_worker = [&] {
        return [&, searcher = Searcher(rules_, never_final_, attributes_, n_grams_)](std::int64_t n) mutable {
            search(searcher, numbers[n]);
        };
    };
    parallel_rounds(examples.n, batch, n_threads, make_worker, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last && !at_once; ++i)
            for (const SearchMistake& mistake : found[i % batch]) prefetch_weights(examples[i], mistake);
        bool changed = false;  // the weights, since the searches
        for (std::int64_t i = first; i < last; ++i) {
            for (SearchMistake& mistake : found[i % batch]) {
                if (at_once) break;
                if (changed) drop_losers(examples[i], mistake);
                if (mistake.n_hypotheses == 0) continue;
                update(examples[i], mistake);
                changed = true;
            }
            const auto n = static_cast<std::int64_t>(found[i % batch].size());
            counts.mistakes += n > 0;
            counts.updates += n;
            ++n_seen_;
        }
    });
    return counts;
}

// Calls visit(context, label, whether it is of gold) for the n-grams of gold and of the labels where they
// differ.
template <class Visit>
void SearchLearner::for_each_n_gram_difference(const OnlineExample& example, const SearchMistake& mistake,
                                               const std::int32_t* labels, Visit visit) const {
    const LabelCodes& codes = n_grams_.codes();
    const std::int64_t agreed = mistake.agreed;
    std::int64_t right = codes.start();
    for (std::int64_t t = std::max<std::int64_t>(0, agreed - codes.memory()); t < agreed; ++t)
        right = codes.next(right, gold(example, t));
    std::int64_t found = right;
    for (std::int64_t t = agreed; t < mistake.n_steps; ++t) {
        const std::int64_t label = labels[t - agreed], gold_label = gold(example, t);
        if (label != gold_label || (found != right && codes.order() > 0)) {
            codes.for_each_context(right, t, [&](std::int64_t c) { visit(c, gold_label, true); });
            codes.for_each_context(found, t, [&](std::int64_t c) { visit(c, label, false); });
        }
        right = codes.next(right, gold_label);
        found = codes.next(found, label);
    }
}

// Prefetches the weights of attributes that an update changes: most of them are not in the cache.
void SearchLearner::prefetch_weights(const OnlineExample& example, const SearchMistake& mistake) const {
    const std::int64_t n = mistake.n_steps - mistake.agreed;
    for (std::int64_t at = 0; at < mistake.n_hypotheses * n; ++at) {
        const std::int64_t step = mistake.agreed + at % n;
        const std::int32_t label = mistake.labels[at], right = gold(example, step);
        if (label == right) continue;
        for_each_id(example.slots, example.begin + rules_.place(example, step), example.begin, example.end,
                    [&](std::int32_t id, float) {
                        attributes_.prefetch_weight(id, right);
                        attributes_.prefetch_weight(id, label);
                    });
    }
}

// Removes the hypotheses that no longer beat gold. Standard updates also learn from labellings that never
// did.
void SearchLearner::drop_losers(const OnlineExample& example, SearchMistake& mistake) const {
    if (rules_.update == Update::standard) return;
    const std::int64_t n = mistake.n_steps - mistake.agreed;
    std::int64_t n_kept = 0;
    for (std::int64_t i = 0; i < mistake.n_hypotheses; ++i) {
        const std::int32_t* labels = mistake.labels.data() + i * n;
        if (lead(example, mistake, labels) <= 0) continue;
        std::copy_n(labels, n, mistake.labels.data() + n_kept++ * n);
    }
    mistake.n_hypotheses = n_kept;
    mistake.labels.resize(static_cast<std::size_t>(n_kept * n));
}

// The score of the labels minus that of gold, which a tie makes lower.
double SearchLearner::lead(const OnlineExample& example, const SearchMistake& mistake,
                           const std::int32_t* labels) const {
    double ahead = 0;
    for (std::int64_t t = mistake.agreed; t < mistake.n_steps; ++t) {
        const std::int32_t label = labels[t - mistake.agreed], right = gold(example, t);
        if (label == right) continue;
        ahead += static_cast<double>(rules_.tie);
        for_each_id(example.slots, example.begin + rules_.place(example, t), example.begin, example.end,
                    [&](std::int32_t id, float value) {
                        const RowView row = attributes_.row(id);
                        ahead += static_cast<double>(value) *
                                 (static_cast<double>(row[label]) - static_cast<double>(row[right]));
                    });
    }
    for_each_n_gram_difference(example, mistake, labels,
                               [&](std::int64_t context, std::int64_t label, bool is_gold) {
                                   const auto weight = static_cast<double>(n_grams_.weight(context, label));
                                   ahead += is_gold ? -weight : weight;
                               });
    return ahead;
}

void SearchLearner::update(const OnlineExample& example, const SearchMistake& mistake) {
    const std::int64_t n = mistake.n_steps - mistake.agreed;
    const float share = example.weight / static_cast<float>(mistake.n_hypotheses);
    const std::vector<std::int32_t>& labels = mistake.labels;
    for (std::int64_t t = 0; t < n; ++t) {
        differing_.clear();
        for (std::int64_t at = t; at < static_cast<std::int64_t>(labels.size()); at += n)
            if (labels[at] != gold(example, mistake.agreed + t)) differing_.push_back(labels[at]);
        if (!differing_.empty()) update_attributes(example, mistake.agreed + t, share);
    }
    const auto before = static_cast<double>(n_vectors());
    for (std::int64_t i = 0; i < mistake.n_hypotheses; ++i) {
        for_each_n_gram_difference(example, mistake, labels.data() + i * n,
                                   [&](std::int64_t context, std::int64_t label, bool is_gold) {
                                       n_grams_.add(context, label, is_gold ? share : -share, before);
                                   });
    }
}

void SearchLearner::update_attributes(const OnlineExample& example, std::int64_t step, float share) {
    const auto before = static_cast<double>(n_vectors());
    const float n = static_cast<float>(differing_.size());
    const std::int64_t t = example.begin + rules_.place(example, step);
    const std::int32_t right = gold(example, step);
    for_each_id(example.slots, t, example.begin, example.end, [&](std::int32_t id, float value) {
        if (!attributes_.keeps(id)) return;
        attributes_.add(id, right, n * share * value, before);
        for (const std::int32_t label : differing_) attributes_.add(id, label, -share * value, before);
    });
}

}  // namespace hedgerow
