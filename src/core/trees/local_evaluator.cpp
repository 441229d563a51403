#include "trees/local_evaluator.hpp"

#include <algorithm>
#include <utility>

namespace hedgerow {
namespace {

constexpr std::int64_t kBytesKept = 3 << 22;  // of histograms that a tree keeps, except a few
constexpr std::int64_t kLeastKept = 8;

}  // namespace

void LocalEvaluator::evaluate_root(GrowingNode& root) {
    histograms_.start_tree();
    if (!histograms_.uses_entry_map()) {
        splitter_.use(histograms_.map());
        return evaluate_node(root);
    }
    root.total = sum_of(root);
    label_sums_.sum(root);
    {
        const PhaseTimer timer(phase(&GrowthTimes::histogram));
        root.histogram =
            histograms_.build_reduced_root(positions(root, root.total), examples_.objective.packing);
    }
    splitter_.use(histograms_.map());
    find_best(root, *root.histogram, false);
}

void LocalEvaluator::evaluate_sides(GrowingNode& parent, Division& division) {
    GrowingNode &yes = division.if_true, &no = division.if_false;
    if (parent.best.attribute < 0) return evaluate_context_split(parent, yes, no);
    if (division.counts_twice) return evaluate_anew(parent, yes, no);
    evaluate_position_split(parent, yes, no);
}

// From the positions of both sides, where sums do not subtract.
void LocalEvaluator::evaluate_anew(GrowingNode& parent, GrowingNode& yes, GrowingNode& no) {
    release(parent);
    evaluate_node(yes);
    evaluate_node(no);
}

void LocalEvaluator::sum_sides(GrowingNode& parent, Division& division) {
    for (GrowingNode* side : {&division.if_true, &division.if_false}) side->total = sum_of(*side);
    release(parent);
}

void LocalEvaluator::release(GrowingNode& node) {
    histograms_.give_back(std::move(node.histogram));
}

std::int64_t LocalEvaluator::most_kept() const {
    const std::int64_t bytes = static_cast<std::int64_t>(sizeof(Sums)) * (histograms_.map().n_places() + 1);
    return std::max(kLeastKept, kBytesKept / bytes);
}

// Sums, histogram and best split of a node, from its positions.
void LocalEvaluator::evaluate_node(GrowingNode& node) {
    node.total = sum_of(node);
    label_sums_.sum(node);
    evaluate_histogram(node);
}

// Histogram and best split of a node whose sums are known.
void LocalEvaluator::evaluate_histogram(GrowingNode& node) {
    if (histograms_.is_large(node.counted)) {
        node.histogram = histograms_.take();
        count(node, *node.histogram, false);
        find_best(node, *node.histogram, false);
    } else {
        Histogram& scratch = histograms_.scratch();
        count(node, scratch, true);
        find_best(node, scratch, true);
        scratch.clear_marked();
    }
}

// After a split on an attribute, the sums of the larger side are those of the parent minus those of the
// smaller side.
void LocalEvaluator::evaluate_position_split(GrowingNode& parent, GrowingNode& yes, GrowingNode& no) {
    const bool yes_is_smaller = yes.counted.size() <= no.counted.size();
    GrowingNode& small = yes_is_smaller ? yes : no;
    GrowingNode& large = yes_is_smaller ? no : yes;
    small.total = sum_of(small);
    label_sums_.sum(small);
    large.total = parent.total - small.total;
    label_sums_.subtract(parent, small, large);
    if (!parent.histogram) {
        evaluate_histogram(small);
        evaluate_histogram(large);
        return;
    }
    large.histogram = std::move(parent.histogram);
    LargeVector<Sums>& left = large.histogram->entries;
    if (histograms_.is_large(small.counted)) {
        small.histogram = histograms_.take();
        count(small, *small.histogram, false);
        find_best(small, *small.histogram, false);
        for (std::size_t e = 0; e < left.size(); ++e) left[e] -= small.histogram->entries[e];
    } else {
        Histogram& scratch = histograms_.scratch();
        count(small, scratch, true);
        find_best(small, scratch, true);
        scratch.each_marked(0, histograms_.map().n_places(),
                            [&](std::int32_t e) { left[e] -= scratch.entries[e]; });
        scratch.clear_marked();
    }
    find_best(large, *large.histogram, false);
    if (!histograms_.is_large(large.counted)) release(large);
}

// After a split on a single previous label, residuals and examples of `no` are those of the parent minus
// those of `yes`.
void LocalEvaluator::evaluate_context_split(GrowingNode& parent, GrowingNode& yes, GrowingNode& no) {
    if (!parent.histogram || !contexts_subtract(parent) || !histograms_.is_large(yes.counted))
        return evaluate_anew(parent, yes, no);
    evaluate_node(yes);
    const ContextSubtraction subtract(examples_, parent.best, no);
    no.histogram = std::move(parent.histogram);
    no.total = parent.total;
    subtract(no.total, yes.total);
    for (std::int32_t e = 0; e < histograms_.map().n_places(); ++e)
        subtract(no.histogram->entries[e], yes.histogram->entries[e]);
    if (examples_.order == 1) {
        label_sums_.remove_label(parent, parent.best.label, no);
    } else {
        label_sums_.sum(no);
    }
    find_best(no, *no.histogram, false);
}

void LocalEvaluator::count(const GrowingNode& node, Histogram& histogram, bool marking) {
    const PhaseTimer timer(phase(&GrowthTimes::histogram));
    histograms_.build(positions(node, node.total), histogram, marking);
}

// Of equal gains the first test wins: attributes by id, then previous labels by lag and label.
void LocalEvaluator::find_best(GrowingNode& node, const Histogram& histogram, bool marked) {
    const PhaseTimer timer(phase(&GrowthTimes::scan));
    set_attribute(node, best_attribute(node, histogram, marked));
    label_splitter_.consider(node, label_splitter_.sum_prefixes(node));
}

}  // namespace hedgerow
