#include "linear/scorer.hpp"

#include <algorithm>
#include <utility>

#include "util/parallel.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kTilePositions = 64;  // positions that are scored together

}  // namespace

Scorer::Scorer(const Features& features, const float* weights)
    : width_(features.width), entries_(static_cast<std::size_t>(features.n_ids)) {
    lay_out(features, [&](std::int64_t f) { return weights[f] != 0; });
    std::vector<float> stored;
    for (std::int64_t i = 0; i < features.n_ids; ++i) {
        stored.clear();
        for (std::int64_t f = features.starts[i]; f < features.starts[i + 1]; ++f)
            if (weights[f] != 0 || entries_[i].output == kRow) stored.push_back(weights[f]);
        set_weights(i, features, stored.data());
    }
}

Scorer::Scorer(const Features& features)
    : width_(features.width), entries_(static_cast<std::size_t>(features.n_ids)) {
    lay_out(features, [](std::int64_t) { return true; });
}

// Makes room for the weights of all features that are stored.
template <class IsStored>
void Scorer::lay_out(const Features& features, IsStored is_stored) {
    for (std::int64_t i = 0; i < features.n_ids; ++i) {
        Entry& entry = entries_[i];
        const std::int64_t begin = features.starts[i], end = features.starts[i + 1];
        std::int64_t n = 0;
        for (std::int64_t f = begin; f < end; ++f) n += is_stored(f);
        if (n == 0) {
            entry.output = kNone;
        } else if (n > 1 && !is_sparse(n, width_)) {
            entry.output = kRow;
            entry.at = static_cast<std::uint32_t>(rows_.size() / static_cast<std::size_t>(width_));
            rows_.resize(rows_.size() + static_cast<std::size_t>(width_), 0.0f);
        } else {
            entry.output = kRow - static_cast<std::int32_t>(n);
            entry.at = static_cast<std::uint32_t>(few_.size());
            for (std::int64_t f = begin; f < end; ++f) {
                if (!is_stored(f)) continue;
                if (n == 1)
                    entry = {features.outputs[f], {0.0f}};
                else
                    few_.push_back({features.outputs[f], {0.0f}});
            }
        }
    }
}

void Scorer::set_weights(std::int64_t attribute, const Features& features, const float* weights) {
    Entry& entry = entries_[attribute];
    if (entry.output >= 0) {
        entry.weight = weights[0];
    } else if (entry.output == kRow) {
        const std::int32_t* outputs = features.outputs + features.starts[attribute];
        float* row = rows_.data() + entry.at * width_;
        const std::int64_t n = features.starts[attribute + 1] - features.starts[attribute];
        for (std::int64_t j = 0; j < n; ++j) row[outputs[j]] = weights[j];
    } else {
        for (std::int32_t j = 0; j < kRow - entry.output; ++j) few_[entry.at + j].weight = weights[j];
    }
}

// Positions that are scored together. The attributes of all positions are read first, column by column,
// because a column is contiguous in memory. The weights are prefetched meanwhile.
struct Scorer::Tile {
    struct At {
        std::int64_t t, begin, end;  // begin == end: the position is skipped
    };
    At at[kTilePositions];
    std::int64_t n = 0;
    std::vector<Slot> single, bags;  // slots that read at most one attribute, and slots that read bags
    std::vector<Read> reads;         // (positions, single)
    AppendBuffer<Read> bag_reads;
    AppendBuffer<WeightedRow> rows[2];  // of position p, and of position p - 1, whose rows are added next

    explicit Tile(const Slots& slots) {
        for (const Slot& slot : slots) (slot.column->starts ? bags : single).push_back(slot);
        reads.resize(single.size() * kTilePositions);
    }
};

