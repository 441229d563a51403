// The best split of a node on what is read, from its histogram.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "entry_map.hpp"
#include "histogram.hpp"
#include "tree_data.hpp"

namespace hedgerow {

struct SplitRules {
    Objective objective;
    bool subsets;         // categories are split into two sets, not one against the rest
    double max_features;  // share of tests that a node may choose among
};

// Entries where the split holds, the first of them its name; of a threshold, the bin it reaches to.
struct Split {
    double gain = 0;
    std::vector<std::int32_t> entries;
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
    Splitter(const TreeData& data, const SplitRules& rules) : data_(data), rules_(rules) {}

    // Says what the places of the histograms to come mean.
    void use(const EntryMap& map) {
        map_ = &map;
        runs_.clear();
        for (std::size_t s = 0; s < data_.slots.size(); ++s) {
            const TreeData::Slot& slot = data_.slots[s];
            const bool simple = slot.column->kind != TreeData::Kind::numeric && !in_sets(slot);
            if (simple && !runs_.empty() && runs_.back().simple) {
                runs_.back().end = map.first_place(s + 1);
            } else {
                runs_.push_back({&slot, map.first_place(s), map.first_place(s + 1), simple});
            }
        }
    }

    // Ties go to the entry that comes first. `marked`: only marked places hold anything. `key` chooses the
    // tests where max_features is below 1.
    Split best(const Histogram& histogram, bool marked, const Sums& total, std::uint64_t key) {
        Split best;
        const ScanRules scan = rules_.objective.scan_rules(total);
        for (const Run& run : runs_) {
            if (run.simple && !marked && rules_.max_features >= 1) {
                const std::int64_t i = tree_kernels().scan(histogram.entries.data() + run.first,
                                                           run.end - run.first, total, scan, &best.gain);
                if (i >= 0) best.entries.assign(1, map_->entry(run.first + static_cast<std::int32_t>(i)));
                continue;
            }
            candidates_.clear();
            names_.clear();
            collect(run, histogram, marked, key);
            if (candidates_.empty()) continue;
            const std::int64_t i = tree_kernels().scan(
                candidates_.data(), static_cast<std::int64_t>(candidates_.size()), total, scan, &best.gain);
            if (i < 0) continue;
            best.entries.clear();
            const std::int64_t first = run.simple || !in_sets(*run.slot) ? i : 0;
            for (std::int64_t j = first; j <= i; ++j) best.entries.push_back(map_->entry(names_[j]));
            std::sort(best.entries.begin(), best.entries.end());
        }
        return best;
    }

  private:
    // Slots in a row whose entries are tests by themselves, or one slot that is not so simple; as places.
    struct Run {
        const TreeData::Slot* slot;
        std::int32_t first, end;
        bool simple;
    };

    bool in_sets(const TreeData::Slot& slot) const {
        return rules_.subsets && slot.column->kind == TreeData::Kind::categorical;
    }

    // Candidates in the order of their entries, for sets in the order of their values.
    void collect(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key) {
        const std::vector<Sums>& sums = histogram.entries;
        if (!run.simple && !chosen(key, run.slot->first_entry, rules_.max_features)) return;
        histogram.each(marked, run.first, run.end, [&](std::int32_t place) {
            const bool may = !run.simple || chosen(key, map_->entry(place), rules_.max_features);
            if (sums[place].packed != 0 && may) names_.push_back(place);
        });
        if (!run.simple && in_sets(*run.slot)) sort_by_height(sums);
        const std::int32_t padding = run.slot->first_entry + run.slot->column->n_codes;
        const bool numeric = run.slot->column->kind == TreeData::Kind::numeric;
        Sums sum;
        for (const std::int32_t place : names_) {
            sum += sums[place];
            const bool alone = run.simple || (numeric && map_->entry(place) == padding);
            candidates_.push_back(alone ? sums[place] : sum);
        }
    }

    // The highest first, and of equals the one that comes first.
    void sort_by_height(const std::vector<Sums>& sums) {
        ranked_.clear();
        for (const std::int32_t place : names_) {
            const Sums& one = sums[place];
            const double height = rules_.objective.residual(one) / (rules_.objective.weight(one) + 1e-3);
            ranked_.emplace_back(-height, place);
        }
        std::sort(ranked_.begin(), ranked_.end());
        for (std::size_t i = 0; i < names_.size(); ++i) names_[i] = ranked_[i].second;
    }

    const TreeData& data_;
    SplitRules rules_;
    const EntryMap* map_ = nullptr;
    std::vector<Run> runs_;
    std::vector<Sums> candidates_;
    std::vector<std::int32_t> names_;
    std::vector<std::pair<double, std::int32_t>> ranked_;
};

}  // namespace hedgerow
