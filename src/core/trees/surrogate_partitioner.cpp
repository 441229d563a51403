#include "trees/surrogate_partitioner.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace hedgerow {

constexpr std::size_t kMostSurrogates = 5;

SurrogatePartitioner::SurrogatePartitioner(const Examples& examples, Layers& layers,
                                           HistogramBuilder& histograms, Missing rule, const Group* group)
    : data_(examples.data),
      examples_(examples),
      published_(rule == Missing::published_surrogate),
      packing_(examples.objective.packing),
      layers_(layers),
      histograms_(histograms),
      group_(group),
      writer_(examples.objective.packing) {
    if (!group) return;
    of_slice_ = std::make_unique<Histogram>(static_cast<std::size_t>(group->layout.map.n_places()) + 1);
}

// Orders the positions of the node: where the test holds, where the value is missing, all others. Then the
// surrogates divide the middle.
Division SurrogatePartitioner::divide(const GrowingNode& parent) {
    const SplitTest test(data_, parent.entries);
    const TreeData::Slot& slot = test.slot();
    Layer& layer = layers_[parent.layer];
    CellOrder& order = layer.order;
    const Range all = parent.counted;
    const auto swapped = [&](std::int64_t i, std::int64_t j) { layer.exchange(i, j); };
    const auto expect = [&](std::int32_t c) { data_.expect(slot, c); };
    const auto holds = [&](std::int32_t c) { return test.holds(c); };
    Range missing;
    missing.begin = test.is_single() ? order.partition(data_, slot, test.code(), all, swapped)
                                     : order.partition_if(all, holds, swapped, expect);
    missing.end = missing.begin;
    if (slot.column->has_missing)
        missing.end = order.partition(data_, slot, slot.missing_code(), {missing.begin, all.end}, swapped);
    const auto [surrogates, most_hold] = find(parent, slot, missing);
    Division division;
    division.true_fraction = most_hold ? 1.0 : 0.0;
    for (const Surrogate& one : surrogates) {
        const std::int32_t id = one.slot->id(one.slot->first_entry + one.code);
        division.surrogates.push_back(one.opposite ? ~id : id);
    }
    const auto decides = [&, &surrogates = surrogates, most_hold = most_hold](std::int32_t c) {
        return decide(surrogates, c, most_hold);
    };
    const std::int64_t middle = order.partition_if(missing, decides, swapped, [](std::int32_t) {});
    division.yes_is_smaller = parent.n_yes <= parent.n_no;
    division.if_true = side(parent, {all.begin, middle});
    division.if_false = side(parent, {middle, all.end});
    return division;
}

// Every position votes 1 if the split sends it to `yes`, -1 if to `no`, 0 if its value is missing; by the
// published rule each of its examples does. The sum over the positions where another test holds shows how
// often the two agree. If the node has a histogram, which has the number n of positions by entry, only the
// smaller side and the missing ones are counted: for the side s = +1 or -1, votes = -s n + 2 s n(side s) + s
// n(missing).
SurrogatePartitioner::Ranking SurrogatePartitioner::find(const GrowingNode& parent,
                                                         const TreeData::Slot& slot, Range missing) {
    const Range all = parent.counted;
    const std::int64_t sign = parent.n_yes <= parent.n_no ? 1 : -1;  // of the side that is counted
    const bool by_rest = counts_by_rest(parent);
    const Range voters = !by_rest   ? all
                         : sign > 0 ? Range{all.begin, missing.end}
                                    : Range{missing.begin, all.end};
    if (group_) return find_in_group(parent, slot, voters, missing, sign);
    const bool marking = !by_rest && !histograms_.is_large(voters);
    std::unique_ptr<Histogram> own = marking ? nullptr : histograms_.take();
    Histogram& votes = marking ? histograms_.scratch() : *own;
    Sums total = vote(parent, voters, missing, sign, votes, marking);
    if (by_rest) {
        add_rest(parent, sign, votes);
        total = {parent.n_yes - parent.n_no, parent.n_yes + parent.n_no};
    }
    Ranking found{rank(slot, {histograms_.map(), votes, marking, total}), total.residual >= 0};
    if (marking) votes.clear_marked();
    histograms_.give_back(std::move(own));
    return found;
}

