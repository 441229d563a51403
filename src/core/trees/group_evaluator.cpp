#include "trees/group_evaluator.hpp"

#include <algorithm>
#include <utility>

namespace hedgerow {
namespace {

constexpr std::size_t kSpareSlices = 4;  // histograms kept for the next tree; all labels of a block have some

void write_split(const Split& split, MessageWriter to) {
    to.put(split.gain);
    to.put(split.missing_side);
    to.put(split.yes);
    to.put(split.no);
    to.put_list(split.entries);
}

Split read_split(MessageReader& from, const TreeData& data) {
    Split split;
    split.gain = from.get<double>();
    split.missing_side = from.get<Split::Side>();
    split.yes = from.get<Sums>();
    split.no = from.get<Sums>();
    split.entries = from.get_list<std::int32_t>();
    for (const std::int32_t entry : split.entries)
        MessageReader::check(entry >= 0 && entry < data.n_entries &&
                             &data.slot_of(entry) == &data.slot_of(split.entries[0]));
    return split;
}

// Whether a split of a later slice is chosen instead of `best`. A Splitter tries missing values on the side
// `no` first, in all slots, so at equal gains that side wins.
bool replaces(const Split& split, const Split& best) {
    if (split.gain != best.gain) return split.gain > best.gain;
    return split.gain > 0 && best.missing_side == Split::Side::yes && split.missing_side != Split::Side::yes;
}

}  // namespace

GroupEvaluator::GroupEvaluator(const Examples& examples, const Layers& layers, HistogramBuilder& histograms,
                               const GrowthRules& rules, const Group& group)
    : NodeEvaluator(examples, layers, histograms, rules),
      group_(group),
      slices_(group.layout.slices),
      scratch_(static_cast<std::size_t>(group.layout.map.n_places()) + 1) {
    splitter_.use(group.layout.map);
}

void GroupEvaluator::evaluate_root(GrowingNode& root) {
    splits_.clear();  // an earlier tree may have ended by an exception
    histograms_.start_tree();
    evaluate_nodes({&root});
}

void GroupEvaluator::evaluate_sides(GrowingNode& parent, Division& division) {
    GrowingNode &yes = division.if_true, &no = division.if_false;
    if (parent.best.attribute >= 0) {
        evaluate_position_split(parent, division.yes_is_smaller ? yes : no,
                                division.yes_is_smaller ? no : yes);
    } else if (parent.histogram && examples_.order == 1 && contexts_subtract(parent)) {
        evaluate_context_split(parent, yes, no);
    } else {
        release(parent);
        evaluate_nodes({&yes, &no});
    }
}

void GroupEvaluator::sum_sides(GrowingNode& parent, Division& division) {
    GrowingNode &yes = division.if_true, &no = division.if_false;
    std::vector<Sums> totals{sum_of(yes), sum_of(no)};
    sum_over_members(*group_.exchange, totals);
    yes.total = totals[0];
    no.total = totals[1];
    release(parent);
}

// Sums, histogram and best split of nodes, from their positions.
void GroupEvaluator::evaluate_nodes(Nodes nodes) {
    for (GrowingNode* node : nodes) label_sums_.sum(*node);
    const std::vector<Message> sums = exchange_sums(nodes);
    std::vector<MessageReader> from = readers_of(sums);
    for (GrowingNode* node : nodes) {
        read_sums(*node, from);
        with_histogram(*node, from, [](const Histogram&, bool) {});
    }
    exchange_splits(nodes);
}

// After a split on an attribute, the sums of the larger side are those of the parent minus those of the
// smaller side; if the parent has no histogram, the histograms of both sides are counted.
void GroupEvaluator::evaluate_position_split(GrowingNode& parent, GrowingNode& small, GrowingNode& large) {
    label_sums_.sum(small);
    const std::vector<Message> sums =
        parent.histogram ? exchange_sums({&small}) : exchange_sums({&small, &large});
    std::vector<MessageReader> from = readers_of(sums);
    large.histogram = std::move(parent.histogram);
    const bool subtracts = large.histogram != nullptr;
    read_sums(small, from);
    with_histogram(small, from, [&](const Histogram& part, bool marked) {
        if (!subtracts) return;
        part.each(marked, 0, group_.layout.map.n_places(),
                  [&](std::int32_t place) { large.histogram->entries[place] -= part.entries[place]; });
    });
    if (subtracts) {
        large.total = parent.total - small.total;
        label_sums_.subtract(parent, small, large);
        search(large, *large.histogram, false);
        if (!is_large(large)) release(large);
    } else {
        read_sums(large, from);
        label_sums_.subtract(parent, small, large);
        with_histogram(large, from, [](const Histogram&, bool) {});
    }
    exchange_splits({&small, &large});
}

void GroupEvaluator::evaluate_context_split(GrowingNode& parent, GrowingNode& yes, GrowingNode& no) {
    label_sums_.sum(yes);
    const std::vector<Message> sums = exchange_sums({&yes});
    std::vector<MessageReader> from = readers_of(sums);
    const ContextSubtraction subtract(examples_, parent.best, no);
    no.histogram = std::move(parent.histogram);
    read_sums(yes, from);
    with_histogram(yes, from, [&](const Histogram& part, bool marked) {
        part.each(marked, 0, group_.layout.map.n_places(),
                  [&](std::int32_t place) { subtract(no.histogram->entries[place], part.entries[place]); });
    });
    no.total = parent.total;
    subtract(no.total, yes.total);
    label_sums_.remove_label(parent, parent.best.label, no);
    search(no, *no.histogram, false);
    exchange_splits({&yes, &no});
}

// Sends the own sums of nodes: totals, and sums by previous label if there are any, to all members; and of
// the histogram to each member its slice.
std::vector<Message> GroupEvaluator::exchange_sums(Nodes nodes) {
    std::vector<Message> outgoing(static_cast<std::size_t>(group_.exchange->size()));
    for (GrowingNode* node : nodes) write_sums(*node, outgoing);
    return group_.exchange->all_to_all(std::move(outgoing));
}

void GroupEvaluator::write_sums(GrowingNode& node, std::vector<Message>& to) {
    const Sums total = sum_of(node);
    const PhaseTimer timer(phase(&GrowthTimes::histogram));
    Histogram& local = histograms_.scratch();
    const bool marking = !histograms_.is_large(node.counted);
    histograms_.build(positions(node, total), local, marking);
    for (std::size_t member = 0; member < to.size(); ++member) {
        MessageWriter writer(to[member]);
        writer.put(total);
        if (node.has_fractions) {
            writer.put(node.fractional_label_sums.data(), node.fractional_label_sums.size());
        } else {
            writer.put(node.label_sums.data(), node.label_sums.size());
        }
        slices_.write(local, marking, static_cast<std::int64_t>(member), to[member]);
    }
    if (marking) {
        local.clear_marked();
    } else {
        std::fill(local.entries.begin(), local.entries.end(), Sums{});
    }
}

// The total and the sums by previous label, over all members.
void GroupEvaluator::read_sums(GrowingNode& node, std::vector<MessageReader>& from) const {
    node.total = {};
    std::fill(node.label_sums.begin(), node.label_sums.end(), Sums{});
    std::fill(node.fractional_label_sums.begin(), node.fractional_label_sums.end(), FractionalSums{});
    for (MessageReader& one : from) {
        node.total += one.get<Sums>();
        if (node.has_fractions) {
            for (FractionalSums& sums : node.fractional_label_sums) sums += one.get<FractionalSums>();
        } else {
            for (Sums& sums : node.label_sums) sums += one.get<Sums>();
        }
    }
    if (node.has_fractions) label_sums_.round(node);
}

void GroupEvaluator::read_histogram(std::vector<MessageReader>& from, Histogram& slice, bool marking) const {
    for (MessageReader& one : from) slices_.add(one, group_.layout.rank, slice, marking);
}

// Reads the histogram of a node, searches its best split and calls use(histogram, marked). Keeps the
// histogram if the node is large.
template <class Use>
void GroupEvaluator::with_histogram(GrowingNode& node, std::vector<MessageReader>& from, Use use) {
    if (is_large(node)) {
        node.histogram = take();
        read_histogram(from, *node.histogram, false);
        search(node, *node.histogram, false);
        use(*node.histogram, false);
    } else {
        read_histogram(from, scratch_, true);
        search(node, scratch_, true);
        use(scratch_, true);
        scratch_.clear_marked();
    }
}

// Finds the best split in the own slice, and sums up prefixes of labels for all members.
void GroupEvaluator::search(const GrowingNode& node, const Histogram& slice, bool marked) {
    const PhaseTimer timer(phase(&GrowthTimes::scan));
    MessageWriter to(splits_);
    write_split(best_attribute(node, slice, marked), to);
    for (const LabelContextSplitter::PrefixSums& lag : label_splitter_.sum_prefixes(node)) {
        to.put_list(lag.yes);
        to.put_list(lag.no);
    }
}

// The best split of each node, in the order in which they were searched.
void GroupEvaluator::exchange_splits(Nodes nodes) {
    const std::vector<Message> splits = group_.exchange->gather(std::exchange(splits_, {}));
    std::vector<MessageReader> from = readers_of(splits);
    for (GrowingNode* node : nodes) read_split(*node, from);
}

void GroupEvaluator::read_split(GrowingNode& node, std::vector<MessageReader>& from) const {
    Split best;
    std::vector<LabelContextSplitter::PrefixSums> prefixes = label_splitter_.no_prefixes();
    for (MessageReader& one : from) {
        Split split = hedgerow::read_split(one, data_);
        if (replaces(split, best)) best = std::move(split);
        for (LabelContextSplitter::PrefixSums& lag : prefixes) {
            for (std::vector<Sums>* side : {&lag.yes, &lag.no}) {
                const std::vector<Sums> part = one.get_list<Sums>();
                if (side->empty()) side->resize(part.size());
                MessageReader::check(part.size() == side->size());
                for (std::size_t r = 0; r < part.size(); ++r) (*side)[r] += part[r];
            }
        }
    }
    set_attribute(node, std::move(best));
    label_splitter_.consider(node, prefixes);
}

// Whether counting the positions of all members costs enough for the histogram to be kept.
bool GroupEvaluator::is_large(const GrowingNode& node) const {
    return 4 * static_cast<double>(examples_.objective.count(node.total)) * group_.layout.reads >=
           data_.n_entries;
}

std::unique_ptr<Histogram> GroupEvaluator::take() {
    if (spare_.empty()) return std::make_unique<Histogram>(scratch_.entries.size());
    std::unique_ptr<Histogram> histogram = std::move(spare_.back());
    spare_.pop_back();
    std::fill(histogram->entries.begin(), histogram->entries.end(), Sums{});
    return histogram;
}

void GroupEvaluator::release(GrowingNode& node) {
    if (node.histogram) spare_.push_back(std::move(node.histogram));
}

void GroupEvaluator::trim_spare() {
    if (spare_.size() > kSpareSlices) spare_.resize(kSpareSlices);
}

}  // namespace hedgerow
