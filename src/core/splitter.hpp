// The best split of a node on what is read, from its histogram.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

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
    Splitter(const TreeData& data, const SplitRules& rules) : data_(data), rules_(rules) {
        for (const TreeData::Slot& slot : data.slots) {
            const bool simple = slot.column->kind != TreeData::Kind::numeric && !in_sets(slot);
            const std::int32_t end = slot.first_entry + slot.n_entries();
            if (simple && !runs_.empty() && runs_.back().simple) {
                runs_.back().end = end;
            } else {
                runs_.push_back({&slot, slot.first_entry, end, simple});
            }
        }
    }

    // Ties go to the entry that comes first. `marked`: only marked entries hold anything. `key` chooses the
    // tests where max_features is below 1.
    Split best(const Histogram& histogram, bool marked, const Sums& total, std::uint64_t key) {
        Split best;
        const ScanRules scan = rules_.objective.scan_rules(total);
        for (const Run& run : runs_) {
            if (run.simple && !marked && rules_.max_features >= 1) {
                const std::int64_t i = tree_kernels().scan(histogram.entries.data() + run.first,
                                                           run.end - run.first, total, scan, &best.gain);
                if (i >= 0) best.entries.assign(1, run.first + static_cast<std::int32_t>(i));
                continue;
            }
            candidates_.clear();
            names_.clear();
            collect(run, histogram, marked, key);
            if (candidates_.empty()) continue;
            const std::int64_t i = tree_kernels().scan(
                candidates_.data(), static_cast<std::int64_t>(candidates_.size()), total, scan, &best.gain);
            if (i < 0) continue;
            if (run.simple || !in_sets(*run.slot)) {
                best.entries.assign(1, names_[i]);
            } else {
                best.entries.assign(names_.begin(), names_.begin() + i + 1);
                std::sort(best.entries.begin(), best.entries.end());
            }
        }
        return best;
    }

  private:
    // Slots in a row whose entries are tests by themselves, or one slot that is not so simple.
    struct Run {
        const TreeData::Slot* slot;
        std::int32_t first, end;
        bool simple;
    };

    bool in_sets(const TreeData::Slot& slot) const {
        return rules_.subsets && slot.column->kind == TreeData::Kind::categorical;
    }

    template <class Visit>
    void each_entry(const Run& run, const Histogram& histogram, bool marked, Visit visit) const {
        if (marked) return histogram.each_marked(run.first, run.end, visit);
        for (std::int32_t e = run.first; e < run.end; ++e) visit(e);
    }

    // Candidates in the order of their entries, for sets in the order of their values.
    void collect(const Run& run, const Histogram& histogram, bool marked, std::uint64_t key) {
        const std::vector<Sums>& entries = histogram.entries;
        if (!run.simple && !chosen(key, run.first, rules_.max_features)) return;
        each_entry(run, histogram, marked, [&](std::int32_t e) {
            if (entries[e].packed != 0 && (!run.simple || chosen(key, e, rules_.max_features))) names_.push_back(e);
        });
        if (!run.simple && in_sets(*run.slot)) {
            std::sort(names_.begin(), names_.end(), [&](std::int32_t a, std::int32_t b) {
                const double x = height(entries[a]), y = height(entries[b]);
                return x != y ? x > y : a < b;
            });
        }
        const bool adds_up = !run.simple;
        const std::int32_t padding = run.slot->first_entry + run.slot->column->n_codes;
        Sums sum;
        for (const std::int32_t e : names_) {
            sum += entries[e];
            const bool alone =
                !adds_up || (run.slot->column->kind == TreeData::Kind::numeric && e == padding);
            candidates_.push_back(alone ? entries[e] : sum);
        }
    }

    double height(const Sums& sums) const {
        return rules_.objective.residual(sums) / (rules_.objective.weight(sums) + 1e-3);
    }

    const TreeData& data_;
    SplitRules rules_;
    std::vector<Run> runs_;
    std::vector<Sums> candidates_;
    std::vector<std::int32_t> names_;
};

}  // namespace hedgerow
