// Linear scores: every attribute of a position adds the weights of its features to some outputs; and the way
// back, from residuals of outputs to the gradient of weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/linear_kernels.hpp"
#include "util/prefetch.hpp"

namespace hedgerow {

// Feature f of attribute i, starts[i] <= f < starts[i + 1], speaks of outputs[f], a number below `width`; the
// outputs of an attribute rise.
struct Features {
    std::int64_t n_ids;
    std::int64_t width;
    const std::int64_t* starts;
    const std::int32_t* outputs;

    std::int64_t n() const { return starts[n_ids]; }
};

// An attribute that speaks of more than one in so many outputs is handled as a row of all of them.
constexpr std::int64_t kFewOutputs = 8;

inline bool is_sparse(std::int64_t n_features, std::int64_t width) {
    return n_features * kFewOutputs <= width || n_features == 1;
}

// A stack whose items are written field by field where they lie: a copy of a struct that was just put
// together from parts would wait for them.
template <class T>
class Pile {
  public:
    T& push() {
        if (n_ == items_.size()) items_.resize(2 * n_ + 16);
        return items_[n_++];
    }
    void clear() { n_ = 0; }
    std::int64_t size() const { return static_cast<std::int64_t>(n_); }
    const T* begin() const { return items_.data(); }
    const T* end() const { return items_.data() + n_; }

  private:
    std::vector<T> items_;
    std::size_t n_ = 0;
};

// The weights of features, laid out for scoring: an attribute of one feature is found in one place, one of a
// few has them side by side, others are rows.
class Scorer {
  public:
    Scorer(const Features& features, const float* weights)
        : width_(features.width), places_(static_cast<std::size_t>(features.n_ids)) {
        for (std::int64_t i = 0; i < features.n_ids; ++i) {
            Place& place = places_[i];
            const std::int64_t begin = features.starts[i], end = features.starts[i + 1];
            std::int64_t n = 0;  // of weights that are not 0: the others need no room
            for (std::int64_t f = begin; f < end; ++f) n += weights[f] != 0;
            if (n == 0) {
                place.output = kNone;
            } else if (n > 1 && !is_sparse(n, width_)) {
                place.output = kRow;
                place.at = static_cast<std::uint32_t>(rows_.size() / static_cast<std::size_t>(width_));
                rows_.resize(rows_.size() + static_cast<std::size_t>(width_), 0.0f);
                float* row = rows_.data() + place.at * width_;
                for (std::int64_t f = begin; f < end; ++f) row[features.outputs[f]] = weights[f];
            } else {
                place.output = kRow - static_cast<std::int32_t>(n);
                place.at = static_cast<std::uint32_t>(few_.size());
                for (std::int64_t f = begin; f < end; ++f) {
                    if (weights[f] == 0) continue;
                    if (n == 1) {
                        place.output = features.outputs[f];
                        place.weight = weights[f];
                    } else {
                        few_.push_back({features.outputs[f], {weights[f]}});
                    }
                }
            }
        }
    }

    // scores (positions, width) <- what the attributes of each position say. each_position(visit) calls
    // visit(t, begin, end) for the positions in turn; those with fewer than `skip` before them get 0.
    template <class EachPosition>
    void score(const Slots& slots, std::int64_t skip, float* scores, EachPosition each_position) const {
        Tile tile(slots);
        each_position([&](std::int64_t t, std::int64_t begin, std::int64_t end) {
            tile.at[tile.n++] = {t, t - begin >= skip ? begin : end, end};  // an empty sequence: not read
            if (tile.n < kTile) return;
            score_tile(tile, scores);
            scores += tile.n * width_;
            tile.n = 0;
        });
        score_tile(tile, scores);
    }

  private:
    static constexpr std::int32_t kNone = -1, kRow = -2;  // and kRow - n: so many features
    struct Place {
        std::int32_t output;
        union {
            float weight;
            std::uint32_t at;
        };
    };
    struct Read {
        std::int32_t id;
        float value;
    };