// Counts the votes of the voters in this process, and returns their sum.
Sums SurrogatePartitioner::vote(const GrowingNode& parent, Range voters, Range missing, std::int64_t sign,
                                Histogram& votes, bool marking) {
    const bool by_rest = counts_by_rest(parent);
    Layer& layer = layers_[parent.layer];
    if (votes_.size() < layer.sums.size()) votes_.resize(layer.sums.size());
    Sums sum_of_votes;
    for (std::int64_t i = voters.begin; i < voters.end; ++i) {
        const bool is_missing = i >= missing.begin && i < missing.end;
        if (by_rest) {
            votes_[i] = is_missing ? Sums{sign, -1} : Sums{2 * sign, 0};
        } else {
            const std::int64_t n = is_missing   ? 0
                                   : published_ ? examples_.n_examples(*parent.contexts, layer.order.cells[i])
                                                : 1;
            votes_[i] = Sums{i < missing.begin ? n : -n, n};
        }
        sum_of_votes += votes_[i];
    }
    std::swap(layer.sums, votes_);
    histograms_.build({layer, voters, sum_of_votes}, votes, marking);
    std::swap(layer.sums, votes_);
    return sum_of_votes;
}

void SurrogatePartitioner::add_rest(const GrowingNode& parent, std::int64_t sign, Histogram& votes) const {
    const LargeVector<Sums>& all = parent.histogram->entries;
    for (std::size_t e = 0; e + 1 < all.size(); ++e) {
        const std::int64_t n = packing_.count(all[e].packed);
        votes.entries[e] += Sums{-sign * n, n};
    }
}

// Each member adds up the votes of its slice and finds surrogates there; all choose the best of these.
SurrogatePartitioner::Ranking SurrogatePartitioner::find_in_group(const GrowingNode& parent,
                                                                  const TreeData::Slot& slot, Range voters,
                                                                  Range missing, std::int64_t sign) {
    Histogram& local = histograms_.scratch();
    const bool marking = !histograms_.is_large(voters);
    std::vector<Sums> total{vote(parent, voters, missing, sign, local, marking)};
    std::vector<Message> outgoing(static_cast<std::size_t>(group_->exchange->size()));
    const EntrySlices& slices = group_->layout.slices;
    for (std::size_t j = 0; j < outgoing.size(); ++j) {
        const auto member = static_cast<std::int64_t>(j);
        writer_.write(local, marking, slices.first_entry(member), slices.end_entry(member), outgoing[j]);
    }
    local.clear(marking);
    const std::vector<Received> incoming = group_->exchange->all_to_all(outgoing);
    for (MessageReader from : readers_of(incoming))
        add_places(from, group_->layout.map.n_places(), packing_, *of_slice_, false);
    if (published_) {
        sum_over_members(*group_->exchange, total);
    } else {
        total[0] = {parent.n_yes - parent.n_no, parent.n_yes + parent.n_no};
    }
    if (counts_by_rest(parent)) add_rest(parent, sign, *of_slice_);
    const std::vector<Surrogate> own = rank(slot, {group_->layout.map, *of_slice_, false, total[0]});
    std::fill(of_slice_->entries.begin(), of_slice_->entries.end(), Sums{});
    return {share(own), total[0].residual >= 0};
}

