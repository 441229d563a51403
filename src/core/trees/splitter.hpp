// The best split of a node on what is read, from its histogram. Where values are missing, a split is judged
// by the positions that have one; or, where a direction is learned, with the missing ones on either side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trees/entry_map.hpp"
#include "trees/growth_rules.hpp"
#include "trees/histogram.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

// Entries where the split holds, the first of them its name; of a threshold, the bin it reaches to.
struct Split {
    double gain = 0;
    std::vector<std::int32_t> entries;
    enum class Side { unknown, no, yes } of_missing = Side::unknown;  // where that is learned
};

// Whether a test is among those that a node may choose; decided by the key alone.
inline bool chosen(std::uint64_t key, std::int32_t entry, double max_features) {
    if (max_features >= 1) return true;
    std::uint64_t z = key + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(entry) + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) < max_features * 9007199254740992.0;
}

class Splitter {
  public:
    Splitter(const TreeData& data, const Objective& objective, const GrowthRules& rules)
        : data_(data), objective_(objective), rules_(rules) {}

    // Says what the places of the histograms to come mean.
    void use(const EntryMap& map) {
        map_ = &map;
        has_missing_ = false;
        runs_.clear();
        for (std::size_t s = 0; s < data_.slots.size(); ++s) {
            const TreeData::Slot& slot = data_.slots[s];
            const bool simple = slot.column->kind != TreeData::Kind::numeric && !in_sets(slot);
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

    // Ties go to the entry that comes first; where a direction is learned, to missing values on the side
    // where the test does not hold. `marked`: only marked places hold anything. `key` chooses the tests where
    // max_features is below 1.
    Split best(const Histogram& histogram, bool marked, const Sums& total, std::uint64_t key) {
        Split best;
        const bool all = !marked && rules_.max_features >= 1;
        if (rules_.missing == Missing::learned && has_missing_) {
            learn(histogram, marked, total, key, false, best);
            learn(histogram, marked, total, key, true, best);
            return best;
        }
        for (const Run& run : runs_) {
            const Sums known = total - missing_of(run, histogram);
            if (run.simple && all) {
                const std::int64_t i =
                    scan(histogram.entries.data() + run.first, run.end - run.first, known, &best.gain);
                if (i >= 0) best.entries.assign(1, map_->entry(run.first + static_cast<std::int32_t>(i)));
                continue;
            }
            start_collecting();
            collect(run, histogram, marked, key, {});
            consider(run, known, best);
        }
        return best;
    }

  private:
    // Slots in a row whose entries are tests by themselves, or one slot that is not so simple; as places.
    struct Run {
        const TreeData::Slot* slot;
        std::int32_t first, end;
        bool simple;
        std::int32_t missing;  // the place that counts missing values; -1 if there is none
    };

    std::int64_t scan(const Sums* yes, std::int64_t n, const Sums& total, double* gain) const {
        return n == 0 ? -1 : tree_kernels().scan(yes, n, total, objective_.scan_rules(total), gain);
    }

    static Sums missing_of(const Run& run, const Histogram& histogram) {
        return run.missing < 0 ? Sums{} : histogram.entries[run.missing];
    }

    // All tests with missing values on one side.
    void learn(const Histogram& histogram, bool marked, const Sums& total, std::uint64_t key, bool hold,
               Split& best) {
        const auto side = [&](const Run& run) {
            if (missing_of(run, histogram).is_zero()) return Split::Side::unknown;
            return hold ? Split::Side::yes : Split::Side::no;
        };
        for (auto run = runs_.begin(); run != runs_.end();) {
            const auto first = run;
            start_collecting();
            do {  // simple slots together, as far as they follow each other
                collect(*run, histogram, marked, key, hold ? missing_of(*run, histogram) : Sums{});
            } while (run++->simple && run != runs_.end() && run->simple);
            if (!consider(*first, total, best)) continue;
            const std::int32_t place = map_->index()[best.entries[0]];
            const auto after =
                std::upper_bound(first, run, place, [](std::int32_t p, const Run& r) { return p < r.first; });
            best.of_missing = side(*(after - 1));
        }
    }

    bool consider(const Run& run, const Sums& total, Split& best) const {
        const std::int64_t i =
            scan(candidates_.data(), static_cast<std::int64_t>(candidates_.size()), total, &best.gain);
        if (i < 0) return false;
        best.entries.clear();
        const std::int64_t first = run.simple || !in_sets(*run.slot) ? i : 0;
        for (std::int64_t j = first; j <= i; ++j) best.entries.push_back(map_->entry(names_[j]));
        std::sort(best.entries.begin(), best.entries.end());
        return true;
    }

    bool in_sets(const TreeData::Slot& slot) const {
        return rules_.uses_subsets() && slot.column->kind == TreeData::Kind::categorical;
    }

    void start_collecting() {
        candidates_.clear();
        names_.clear();
    }

    // Adds the candidates of a run, each with `more`; a test must hold somewhere.
    void collect(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key,
                 const Sums& more) {
        return run.simple ? collect_simple(run, histogram, marked, key, more)
                          : collect_prefixes(run, histogram, marked, key, more);
    }

    // Every entry by itself.
    void collect_simple(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key,
                        const Sums& more) {
        std::size_t n = names_.size();
        candidates_.resize(n + static_cast<std::size_t>(run.end - run.first));
        names_.resize(candidates_.size());
        histogram.each(marked, run.first, run.end, [&](std::int32_t place) {
            const Sums& sums = histogram.entries[place];
            candidates_[n] = {sums.residual + more.residual, sums.packed + more.packed};
            names_[n] = place;
            n += sums.packed != 0 && chosen(key, map_->entry(place), rules_.max_features);
        });
        candidates_.resize(n);
        names_.resize(n);
    }

    // Prefixes in the order of entries, for sets in the order of values; padding of numbers by itself.
    // Nothing else has been collected before.
    void collect_prefixes(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key,
                          const Sums& more) {
        if (!chosen(key, run.slot->first_entry, rules_.max_features)) return;
        const std::vector<Sums>& sums = histogram.entries;
        histogram.each(marked, run.first, run.end, [&](std::int32_t place) {
            if (sums[place].packed != 0) names_.push_back(place);
        });
        if (in_sets(*run.slot)) sort_by_height(sums);
        const std::int32_t padding = run.slot->first_entry + run.slot->column->n_codes;
        const bool numeric = run.slot->column->kind == TreeData::Kind::numeric;
        Sums sum;
        for (const std::int32_t place : names_) {
            sum += sums[place];
            candidates_.push_back(numeric && map_->entry(place) == padding ? sums[place] : sum);
            candidates_.back() += more;
        }
    }

    // The highest first, and of equals the one that comes first.
    void sort_by_height(const std::vector<Sums>& sums) {
        ranked_.clear();
        for (const std::int32_t place : names_) {
            const Sums& one = sums[place];
            const double height = objective_.residual(one) / (objective_.weight(one) + 1e-3);
            ranked_.emplace_back(-height, place);
        }
        std::sort(ranked_.begin(), ranked_.end());
        for (std::size_t i = 0; i < names_.size(); ++i) names_[i] = ranked_[i].second;
    }

    const TreeData& data_;
    Objective objective_;
    GrowthRules rules_;
    const EntryMap* map_ = nullptr;
    std::vector<Run> runs_;
    bool has_missing_ = false;
    std::vector<Sums> candidates_;
    std::vector<std::int32_t> names_;
    std::vector<std::pair<double, std::int32_t>> ranked_;
};

}  // namespace hedgerow
