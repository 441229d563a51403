// Histograms of nodes: for each entry, the sums of the positions that have it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trees/entry_map.hpp"
#include "trees/growth_rules.hpp"
#include "trees/histogram.hpp"
#include "trees/layers.hpp"
#include "trees/slot_groups.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

// Some positions of a layer and the sum over them.
struct PositionRange {
    const Layer& layer;
    Range range;
    Sums total;
};

// Entries that counting all positions reads.
std::int64_t n_reads(const TreeData& data);

class HistogramBuilder {
  public:
    // lists_entries: of the data, or of any member of a group.
    HistogramBuilder(const TreeData& data, const GrowthRules& rules, bool lists_entries);

    // Which entry each place of a histogram is for.
    const EntryMap& map() const { return *map_; }

    // Histograms have a place for every entry from now on.
    void start_tree() { map_ = &all_; }
    // Whether trees use a reduced map: if there are many entries, and most of them have few positions. A
    // surrogate may be a test that holds for few positions.
    bool uses_entry_map() const { return uses_entry_map_; }
    // The histogram of the root, reduced to the entries that the tree can use; so are all later histograms.
    std::unique_ptr<Histogram> build_reduced_root(const PositionRange& root, const Packing& packing);
    // The same in steps. A histogram for the root, with a place for every entry; empty between trees.
    Histogram& root() { return root_; }
    // Later histograms of this tree have places for these entries only, which ascend.
    void reduce(std::vector<std::int32_t> entries);
    // Writes the histogram of the root into a reduced one, and empties it. `marked`: it has been built so.
    void move_root(Histogram& to, bool marked);

    // Adds positions to an empty histogram. `marking`: also marks the places it touches.
    void build(const PositionRange& positions, Histogram& histogram, bool marking);

    // Whether counting so many positions costs enough for their histogram to be kept.
    bool is_large(Range range) const {
        return 4 * static_cast<double>(range.size()) * reads_ >= map_->n_places();
    }

    // An empty histogram; give it back after use.
    std::unique_ptr<Histogram> take();
    void give_back(std::unique_ptr<Histogram> histogram);
    // A histogram for small nodes, empty between uses: clear_marked() after use.
    Histogram& scratch() { return scratch_; }
    // Frees most of the memory that was given back.
    void trim_spare();

  private:
    // A slot that reads exactly one code: its byte in a row, from that of the cell on.
    struct DenseSlot {
        std::int64_t delta;
        std::int32_t first_entry;
    };

    bool groups_pay(Range range) const;
    void build_grouped(const PositionRange& positions, Histogram& histogram);
    template <bool marking, bool mapped>
    void build_as(const PositionRange& positions, Histogram& histogram) const;
    void restore_usual(const TreeData::Slot& slot, const Sums& total, Histogram& histogram,
                       bool marking) const;

    const TreeData& data_;
    const SlotGroups& groups_;
    GrowthRules rules_;
    bool uses_entry_map_;
    std::vector<DenseSlot> bytes_, pairs_, fours_;  // by the bytes of their codes: 1, 2 and 4
    double reads_;                                  // entries of a position, on average
    EntryMap all_, reduced_;                        // of all entries; of those that the tree can use
    const EntryMap* map_;                           // one of these
    Histogram scratch_, root_;
    std::vector<Sums> grouped_;  // empty between uses
    std::vector<std::unique_ptr<Histogram>> spare_;
};

}  // namespace hedgerow
