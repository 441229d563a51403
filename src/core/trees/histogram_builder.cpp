#include "trees/histogram_builder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/small_constant.hpp"

namespace hedgerow {
namespace {

constexpr std::size_t kMostSpare = 16;     // histograms kept for the next tree
constexpr std::size_t kFarList = 1 << 19;  // entries of a list that exceeds the nearer caches

// add(entry, sums) for each entry in the lists of the positions. The additions of one position go to
// different entries, so they do not wait for each other.
template <class Entry, class Add>
void add_listed(const PositionRange& positions, const std::vector<std::int64_t>& starts,
                const std::vector<Entry>& list, Add add) {
    const std::int32_t* cells = positions.layer.order.cells.data();
    const Sums* sums = positions.layer.sums.data();
    const Range range = positions.range;
    const bool far = list.size() > kFarList;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
        if (far && i + 1 < range.end) {
            const Entry* next = list.data() + starts[cells[i + 1]];
            for (int line = 0; line < 4; ++line) prefetch(next + 16 * line);
        }
        const Entry* entry = list.data() + starts[cells[i]];
        const Entry* end = list.data() + starts[cells[i] + 1];
        const Sums sum = sums[i];
        for (; entry < end; ++entry) add(*entry, sum);
    }
}

}  // namespace

std::int64_t n_reads(const TreeData& data) {
    if (data.lists_entries()) return static_cast<std::int64_t>(data.entry_list.size());
    std::int64_t n = 0;
    for (const TreeData::Slot& slot : data.slots) {
        const bool bag = slot.column->kind == TreeData::Kind::bag;
        n += bag ? static_cast<std::int64_t>(slot.column->bag.size()) : data.n_positions;
    }
    return n;
}

HistogramBuilder::HistogramBuilder(const TreeData& data, const GrowthRules& rules, bool lists_entries)
    : data_(data),
      groups_(data.groups()),
      rules_(rules),
      uses_entry_map_(data.n_entries > TreeData::kFewEntries && !lists_entries &&
                      !uses_surrogates(rules.missing)),
      reads_(static_cast<double>(n_reads(data)) /
             static_cast<double>(std::max<std::int64_t>(1, data.n_positions))),
      all_(data),
      reduced_(data),
      map_(&all_),
      scratch_(uses_entry_map_ ? 0 : static_cast<std::size_t>(data.n_entries) + 1),
      root_(uses_entry_map_ ? static_cast<std::size_t>(data.n_entries) + 1 : 0) {
    for (const TreeData::Slot& slot : data.slots) {
        if (slot.column->kind == TreeData::Kind::bag) continue;
        auto& alike = slot.column->code_bytes == 1 ? bytes_ : slot.column->code_bytes == 2 ? pairs_ : fours_;
        alike.push_back({slot.offset * data.stride + slot.column->place, slot.first_entry});
    }
}

std::unique_ptr<Histogram> HistogramBuilder::build_reduced_root(const PositionRange& root,
                                                                const Packing& packing) {
    const bool marking = !is_large(root.range);
    build(root, root_, marking);
    reduce(EntryMap::usable(data_, 0, data_.slots.size(), rules_, [&](auto first, auto end, auto visit) {
        root_.each(marking, first, end,
                   [&](std::int32_t entry) { visit(entry, packing.count(root_.entries[entry].packed)); });
    }));
    std::unique_ptr<Histogram> histogram = take();
    move_root(*histogram, marking);
    return histogram;
}

void HistogramBuilder::move_root(Histogram& to, bool marked) {
    for (std::int32_t place = 0; place < reduced_.n_places(); ++place)
        to.entries[place] = root_.entries[reduced_.entry(place)];
    root_.clear(marked);
}

void HistogramBuilder::reduce(std::vector<std::int32_t> entries) {
    reduced_.assign(data_, std::move(entries));
    map_ = &reduced_;
    scratch_.resize(static_cast<std::size_t>(reduced_.n_places()) + 1);
}

void HistogramBuilder::build(const PositionRange& positions, Histogram& histogram, bool marking) {
    if (map_ == &reduced_) {
        marking ? build_as<true, true>(positions, histogram) : build_as<false, true>(positions, histogram);
        histogram.entries[map_->n_places()] = {};
        return;
    }
    const bool in_groups = groups_pay(positions.range);
    if (in_groups) {
        build_grouped(positions, histogram);
    } else {
        marking ? build_as<true, false>(positions, histogram) : build_as<false, false>(positions, histogram);
    }
    const bool skips_usual = in_groups || data_.lists_entries();
    for (const TreeData::Slot& slot : data_.slots) {
        if (skips_usual && slot.usual >= 0) restore_usual(slot, positions.total, histogram, marking);
        histogram.entries[slot.absent_entry()] = {};
    }
}

