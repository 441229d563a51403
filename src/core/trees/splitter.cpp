#include "trees/splitter.hpp"

#include <algorithm>

namespace hedgerow {

void Splitter::use(const EntryMap& map) {
    map_ = &map;
    has_missing_ = false;
    runs_.clear();
    for (std::size_t s = 0; s < data_.slots.size(); ++s) {
        if (map.first_place(s) == map.first_place(s + 1)) continue;
        const TreeData::Slot& slot = data_.slots[s];
        const bool simple = slot.column->kind != TreeData::Kind::numeric && !has_subsets(slot);
        const bool has_missing = slot.column->has_missing;
        has_missing_ |= has_missing;
        const std::int32_t end = map.first_place(s + 1) - has_missing;
        if (simple && !has_missing && !runs_.empty() && runs_.back().simple && runs_.back().missing < 0) {
            runs_.back().end = end;
        } else {
            runs_.push_back({&slot, map.first_place(s), end, simple, has_missing ? end : -1});
        }
    }
}

Split Splitter::best(const Histogram& histogram, bool marked, const Sums& total, std::uint64_t key) {
    Split best;
    if (rules_.missing == Missing::learned && has_missing_) {
        try_direction(histogram, marked, total, key, false, best);
        try_direction(histogram, marked, total, key, true, best);
        return best;
    }
    const bool all = !marked && rules_.max_features >= 1;
    for (const Run& run : runs_) {
        const Sums known = total - missing_of(run, histogram);
        if (run.simple && all) {
            const std::int64_t i =
                scan(histogram.entries.data() + run.first, run.end - run.first, known, &best.gain);
            if (i < 0) continue;
            best.entries.assign(1, map_->entry(run.first + static_cast<std::int32_t>(i)));
            best.yes = histogram.entries[run.first + i];
            best.no = known - best.yes;
            continue;
        }
        start_collecting();
        collect(run, histogram, marked, key, {});
        consider(run, known, best);
    }
    return best;
}

std::int64_t Splitter::scan(const Sums* yes, std::int64_t n, const Sums& total, double* gain) const {
    return n == 0 ? -1 : growth_kernels().scan(yes, n, total, objective_.scan_rules(total), gain);
}

Sums Splitter::missing_of(const Run& run, const Histogram& histogram) {
    return run.missing < 0 ? Sums{} : histogram.entries[run.missing];
}

// Considers all tests with missing values on one side.
void Splitter::try_direction(const Histogram& histogram, bool marked, const Sums& total, std::uint64_t key,
                             bool missing_hold, Split& best) {
    for (auto run = runs_.begin(); run != runs_.end();) {
        const auto first = run;
        start_collecting();
        do {  // consecutive simple slots together
            collect(*run, histogram, marked, key, missing_hold ? missing_of(*run, histogram) : Sums{});
        } while (run++->simple && run != runs_.end() && run->simple);
        if (!consider(*first, total, best)) continue;
        const std::int32_t place = map_->index()[best.entries[0]];
        const auto after = std::ranges::upper_bound(first, run, place, {}, &Run::first);
        const bool any_missing = !missing_of(*(after - 1), histogram).is_zero();
        best.missing_side = !any_missing   ? Split::Side::unknown
                            : missing_hold ? Split::Side::yes
                                           : Split::Side::no;
    }
}

// Takes the best candidate if its gain is greater than that of `best`.
bool Splitter::consider(const Run& run, const Sums& total, Split& best) const {
    const std::int64_t i =
        scan(candidates_.data(), static_cast<std::int64_t>(candidates_.size()), total, &best.gain);
    if (i < 0) return false;
    best.yes = candidates_[i];
    best.no = total - best.yes;
    best.entries.clear();
    const std::int64_t first = run.simple || !has_subsets(*run.slot) ? i : 0;
    for (std::int64_t j = first; j <= i; ++j) best.entries.push_back(map_->entry(places_[j]));
    std::sort(best.entries.begin(), best.entries.end());
    return true;
}

bool Splitter::has_subsets(const TreeData::Slot& slot) const {
    return slot.column->kind == TreeData::Kind::categorical && rules_.uses_subsets(slot.column->n_values);
}

void Splitter::start_collecting() {
    candidates_.clear();
    places_.clear();
}

// Adds the candidates of a run, each with `more`. A test must hold for some position.
void Splitter::collect(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key,
                       const Sums& more) {
    return run.simple ? collect_simple(run, histogram, marked, key, more)
                      : collect_prefixes(run, histogram, marked, key, more);
}

// Every entry by itself.
void Splitter::collect_simple(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key,
                              const Sums& more) {
    std::size_t n = places_.size();
    candidates_.resize(n + static_cast<std::size_t>(run.end - run.first));
    places_.resize(candidates_.size());
    histogram.each(marked, run.first, run.end, [&](std::int32_t place) {
        const Sums& sums = histogram.entries[place];
        candidates_[n] = {sums.residual + more.residual, sums.packed + more.packed};
        places_[n] = place;
        n += sums.packed != 0 && is_drawn(key, map_->entry(place), rules_.max_features);
    });
    candidates_.resize(n);
    places_.resize(n);
}

// Every prefix of the entries: thresholds of numbers in the order of bins, subsets in the order of values.
// Padding of numbers is a test by itself. Nothing else has been collected before.
void Splitter::collect_prefixes(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key,
                                const Sums& more) {
    if (!is_drawn(key, run.slot->first_entry, rules_.max_features)) return;
    const LargeVector<Sums>& sums = histogram.entries;
    histogram.each(marked, run.first, run.end, [&](std::int32_t place) {
        if (sums[place].packed != 0) places_.push_back(place);
    });
    if (has_subsets(*run.slot)) sort_by_value(sums);
    const std::int32_t padding = run.slot->first_entry + run.slot->column->n_codes;
    const bool numeric = run.slot->column->kind == TreeData::Kind::numeric;
    Sums sum;
    for (const std::int32_t place : places_) {
        sum += sums[place];
        candidates_.push_back(numeric && map_->entry(place) == padding ? sums[place] : sum);
        candidates_.back() += more;
    }
}

// The highest mean residual first, and of equals the first place. For a squared error the best subset is then
// a prefix.
void Splitter::sort_by_value(const LargeVector<Sums>& sums) {
    ranked_.clear();
    for (const std::int32_t place : places_) {
        const Sums& one = sums[place];
        const double mean = objective_.residual(one) / (objective_.weight(one) + 1e-3);
        ranked_.emplace_back(-mean, place);
    }
    std::sort(ranked_.begin(), ranked_.end());
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i] = ranked_[i].second;
}

}  // namespace hedgerow