// scores[y] += value weight(id, y), at once for single weights; a row is only collected.
inline void Scorer::add_read(const Read& read, AppendBuffer<WeightedRow>& rows, float* scores) const {
    const Entry& entry = entries_[read.id];
    if (entry.output >= 0) {
        scores[entry.output] += read.value * entry.weight;
    } else if (entry.output == kRow) {
        const float* row = rows_.data() + entry.at * width_;
        prefetch(row);
        prefetch(row + width_ - 1);
        WeightedRow& added = rows.push();
        added.row = row;
        added.weight = read.value;
    } else if (entry.output < kRow) {
        const Entry* few = few_.data() + entry.at;
        for (std::int32_t f = 0; f < kRow - entry.output; ++f)
            scores[few[f].output] += read.value * few[f].weight;
    }
}

// Adds the single weights of position p to its scores; collects and prefetches the rows of its attributes.
inline void Scorer::gather(Tile& tile, std::int64_t p, float* scores) const {
    const Tile::At& at = tile.at[p];
    const Read* reads = tile.reads.data() + static_cast<std::size_t>(p) * tile.single.size();
    for (std::size_t s = 0; s < tile.single.size(); ++s) {
        if (reads[s].id >= 0) add_read(reads[s], tile.rows[0], scores);
    }
    if (tile.bags.empty() || at.begin == at.end) return;
    tile.bag_reads.clear();
    for (const Slot& slot : tile.bags) {
        for_each_id(slot, at.t, at.begin, at.end, [&](std::int32_t id, float value) {
            prefetch(&entries_[id]);
            Read& read = tile.bag_reads.push();
            read.id = id;
            read.value = value;
        });
    }
    for (const Read& read : tile.bag_reads) add_read(read, tile.rows[0], scores);
}

inline void Scorer::score_tile(Tile& tile, float* scores) const {
    std::fill_n(scores, tile.n * width_, 0.0f);
    const std::size_t n_single = tile.single.size();
    for (std::size_t s = 0; s < n_single; ++s) {
        const Slot slot = tile.single[s];
        Read* read = tile.reads.data() + s;
        for (std::int64_t p = 0; p < tile.n; ++p, read += n_single) {
            const Tile::At at = tile.at[p];
            read->id = -1;
            if (at.begin == at.end) continue;
            for_each_id(slot, at.t, at.begin, at.end, [&](std::int32_t id, float value) {
                prefetch(&entries_[id]);
                read->id = id;
                read->value = value;
            });
        }
    }
    // The rows of position p are prefetched while the rows of position p - 1 are summed.
    for (std::int64_t p = 0; p <= tile.n; ++p) {
        std::swap(tile.rows[0], tile.rows[1]);
        tile.rows[0].clear();
        if (p < tile.n) gather(tile, p, scores + p * width_);
        const AppendBuffer<WeightedRow>& rows = tile.rows[1];
        if (rows.size() > 0)
            linear_kernels().add_rows(rows.begin(), rows.size(), width_, scores + (p - 1) * width_);
    }
    tile.rows[0].clear();
    tile.rows[1].clear();
}

void Scorer::score(const AttributeView& attributes, std::int64_t first, std::int64_t last, std::int64_t skip,
                   float* scores, std::int64_t n_threads) const {
    parallel_for((last - first + kThreadPositions - 1) / kThreadPositions, n_threads, [&] {
        return [&](std::int64_t c) {
            const std::int64_t from = first + c * kThreadPositions;
            score_range(attributes, from, std::min(last, from + kThreadPositions), skip,
                        scores + (from - first) * width_);
        };
    });
}

void Scorer::score_range(const AttributeView& attributes, std::int64_t first, std::int64_t last,
                         std::int64_t skip, float* scores) const {
    Tile tile(attributes.slots);
    attributes.for_each_position(first, last, [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
        tile.at[tile.n++] = {t, t - begin >= skip ? begin : end, end};
        if (tile.n < kTilePositions) return;
        score_tile(tile, scores);
        scores += tile.n * width_;
        tile.n = 0;
    });
    score_tile(tile, scores);
}

}  // namespace hedgerow