    // Positions that are scored together: columns are read one after the other, for memory is quick along a
    // column; and what is read then waits for nothing.
    static constexpr std::int64_t kTile = 64;
    struct Tile {
        struct At {
            std::int64_t t, begin, end;
        };
        At at[kTile];
        std::int64_t n = 0;
        std::vector<Slot> single, bags;  // slots that read at most one attribute, and others
        std::vector<Read> reads;         // (positions, single): an id of -1 where nothing is read
        Pile<Read> more;
        Pile<WeightedRow> rows[2];  // of a position, and of the one before it, whose turn it is

        explicit Tile(const Slots& from) {
            for (std::int64_t s = 0; s < from.size; ++s)
                (from[s].column->starts ? bags : single).push_back(from[s]);
            reads.resize(single.size() * kTile);
        }
    };

    void score_tile(Tile& tile, float* scores) const {
        std::fill_n(scores, tile.n * width_, 0.0f);
        const std::size_t n_single = tile.single.size();
        for (std::size_t s = 0; s < n_single; ++s) {
            const Slot slot = tile.single[s];
            Read* read = tile.reads.data() + s;
            for (std::int64_t p = 0; p < tile.n; ++p, read += n_single) {
                const typename Tile::At at = tile.at[p];
                read->id = -1;
                if (at.begin == at.end) continue;
                for_each_id(slot, at.t, at.begin, at.end, [&](std::int32_t id, float value) {
                    prefetch(&places_[id]);
                    read->id = id;
                    read->value = value;
                });
            }
        }
        for (std::int64_t p = 0; p <= tile.n; ++p) {
            std::swap(tile.rows[0], tile.rows[1]);
            tile.rows[0].clear();
            if (p < tile.n) gather(tile, p, scores + p * width_);
            const Pile<WeightedRow>& whole = tile.rows[1];
            if (whole.size() > 0)
                linear_kernels().add_rows(whole.begin(), whole.size(), width_, scores + (p - 1) * width_);
        }
        tile.rows[0].clear();
        tile.rows[1].clear();
    }

    // Adds what single features say of position p, and asks for the rows of the others.
    void gather(Tile& tile, std::int64_t p, float* scores) const {
        const typename Tile::At& at = tile.at[p];
        const Read* reads = tile.reads.data() + static_cast<std::size_t>(p) * tile.single.size();
        for (std::size_t s = 0; s < tile.single.size(); ++s) {
            if (reads[s].id >= 0) add_read(reads[s], tile.rows[0], scores);
        }
        if (tile.bags.empty() || at.begin == at.end) return;
        tile.more.clear();
        for (const Slot& slot : tile.bags) {
            for_each_id(slot, at.t, at.begin, at.end, [&](std::int32_t id, float value) {
                prefetch(&places_[id]);
                Read& read = tile.more.push();
                read.id = id;
                read.value = value;
            });
        }
        for (const Read& read : tile.more) add_read(read, tile.rows[0], scores);
    }

    void add_read(const Read& read, Pile<WeightedRow>& rows, float* scores) const {
        const Place& place = places_[read.id];
        if (place.output >= 0) {
            scores[place.output] += read.value * place.weight;
        } else if (place.output == kRow) {
            const float* row = rows_.data() + place.at * width_;
            prefetch(row);
            prefetch(row + width_ - 1);
            WeightedRow& added = rows.push();
            added.row = row;
            added.weight = read.value;
        } else if (place.output < kRow) {
            const Place* few = few_.data() + place.at;
            for (std::int32_t f = 0; f < kRow - place.output; ++f)
                scores[few[f].output] += read.value * few[f].weight;
        }
    }

