#include "trees/surrogate_partitioner.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace hedgerow {

constexpr std::size_t kMostSurrogates = 5;

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
    const bool most_hold = missing.begin - all.begin >= all.end - missing.end;
    Division division;
    division.true_fraction = most_hold ? 1.0 : 0.0;
    for (const Surrogate& one : surrogates) {
        const std::int32_t id = one.slot->id(one.slot->first_entry + one.code);
        division.surrogates.push_back(one.opposite ? ~id : id);
    }
    const auto decides = [&](std::int32_t c) { return decide(surrogates, c, most_hold); };
    const std::int64_t middle = order.partition_if(missing, decides, swapped, [](std::int32_t) {});
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
    const std::int64_t n_yes = missing.begin - all.begin, n_no = all.end - missing.end;
    const std::int64_t sign = n_yes <= n_no ? 1 : -1;  // of the side that is counted
    const bool by_rest = parent.histogram != nullptr;
    const Range voters = !by_rest   ? all
                         : sign > 0 ? Range{all.begin, missing.end}
                                    : Range{missing.begin, all.end};
    Layer& layer = layers_[parent.layer];
    if (votes_.size() < layer.sums.size()) votes_.resize(layer.sums.size());
    Sums sum_of_votes;
    for (std::int64_t i = voters.begin; i < voters.end; ++i) {
        const bool is_missing = i >= missing.begin && i < missing.end;
        if (by_rest) {
            votes_[i] = is_missing ? Sums{sign, -one_position(0, 0).packed} : Sums{2 * sign, 0};
        } else {
            votes_[i] = is_missing ? Sums{} : one_position(i < missing.begin ? 1 : -1, 0);
        }
        sum_of_votes += votes_[i];
    }
    std::unique_ptr<Histogram> own = by_rest ? histograms_.take() : nullptr;
    Histogram& votes = by_rest ? *own : histograms_.scratch();
    std::swap(layer.sums, votes_);
    histograms_.build({layer, voters, sum_of_votes}, votes, !by_rest);
    std::swap(layer.sums, votes_);
    for (std::int32_t e = 0; by_rest && e < histograms_.map().n_places(); ++e) {
        const std::int64_t n = parent.histogram->entries[e].count();
        votes.entries[e] += Sums{-sign * n, n << kCountShift};
    }
    const Sums total{n_yes - n_no, (n_yes + n_no) << kCountShift};
    std::vector<Surrogate> found = rank(slot, {votes, !by_rest, total});
    if (by_rest) {
        histograms_.give_back(std::move(own));
    } else {
        votes.clear_marked();
    }
    return found;
}

// The best tests of other slots, the highest agreement first.
std::vector<SurrogatePartitioner::Surrogate> SurrogatePartitioner::rank(const TreeData::Slot& slot,
                                                                        const Votes& votes) const {
    std::vector<Surrogate> found;
    for (std::size_t s = 0; s < data_.slots.size(); ++s) {
        if (&data_.slots[s] != &slot) consider(s, votes, found);
    }
    std::ranges::stable_sort(found, std::greater(), &Surrogate::agreement);
    if (found.size() > kMostSurrogates) found.resize(kMostSurrogates);
    return found;
}

// The test of a slot that agrees most often, if it agrees more often than sending all positions to the larger
// side.
void SurrogatePartitioner::consider(std::size_t s, const Votes& votes, std::vector<Surrogate>& found) const {
    const TreeData::Slot& slot = data_.slots[s];
    const EntryMap& map = histograms_.map();
    const std::vector<Sums>& entries = votes.histogram.entries;
    const std::int32_t end = map.first_place(s + 1) - slot.column->has_missing;
    const Sums known = slot.column->has_missing ? votes.total - entries[end] : votes.total;
    const std::int64_t yes = (known.count() + known.residual) / 2, no = known.count() - yes;
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
    best.agreement = static_cast<double>(most) / static_cast<double>(known.count());
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
