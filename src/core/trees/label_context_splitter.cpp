#include "trees/label_context_splitter.hpp"

#include <algorithm>

namespace hedgerow {

std::vector<LabelContextSplitter::PrefixSums> LabelContextSplitter::sum_prefixes(
    const GrowingNode& node) const {
    std::vector<PrefixSums> by_lag = no_prefixes();
    for (std::size_t j = 0; j < by_lag.size(); ++j) {
        const auto lag = static_cast<std::int64_t>(j);
        if (node.contexts->set.size(lag) >= 2) by_lag[j] = sum_prefixes(node, lag, by_value(node, lag));
    }
    return by_lag;
}

void LabelContextSplitter::consider(GrowingNode& node, const std::vector<PrefixSums>& prefixes) const {
    for (std::int64_t lag = 0; lag < examples_.order; ++lag) {
        if (node.contexts->set.size(lag) < 2) continue;
        rules_.uses_subsets() ? consider_label_sets(node, lag, prefixes[lag]) : consider_labels(node, lag);
    }
}

// One label against the rest. A position may have examples on both sides and counts on each.
void LabelContextSplitter::consider_labels(GrowingNode& node, std::int64_t lag) const {
    const std::int64_t k = examples_.k;
    const double before = examples_.objective.merit(node.total);
    const Sums at_start = node.label_sums[sums_.entry(lag, k)];
    for (std::int64_t v = 0; v <= k; ++v) {
        if (!node.contexts->set.allowed(lag, v)) continue;
        const Sums* yes = node.label_sums.data() + sums_.entry(lag, v);
        Sums no = v < k ? yes[1] : node.total;
        // Where the lag reaches beyond the start, all examples of the position are on one side.
        if (v < k) {
            no += at_start;
        } else {
            no -= at_start;
        }
        const double gain = examples_.objective.gain(yes[0], no, before);
        if (gain > node.gain) {
            node.gain = gain;
            node.best = {-1, static_cast<std::int32_t>(lag), static_cast<std::int32_t>(v), {}};
        }
    }
}

// Labels in the order of their values, every prefix against the rest.
void LabelContextSplitter::consider_label_sets(GrowingNode& node, std::int64_t lag,
                                               const PrefixSums& sums) const {
    const Labels labels = by_value(node, lag);
    const double before = examples_.objective.merit(node.total);
    for (std::size_t r = 0; r + 1 < labels.size(); ++r) {
        const double gain = examples_.objective.gain(sums.yes[r], sums.no[r], before);
        if (!(gain > node.gain)) continue;
        node.gain = gain;
        Labels chosen(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(r) + 1);
        std::sort(chosen.begin(), chosen.end());
        node.best = {-1, static_cast<std::int32_t>(lag), chosen[0], {chosen.begin() + 1, chosen.end()}};
    }
}

// The labels of a lag that occur, the highest mean residual first.
LabelContextSplitter::Labels LabelContextSplitter::by_value(const GrowingNode& node, std::int64_t lag) const {
    Labels labels;
    for (std::int32_t v = 0; v <= examples_.k; ++v) {
        if (node.contexts->set.allowed(lag, v) && node.label_sums[sums_.entry(lag, v)].packed != 0)
            labels.push_back(v);
    }
    const auto mean = [&](std::int32_t v) {
        const Sums& sums = node.label_sums[sums_.entry(lag, v)];
        return examples_.objective.residual(sums) / (examples_.objective.weight(sums) + 1e-3);
    };
    std::stable_sort(labels.begin(), labels.end(), [&](auto a, auto b) { return mean(a) > mean(b); });
    return labels;
}

// Counted position by position: a curvature is no sum over labels.
LabelContextSplitter::PrefixSums LabelContextSplitter::sum_prefixes(const GrowingNode& node, std::int64_t lag,
                                                                    const Labels& labels) const {
    const NodeContexts& contexts = *node.contexts;
    std::vector<std::size_t> rank(static_cast<std::size_t>(examples_.k) + 1, labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) rank[labels[i]] = i;
    std::vector<std::vector<std::size_t>> ranks(contexts.members.size());  // of the members, by depth
    for (std::size_t m = 0; m < ranks.size(); ++m) {
        for (const std::int32_t h : contexts.members[m])
            ranks[m].push_back(rank[contexts.set.label(h, static_cast<std::int64_t>(m), lag)]);
    }
    const Layer& layer = layers_[node.layer];
    const auto position_sums = [&](const KeptSums& kept, std::int64_t i) {
        const std::int32_t c = layer.order.cells[i];
        if (!node.has_fractions) return examples_.position_sums(kept.residual, kept.n, c);
        return examples_.position_sums(kept.residual, kept.n, c, layer.fractions[i],
                                       examples_.objective.count(layer.sums[i]));
    };
    PrefixSums sums{std::vector<Sums>(labels.size()), std::vector<Sums>(labels.size())};
    std::vector<KeptSums> by_rank(labels.size() + 1);
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = layer.order.cells[i], depth = examples_.data.depth_at[c];
        const std::vector<std::int32_t>& members = contexts.members[depth];
        std::fill(by_rank.begin(), by_rank.end(), KeptSums{});
        KeptSums all, sum;
        for (std::size_t j = 0; j < members.size(); ++j) {
            const KeptSums one = KeptSums::of(examples_.row(c)[members[j]]);
            by_rank[ranks[depth][j]] += one;
            all += one;
        }
        for (std::size_t r = 0; r < labels.size(); ++r) {
            sum += by_rank[r];
            const KeptSums rest = all - sum;
            if (sum.n > 0) sums.yes[r] += position_sums(sum, i);
            if (rest.n > 0) sums.no[r] += position_sums(rest, i);
        }
    }
    return sums;
}

}  // namespace hedgerow