    std::int64_t width_;
    std::vector<Place> places_;
    std::vector<Place> few_;
    std::vector<float> rows_;
};

// Where the attributes of a block of positions occur: what a gradient is summed along. Attribute by
// attribute, so that threads never add to the same feature, and the order of a sum is that of the positions.
class Postings {
  public:
    // Positions first..last; those with fewer than `skip` before them in their sequence are left out.
    // each_position(visit) calls visit(t, begin, end) for each of them.
    template <class EachPosition>
    Postings(const Slots& slots, const Features& features, std::int64_t first, std::int64_t skip,
             EachPosition each_position)
        : first_(first) {
        std::vector<std::int32_t> count(static_cast<std::size_t>(features.n_ids), 0);
        bool plain = true;
        const auto each = [&](auto visit) {
            each_position([&](std::int64_t t, std::int64_t begin, std::int64_t end) {
                if (t - begin < skip) return;
                for_each_id(slots, t, begin, end, [&](std::int32_t id, float value) {
                    if (features.starts[id] < features.starts[id + 1]) visit(id, t, value);
                });
            });
        };
        each([&](std::int32_t id, std::int64_t, float value) {
            ++count[id];
            plain = plain && value == 1.0f;
        });
        std::int64_t n = 0;
        std::vector<std::int64_t> at(count.size());
        for (std::size_t id = 0; id < count.size(); ++id) {
            if (count[id] == 0) continue;
            ids_.push_back(static_cast<std::int32_t>(id));
            starts_.push_back(n);
            at[id] = n;
            n += count[id];
        }
        starts_.push_back(n);
        positions_.resize(static_cast<std::size_t>(n));
        values_.resize(plain ? 0 : static_cast<std::size_t>(n));
        each([&](std::int32_t id, std::int64_t t, float value) {
            if (!plain) values_[at[id]] = value;
            positions_[at[id]++] = static_cast<std::int32_t>(t - first_);
        });
    }

    std::int64_t n_ids() const { return static_cast<std::int64_t>(ids_.size()); }
    std::int64_t first_of(std::int64_t i) const { return starts_[i]; }

    // gradient[f] += the sum over occurrences of value times the residual of f's output, for the features of
    // the i-th attribute. residuals: (positions of the block, width); row: room for one.
    void add(std::int64_t i, const Features& features, const float* residuals, float* row,
             double* gradient) const {
        const std::int64_t begin = features.starts[ids_[i]], end = features.starts[ids_[i] + 1];
        const std::int64_t width = features.width;
        const auto value_of = [&](std::int64_t o) { return values_.empty() ? 1.0f : values_[o]; };
        if (is_sparse(end - begin, width) || starts_[i + 1] - starts_[i] == 1) {
            for (std::int64_t o = starts_[i]; o < starts_[i + 1]; ++o) {
                const float* residual = residuals + positions_[o] * width;
                for (std::int64_t f = begin; f < end; ++f)
                    gradient[f] += static_cast<double>(value_of(o) * residual[features.outputs[f]]);
            }
            return;
        }
        std::fill_n(row, width, 0.0f);
        WeightedRow rows[kAhead];
        for (std::int64_t o = starts_[i]; o < starts_[i + 1];) {
            std::int64_t n = 0;
            for (; n < kAhead && o < starts_[i + 1]; ++n, ++o) {
                rows[n] = {residuals + positions_[o] * width, value_of(o)};
                prefetch(rows[n].row);
            }
            linear_kernels().add_rows(rows, n, width, row);
        }
        for (std::int64_t f = begin; f < end; ++f)
            gradient[f] += static_cast<double>(row[features.outputs[f]]);
    }

  private:
    static constexpr std::int64_t kAhead = 32;  // rows that are asked for before they are summed
    std::int64_t first_;
    std::vector<std::int32_t> ids_;     // that occur
    std::vector<std::int64_t> starts_;  // of their occurrences
    std::vector<std::int32_t> positions_;
    std::vector<float> values_;  // empty if all are 1
};

}  // namespace hedgerow
