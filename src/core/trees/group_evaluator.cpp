#include "trees/group_evaluator.hpp"

#include <algorithm>
#include <utility>

namespace hedgerow {
namespace {

constexpr std::int64_t kLeastKept = 4;

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
      rules_(rules),
      writer_(examples.objective.packing),
      reduced_(group.layout.map),
      scratch_(0) {}

void GroupEvaluator::evaluate_root(GrowingNode& root) {
    splits_.clear();  // an earlier tree may have ended by an exception
    n_kept_ = 0;
    histograms_.start_tree();
    if (histograms_.uses_entry_map()) return evaluate_reduced_root(root);
    const EntrySlices& slices = group_.layout.slices;
    slice_starts_.assign(1, 0);
    for (std::int64_t member = 0; member < group_.exchange->size(); ++member)
        slice_starts_.push_back(slices.end_entry(member));
    use(group_.layout.map);
    evaluate_nodes({&root});
}

void GroupEvaluator::use(const EntryMap& own) {
    own_ = &own;
    splitter_.use(own);
    scratch_.resize(static_cast<std::size_t>(own.n_places()) + 1);
}

// Members first add up counts, to find which entries the tree can use. All histograms, and all messages with
// sums, have places for these only.
void GroupEvaluator::evaluate_reduced_root(GrowingNode& root) {
    const Sums total = sum_of(root);
    label_sums_.sum(root);
    const bool marked = !histograms_.is_large(root.counted);
    histograms_.build(positions(root, total), histograms_.root(), marked);
    share_usable(marked);
    Histogram& local = histograms_.scratch();
    histograms_.move_root(local, marked);
    write_sums(root, total, local, false, start_messages());
    const std::vector<Received> sums = group_.exchange->all_to_all(outgoing_);
    std::vector<MessageReader> from = readers_of(sums);
    read_sums(root, from);
    with_histogram(root, from, [](const Histogram&, bool) {});
    exchange_splits({&root});
}

// Each member adds up the counts of its slice, and tells all others which of its entries are usable.
void GroupEvaluator::share_usable(bool marked) {
    const EntrySlices& slices = group_.layout.slices;
    const std::int64_t rank = group_.layout.rank, size = group_.exchange->size();
    std::vector<Message>& outgoing = start_messages();
    for (std::int64_t j = 0; j < size; ++j)
        writer_.write_counts(histograms_.root(), marked, slices.first_entry(j), slices.end_entry(j),
                             outgoing[j]);
    const std::int32_t first = slices.first_entry(rank);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(slices.end_entry(rank) - first), 0);
    const std::vector<Received> incoming = group_.exchange->all_to_all(outgoing);
    for (MessageReader from : readers_of(incoming))
        add_counts(from, static_cast<std::int32_t>(counts.size()), counts);
    Message own;
    MessageWriter(own).put_list(EntryMap::usable(data_, slices.first_slot(rank), slices.end_slot(rank),
                                                 rules_, [&](auto begin, auto end, auto visit) {
                                                     for (std::int32_t e = begin; e < end; ++e)
                                                         visit(e, counts[e - first]);
                                                 }));
    reduce(group_.exchange->gather(own));
}

void GroupEvaluator::reduce(const std::vector<Received>& usable) {
    const EntrySlices& slices = group_.layout.slices;
    std::vector<std::int32_t> all;
    slice_starts_.assign(1, 0);
    for (MessageReader from : readers_of(usable)) {
        const auto member = static_cast<std::int64_t>(slice_starts_.size()) - 1;
        std::vector<std::int32_t> entries = from.get_list<std::int32_t>();
        std::int32_t least = slices.first_entry(member);
        for (const std::int32_t entry : entries) {
            MessageReader::check(entry >= least && entry < slices.end_entry(member));
            least = entry + 1;
        }
        all.insert(all.end(), entries.begin(), entries.end());
        slice_starts_.push_back(static_cast<std::int32_t>(all.size()));
        if (member == group_.layout.rank) reduced_.assign(data_, std::move(entries));
    }
    histograms_.reduce(std::move(all));
    use(reduced_);
}

void GroupEvaluator::evaluate_sides(GrowingNode& parent, Division& division) {
    GrowingNode &yes = division.if_true, &no = division.if_false;
    if (parent.best.attribute >= 0 && !division.counts_twice) {
        evaluate_position_split(parent, division.yes_is_smaller ? yes : no,
                                division.yes_is_smaller ? no : yes);
    } else if (parent.best.attribute < 0 && parent.histogram && examples_.order == 1 &&
               contexts_subtract(parent)) {
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
    const std::vector<Received> sums = exchange_sums(nodes);
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
    const std::vector<Received> sums =
        parent.histogram ? exchange_sums({&small}) : exchange_sums({&small, &large});
    std::vector<MessageReader> from = readers_of(sums);
    large.histogram = std::move(parent.histogram);
    const bool subtracts = large.histogram != nullptr;
    read_sums(small, from);
    with_histogram(small, from, [&](const Histogram& part, bool marked) {
        if (!subtracts) return;
        part.each(marked, 0, own_->n_places(),
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
    const std::vector<Received> sums = exchange_sums({&yes});
    std::vector<MessageReader> from = readers_of(sums);
    const ContextSubtraction subtract(examples_, parent.best, no);
    no.histogram = std::move(parent.histogram);
    read_sums(yes, from);
    with_histogram(yes, from, [&](const Histogram& part, bool marked) {
        part.each(marked, 0, own_->n_places(),
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
std::vector<Received> GroupEvaluator::exchange_sums(Nodes nodes) {
    std::vector<Message>& outgoing = start_messages();
    for (GrowingNode* node : nodes) count_sums(*node, outgoing);
    return group_.exchange->all_to_all(outgoing);
}

// Empty messages to all members, in the memory of earlier ones.
std::vector<Message>& GroupEvaluator::start_messages() {
    outgoing_.resize(static_cast<std::size_t>(group_.exchange->size()));
    for (Message& message : outgoing_) message.clear();
    return outgoing_;
}

void GroupEvaluator::count_sums(GrowingNode& node, std::vector<Message>& to) {
    const Sums total = sum_of(node);
    const PhaseTimer timer(phase(&GrowthTimes::histogram));
    const bool marking = !histograms_.is_large(node.counted);
    histograms_.build(positions(node, total), histograms_.scratch(), marking);
    write_sums(node, total, histograms_.scratch(), marking, to);
}

// Empties the histogram.
void GroupEvaluator::write_sums(const GrowingNode& node, const Sums& total, Histogram& local, bool marked,
                                std::vector<Message>& to) {
    for (std::size_t member = 0; member < to.size(); ++member) {
        MessageWriter writer(to[member]);
        writer.put(total);
        if (node.has_fractions) {
            writer.put(node.fractional_label_sums.data(), node.fractional_label_sums.size());
        } else {
            writer.put(node.label_sums.data(), node.label_sums.size());
        }
        writer_.write(local, marked, slice_starts_[member], slice_starts_[member + 1], to[member]);
    }
    local.clear(marked);
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
    for (MessageReader& one : from)
        add_places(one, own_->n_places(), examples_.objective.packing, slice, marking);
}

// Reads the histogram of a node, searches its best split and calls use(histogram, marked). Keeps the
// histogram if the node is large.
template <class Use>
void GroupEvaluator::with_histogram(GrowingNode& node, std::vector<MessageReader>& from, Use use) {
    if (may_keep(node)) {
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
    const std::vector<Received> splits = group_.exchange->gather(splits_);
    std::vector<MessageReader> from = readers_of(splits);
    for (GrowingNode* node : nodes) read_split(*node, from);
    splits_.clear();
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
           slice_starts_.back();
}

// All labels of a block keep histograms at the same time, so memory bounds their number. All members keep
// the same ones.
bool GroupEvaluator::may_keep(const GrowingNode& node) const {
    const std::int64_t bytes = static_cast<std::int64_t>(sizeof(Sums)) * slice_starts_.back();
    const std::int64_t most = kBytesKept * group_.exchange->size() / std::max<std::int64_t>(bytes, 1);
    return is_large(node) && n_kept_ < std::max(most, kLeastKept);
}

std::unique_ptr<Histogram> GroupEvaluator::take() {
    ++n_kept_;
    if (spare_.empty()) return std::make_unique<Histogram>(scratch_.entries.size());
    std::unique_ptr<Histogram> histogram = std::move(spare_.back());
    spare_.pop_back();
    histogram->entries.assign(scratch_.entries.size(), Sums{});
    return histogram;
}

void GroupEvaluator::release(GrowingNode& node) {
    if (!node.histogram) return;
    --n_kept_;
    spare_.push_back(std::move(node.histogram));
}

}  // namespace hedgerow
