#include "trees/surrogate_partitioner.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace hedgerow {

constexpr std::size_t kMostSurrogates = 5;

SurrogatePartitioner::SurrogatePartitioner(const Examples& examples, Layers& layers,
                                           HistogramBuilder& histograms, const Group* group)
    : data_(examples.data),
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
    const std::vector<Surrogate> surrogates = find(parent, slot, missing);
    const bool most_hold = parent.n_yes >= parent.n_no;
    Division division;
    division.true_fraction = most_hold ? 1.0 : 0.0;
    for (const Surrogate& one : surrogates) {
        const std::int32_t id = one.slot->id(one.slot->first_entry + one.code);
        division.surrogates.push_back(one.opposite ? ~id : id);
    }
    const auto decides = [&](std::int32_t c) { return decide(surrogates, c, most_hold); };
    const std::int64_t middle = order.partition_if(missing, decides, swapped, [](std::int32_t) {});
    division.yes_is_smaller = parent.n_yes <= parent.n_no;
    division.if_true = side(parent, {all.begin, middle});
    division.if_false = side(parent, {middle, all.end});
    return division;
}

// Every position votes 1 if the split sends it to `yes`, -1 if to `no`, 0 if its value is missing. The sum
// over the positions where another test holds shows how often the two agree. If the node has a histogram,
// which has the number n of positions by entry, only the smaller side and the missing ones are counted: for
// the side s = +1 or -1, votes = -s n + 2 s n(side s) + s n(missing).
std::vector<SurrogatePartitioner::Surrogate> SurrogatePartitioner::find(const GrowingNode& parent,
                                                                        const TreeData::Slot& slot,
                                                                        Range missing) {
    const Range all = parent.counted;
    const std::int64_t sign = parent.n_yes <= parent.n_no ? 1 : -1;  // of the side that is counted
    const bool by_rest = parent.histogram != nullptr;
    const Range voters = !by_rest   ? all
                         : sign > 0 ? Range{all.begin, missing.end}
                                    : Range{missing.begin, all.end};
    if (group_) return find_in_group(parent, slot, voters, missing, sign);
    std::unique_ptr<Histogram> own = by_rest ? histograms_.take() : nullptr;
    Histogram& votes = by_rest ? *own : histograms_.scratch();
    vote(parent, voters, missing, sign, votes, !by_rest);
    if (by_rest) add_rest(parent, sign, votes);
    std::vector<Surrogate> found = rank(slot, {histograms_.map(), votes, !by_rest, total_of(parent)});
    if (by_rest) {
        histograms_.give_back(std::move(own));
    } else {
        votes.clear_marked();
    }
    return found;
}

// Counts the votes of the voters in this process.
void SurrogatePartitioner::vote(const GrowingNode& parent, Range voters, Range missing, std::int64_t sign,
                                Histogram& votes, bool marking) {
    const bool by_rest = parent.histogram != nullptr;
    Layer& layer = layers_[parent.layer];
    if (votes_.size() < layer.sums.size()) votes_.resize(layer.sums.size());
    Sums sum_of_votes;
    for (std::int64_t i = voters.begin; i < voters.end; ++i) {
        const bool is_missing = i >= missing.begin && i < missing.end;
        if (by_rest) {
            votes_[i] = is_missing ? Sums{sign, -packing_.one()} : Sums{2 * sign, 0};
        } else {
            votes_[i] = is_missing ? Sums{} : Sums{i < missing.begin ? 1 : -1, packing_.one()};
        }
        sum_of_votes += votes_[i];
    }
    std::swap(layer.sums, votes_);
    histograms_.build({layer, voters, sum_of_votes}, votes, marking);
    std::swap(layer.sums, votes_);
}

void SurrogatePartitioner::add_rest(const GrowingNode& parent, std::int64_t sign, Histogram& votes) const {
    const LargeVector<Sums>& all = parent.histogram->entries;
    for (std::size_t e = 0; e + 1 < all.size(); ++e) {
        const std::int64_t n = packing_.count(all[e].packed);
        votes.entries[e] += Sums{-sign * n, n * packing_.one()};
    }
}

Sums SurrogatePartitioner::total_of(const GrowingNode& parent) const {
    return {parent.n_yes - parent.n_no, (parent.n_yes + parent.n_no) * packing_.one()};
}

// Each member adds up the votes of its slice and finds surrogates there; all choose the best of these.
std::vector<SurrogatePartitioner::Surrogate> SurrogatePartitioner::find_in_group(const GrowingNode& parent,
                                                                                 const TreeData::Slot& slot,
                                                                                 Range voters, Range missing,
                                                                                 std::int64_t sign) {
    Histogram& local = histograms_.scratch();
    const bool marking = !histograms_.is_large(voters);
    vote(parent, voters, missing, sign, local, marking);
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
    if (parent.histogram) add_rest(parent, sign, *of_slice_);
    const std::vector<Surrogate> own = rank(slot, {group_->layout.map, *of_slice_, false, total_of(parent)});
    std::fill(of_slice_->entries.begin(), of_slice_->entries.end(), Sums{});
    return share(own);
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

void SurrogatePartitioner::keep_best(std::vector<Surrogate>& found) {
    std::ranges::stable_sort(found, std::greater(), &Surrogate::agreement);
    if (found.size() > kMostSurrogates) found.resize(kMostSurrogates);
}

// The test of a slot that agrees most often, if it agrees more often than sending all positions to the larger
// side.
void SurrogatePartitioner::consider(std::size_t s, const Votes& votes, std::vector<Surrogate>& found) const {
    const TreeData::Slot& slot = data_.slots[s];
    const EntryMap& map = votes.map;
    const LargeVector<Sums>& entries = votes.histogram.entries;
    const std::int32_t end = map.first_place(s + 1) - slot.column->has_missing;
    const Sums known = slot.column->has_missing ? votes.total - entries[end] : votes.total;
    const std::int64_t n_known = packing_.count(known.packed);
    const std::int64_t yes = (n_known + known.residual) / 2, no = n_known - yes;
    std::int64_t most = std::max(yes, no), below = 0;
    Surrogate best{&slot, -1, false, 0};
    votes.histogram.each(votes.marked, map.first_place(s), end, [&](std::int32_t place) {
        const std::int32_t code = map.entry(place) - slot.first_entry;
        below += entries[place].residual;
        const std::int64_t sum = TreeData::is_threshold(slot, code) ? below : entries[place].residual;
        for (const bool opposite : {false, true}) {
            const std::int64_t agree = opposite ? yes - sum : no + sum;
            if (agree <= most) continue;
            most = agree;
            best.code = code;
            best.opposite = opposite;
        }
    });
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