// The sums of the usual code of a slot: the total minus the sums of its other entries.
void HistogramBuilder::restore_usual(const TreeData::Slot& slot, const Sums& total, Histogram& histogram,
                                     bool marking) const {
    const std::int32_t usual = slot.first_entry + slot.usual;
    Sums left = total;
    for (std::int32_t e = slot.first_entry; e < slot.end(); ++e) {
        if (e != usual) left -= histogram.entries[e];
    }
    if (left.is_zero()) return;
    histogram.entries[usual] = left;
    if (marking) histogram.mark(usual);
}

// Whether counting in groups saves more additions than summing up the tables of the groups costs. Nodes that
// are counted with marks are too small for that.
bool HistogramBuilder::groups_pay(Range range) const {
    return is_large(range) && static_cast<double>(range.size()) * groups_.saved() > groups_.n_places();
}

void HistogramBuilder::build_grouped(const PositionRange& positions, Histogram& histogram) {
    grouped_.resize(static_cast<std::size_t>(groups_.n_places()));
    const std::int32_t* cells = positions.layer.order.cells.data();
    const Sums* sums = positions.layer.sums.data();
    const Range range = positions.range;
    with_small_constant(groups_.n_groups(), [&, tables = grouped_.data()](auto n_groups) {
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            const std::uint16_t* places = groups_.places() + cells[i] * n_groups;
            const Sums sum = sums[i];
            for (std::int64_t g = 0; g < n_groups; ++g) tables[places[g]] += sum;
        }
    });
    if (!groups_.list().empty()) {
        add_listed(positions, groups_.starts(), groups_.list(),
                   [&](std::int32_t entry, const Sums& sum) { histogram.entries[entry] += sum; });
    }
    groups_.add_up(grouped_, histogram.entries);
}

template <bool marking, bool mapped>
void HistogramBuilder::build_as(const PositionRange& positions, Histogram& histogram) const {
    const std::int32_t* cells = positions.layer.order.cells.data();
    const Sums* sums = positions.layer.sums.data();
    const Range range = positions.range;
    const std::int32_t* index = map_->index();
    Sums* entries = histogram.entries.data();
    const auto add = [&](std::int32_t entry, const Sums& sum) {
        const std::int32_t place = mapped ? index[entry] : entry;
        entries[place] += sum;
        if (marking) histogram.mark(place);
    };
    if (data_.lists_entries()) {
        add_listed(positions, data_.entry_starts, data_.entry_list, add);
        return;
    }
    for (const TreeData::Slot& slot : data_.slots) {
        if (slot.column->kind != TreeData::Kind::bag) continue;
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            data_.read(slot, cells[i], [&](std::int32_t code) { add(slot.first_entry + code, sums[i]); });
        }
    }
    const auto add_slots = [&](const std::vector<DenseSlot>& slots, auto zero, const std::uint8_t* row,
                               const Sums& sum) {
        for (const DenseSlot& slot : slots) {
            auto code = zero;
            std::memcpy(&code, row + slot.delta, sizeof code);
            add(slot.first_entry + static_cast<std::int32_t>(code), sum);
        }
    };
    for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::uint8_t* row = data_.rows.data() + cells[i] * data_.stride;
        const Sums sum = sums[i];
        add_slots(fours_, std::int32_t{0}, row, sum);
        add_slots(pairs_, std::uint16_t{0}, row, sum);
        add_slots(bytes_, std::uint8_t{0}, row, sum);
    }
}

std::unique_ptr<Histogram> HistogramBuilder::take() {
    const auto size = static_cast<std::size_t>(map_->n_places()) + 1;
    if (spare_.empty()) return std::make_unique<Histogram>(size);
    std::unique_ptr<Histogram> histogram = std::move(spare_.back());
    spare_.pop_back();
    histogram->entries.assign(size, Sums{});
    return histogram;
}

void HistogramBuilder::give_back(std::unique_ptr<Histogram> histogram) {
    if (histogram) spare_.push_back(std::move(histogram));
}

void HistogramBuilder::trim_spare() {
    if (spare_.size() > kMostSpare) spare_.resize(kMostSpare);
}

}  // namespace hedgerow