// The best surrogates of all slices. Slices are in the order of slots, so of equals the first slot wins.
std::vector<SurrogatePartitioner::Surrogate> SurrogatePartitioner::share(
    const std::vector<Surrogate>& own) const {
    Message message;
    MessageWriter to(message);
    to.put(static_cast<std::int64_t>(own.size()));
    for (const Surrogate& one : own) {
        to.put(static_cast<std::int64_t>(one.slot - data_.slots.data()));
        to.put(one.code);
        to.put(std::int32_t{one.opposite});
        to.put(one.agreement);
    }
    std::vector<Surrogate> found;
    const std::vector<Received> all = group_->exchange->gather(message);
    for (MessageReader from : readers_of(all)) {
        for (auto n = from.get<std::int64_t>(); n > 0; --n) {
            const auto s = from.get<std::int64_t>();
            MessageReader::check(s >= 0 && s < static_cast<std::int64_t>(data_.slots.size()));
            Surrogate one{&data_.slots[s], from.get<std::int32_t>(), false, 0};
            MessageReader::check(one.code >= 0 && one.code < one.slot->n_entries());
            one.opposite = from.get<std::int32_t>() != 0;
            one.agreement = from.get<double>();
            found.push_back(one);
        }
    }
    keep_best(found);
    return found;
}

// The best tests of other slots, the highest agreement first.
std::vector<SurrogatePartitioner::Surrogate> SurrogatePartitioner::rank(const TreeData::Slot& slot,
                                                                        const Votes& votes) const {
    std::vector<Surrogate> found;
    for (std::size_t s = 0; s < data_.slots.size(); ++s) {
        const bool has_places = votes.map.first_place(s) < votes.map.first_place(s + 1);
        if (has_places && &data_.slots[s] != &slot) consider(s, votes, found);
    }
    keep_best(found);
    return found;
}

void SurrogatePartitioner::keep_best(std::vector<Surrogate>& found) const {
    std::ranges::stable_sort(found, std::greater(), &Surrogate::agreement);
    if (!published_ && found.size() > kMostSurrogates) found.resize(kMostSurrogates);
}

// The test of a slot that agrees most often; unless the rule is the published one, if it agrees more often
// than sending all positions to the larger side. Of tests that hold nowhere in the node the first stands for
// all.
void SurrogatePartitioner::consider(std::size_t s, const Votes& votes, std::vector<Surrogate>& found) const {
    const TreeData::Slot& slot = data_.slots[s];
    const EntryMap& map = votes.map;
    const LargeVector<Sums>& entries = votes.histogram.entries;
    const std::int32_t end = map.first_place(s + 1) - slot.column->has_missing;
    const Sums known = slot.column->has_missing ? votes.total - entries[end] : votes.total;
    const std::int64_t n_known = known.packed;
    if (n_known == 0) return;
    const std::int64_t yes = (n_known + known.residual) / 2, no = n_known - yes;
    std::int64_t most = published_ ? -1 : std::max(yes, no), below = 0;
    Surrogate best{&slot, -1, false, 0};
    const auto compare = [&](std::int32_t code, std::int64_t sum_of_code) {
        const std::int64_t sum = TreeData::is_threshold(slot, code) ? below : sum_of_code;
        for (const bool opposite : {false, true}) {
            const std::int64_t agree = opposite ? yes - sum : no + sum;
            if (agree <= most) continue;
            most = agree;
            best.code = code;
            best.opposite = opposite;
        }
    };
    std::int32_t next = 0;  // the code after the last that was compared
    votes.histogram.each(votes.marked, map.first_place(s), end, [&](std::int32_t place) {
        const std::int32_t code = map.entry(place) - slot.first_entry;
        if (code >= slot.n_tests()) return;
        if (published_ && next < code) compare(next, 0);
        below += entries[place].residual;
        compare(code, entries[place].residual);
        next = code + 1;
    });
    if (published_ && next < slot.n_tests()) compare(next, 0);
    if (best.code < 0) return;
    best.agreement = static_cast<double>(most) / static_cast<double>(n_known);
    found.push_back(best);
}

bool SurrogatePartitioner::decide(const std::vector<Surrogate>& surrogates, std::int32_t c,
                                  bool otherwise) const {
    for (const Surrogate& one : surrogates) {
        if (!data_.is_missing(*one.slot, c)) return data_.holds(*one.slot, one.code, c) != one.opposite;
    }
    return otherwise;
}

}  // namespace hedgerow
