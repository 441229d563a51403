// The evaluation of compiled trees. Each thread reads the attributes of a chunk of positions, then divides
// the sets of positions of every tree.
#include <algorithm>
#include <array>
#include <cstring>

#include "trees/forest.hpp"
#include "util/parallel.hpp"
#include "util/position_set.hpp"

namespace hedgerow {

// The memory of a thread that evaluates chunks.
struct Forest::Work {
    std::uint64_t* mask(std::int64_t test) { return masks.data() + test * n_words; }

    // The positions of the chunk whose slots at this offset lie in their sequences.
    struct Inside {
        std::int64_t offset;
        std::array<std::uint64_t, position_set_words(kChunkPositions)> set;
    };
    const std::uint64_t* inside(std::int64_t first, std::int64_t offset);

    std::int64_t n, n_words, n_positions;  // of the chunk, of its sets, of all sequences
    std::vector<Inside> insides;
    std::array<std::uint8_t, kChunkPositions> bins{};
    std::vector<Span> spans;               // by position: its sequence
    AlignedVector<std::uint64_t> masks;    // by test: the positions where it holds
    AlignedVector<std::uint64_t> sets;     // of a tree
    std::vector<std::int32_t> depths;      // by position: how many labels precede it
    AlignedVector<std::uint64_t> missing;  // by slot: the positions whose value is missing
    bool any_missing = true;               // true at first, so that `missing` is cleared
    AlignedVector<float> weights;          // of a tree; allocated when needed
    AlignedVector<float> sums;             // (512, width) or (label contexts of every length, 512)
};

void Forest::add_scores(const AttributeView& attributes, float* scores, std::int64_t n_threads) const {
    const std::int64_t n = attributes.n_positions(), n_chunks = (n + kChunkPositions - 1) / kChunkPositions;
    parallel_for(n_chunks, n_threads, [&] {
        return [&, work = make_work(n)](std::int64_t c) mutable {
            const std::int64_t first = c * kChunkPositions, last = std::min(first + kChunkPositions, n);
            read_chunk(attributes, first, last, work);
            add_trees(work, scores + first * n_contexts_ * k_);
        };
    });
}

// For chunks of n_positions positions together.
Forest::Work Forest::make_work(std::int64_t n_positions) const {
    const std::int64_t n = std::min(n_positions, kChunkPositions);
    Work work;
    work.n_positions = n_positions;
    work.spans.resize(static_cast<std::size_t>(n));
    work.masks.resize(named_.size() * static_cast<std::size_t>(position_set_words(n)));
    work.sets.resize(static_cast<std::size_t>(most_sets_ * position_set_words(n)));
    work.depths.resize(static_cast<std::size_t>(n));
    work.missing.resize(slots_.size() * static_cast<std::size_t>(position_set_words(n)));
    work.sums.resize(static_cast<std::size_t>(shared_ ? n * width_ : n_before_.back() * kChunkPositions));
    return work;
}

// Starts a chunk of n positions.
void Forest::begin(Work& work, std::int64_t n) const {
    work.n = n;
    work.n_words = position_set_words(n);
    work.insides.clear();
    std::fill(work.mask(0), work.mask(static_cast<std::int64_t>(named_.size())), 0);
    if (work.any_missing) std::fill(work.missing.begin(), work.missing.end(), 0);
    work.any_missing = false;
    std::uint64_t* sets = work.sets.data();
    std::fill(sets, sets + 2 * work.n_words, 0);
    for (std::int64_t i = 0; i < n; ++i) insert(sets + work.n_words, i);
}

// Sets the masks, depths and missing values of the positions first..last.
void Forest::read_chunk(const AttributeView& attributes, std::int64_t first, std::int64_t last,
                        Work& work) const {
    begin(work, last - first);
    attributes.for_each_position(first, last, [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
        work.depths[t - first] = static_cast<std::int32_t>(std::min(t - begin, order_));
        work.spans[t - first] = {begin, end};
    });
    for (std::int64_t s = 0; s < attributes.slots.size; ++s) {
        const Slot& slot = attributes.slots[s];
        if (!slot_tests_[s].any) continue;
        if (slot.column->bins) read_bins(slot, s, first, work);
        if (!slot.column->bins || slot_tests_[s].by_id) read_ids(slot, s, first, work);
    }
}

const std::uint64_t* Forest::Work::inside(std::int64_t first, std::int64_t offset) {
    for (const Inside& one : insides) {
        if (one.offset == offset) return one.set.data();
    }
    insides.push_back({offset, {}});
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = first + i + offset;
        if (at >= spans[i].begin && at < spans[i].end) insert(insides.back().set.data(), i);
    }
    return insides.back().set.data();
}

// Compares the bins of a numeric slot with its thresholds. The bins are those of the column, `offset` further
// on; outside all sequences there are none to read.
void Forest::read_bins(const Slot& slot, std::int64_t s, std::int64_t first, Work& work) const {
    const std::int64_t begin = first + slot.offset, end = begin + (work.n + 63) / 64 * 64;
    const std::uint8_t* bins = slot.column->bins + begin;
    if (begin < 0 || end > work.n_positions) {
        const std::int64_t from = std::max<std::int64_t>(begin, 0), to = std::min(end, work.n_positions);
        if (from < to)
            std::memcpy(work.bins.data() + from - begin, slot.column->bins + from,
                        static_cast<std::size_t>(to - from));
        bins = work.bins.data();
    }
    const std::vector<Threshold>& thresholds = slot_tests_[s].thresholds;
    std::uint64_t* missing = work.missing.data() + s * work.n_words;
    replay_kernels().compare(bins, work.inside(first, slot.offset), work.n, thresholds.data(),
                             static_cast<std::int64_t>(thresholds.size()), work.mask(0), missing);
    work.any_missing |=
        std::any_of(missing, missing + work.n_words, [](std::uint64_t word) { return word != 0; });
}

// Adds position i to the masks of what test_of_ lists for an attribute.
inline void Forest::set_tests(Work& work, std::int64_t i, std::int32_t test) const {
    if (test >= 0) {
        insert(work.mask(test), i);
    } else if (test != kNoTest) {
        for (const std::int32_t* t = tests_.data() + ~test; *t != kNoTest; ++t) insert(work.mask(*t), i);
    }
}

// Reads a slot at the positions from `first` on, id by id. Most columns are categorical or numeric with bins;
// one loop for each of these kinds does not test the kind at every position.
void Forest::read_ids(const Slot& slot, std::int64_t s, std::int64_t first, Work& work) const {
    const ColumnView& column = *slot.column;
    const auto miss = [&](std::int64_t i) {
        insert(work.missing.data() + s * work.n_words, i);
        work.any_missing = true;
    };
    // The positions that read a tested attribute are listed first: a branch would be hard to predict.
    const auto read_codes = [&](const auto* codes, std::int32_t missing) {
        std::array<std::int32_t, kChunkPositions> tests, places;
        std::int64_t n_found = 0;
        for (std::int64_t i = 0; i < work.n; ++i) {
            const std::int64_t at = first + i + slot.offset;
            const bool is_inside = at >= work.spans[i].begin && at < work.spans[i].end;
            const std::int32_t code = is_inside ? codes[at] : 0;
            if (code == missing) miss(i);
            const std::int32_t id = is_inside ? slot.first_id + code : slot.padding;
            tests[n_found] = code < 0 || code == missing ? kNoTest : test_of_[id];
            places[n_found] = static_cast<std::int32_t>(i);
            n_found += tests[n_found] != kNoTest;
        }
        for (std::int64_t j = 0; j < n_found; ++j) set_tests(work, places[j], tests[j]);
    };
    if (column.codes) return read_codes(column.codes, kMissingId);
    if (column.bins) return read_codes(column.bins, kMissingBin);
    for (std::int64_t i = 0; i < work.n; ++i) {
        const Span& span = work.spans[i];
        for_each_id(slot, first + i, span.begin, span.end,
                    [&](std::int32_t id, float) { set_tests(work, i, test_of_[id]); });
        if (column.has_missing && is_missing(slot, first + i, span.begin, span.end)) miss(i);
    }
}

void Forest::clear_sums(Work& work) const {
    float* sums = work.sums.data();
    if (shared_) std::fill(sums, sums + work.n * width_, 0.0f);
    for (std::int64_t h = 0; h < n_before_.back() && !shared_; ++h, sums += kChunkPositions)
        std::fill(sums, sums + work.n, 0.0f);
}

// Adds the values of all trees to scores (positions of the chunk, label contexts, labels).
void Forest::add_trees(Work& work, float* scores) const {
    const Replay replay{splits_.data(), parts_.data(), entries_.data(),
                        values_.data(), rows_.data(),  work.mask(0)};
    const bool fractional = work.any_missing && splits_positions_;
    if (fractional) work.weights.resize(static_cast<std::size_t>(64 * most_sets_));
    for (std::int64_t label = 0; label < k_; ++label) {
        if (trees_[label].empty()) continue;
        clear_sums(work);
        for (const FlatTree& tree : trees_[label])
            fractional ? add_fractions(work, replay, tree) : add_tree(work, replay, tree);
        spread(work, label, scores);
    }
}

MissingRules Forest::missing_rules(const Work& work) const {
    return {missing_rules_.data(), surrogates_.data(), work.missing.data()};
}

void Forest::add_tree(Work& work, const Replay& replay, const FlatTree& tree) const {
    const ReplayKernels& kernels = replay_kernels();
    std::uint64_t* sets = work.sets.data();
    if (work.any_missing) {
        fractional_kernels().divide_whole(replay, missing_rules(work), tree, work.n_words, sets);
    } else {
        kernels.divide(replay, tree, work.n, sets);
    }
    if (shared_) {
        kernels.add_rows(replay, tree, sets, work.n, width_, work.sums.data());
    } else {
        kernels.add_values(replay, tree, sets, work.n, work.sums.data());
    }
}

void Forest::add_fractions(Work& work, const Replay& replay, const FlatTree& tree) const {
    const FractionalKernels& kernels = fractional_kernels();
    float *weights = work.weights.data(), *sums = work.sums.data();
    for (std::int64_t word = 0; 64 * word < work.n; ++word) {
        kernels.divide(replay, missing_rules(work), tree, word, work.n_words, weights);
        if (shared_) {
            kernels.add_rows(replay, tree, weights, work.n - 64 * word, width_, sums + 64 * word * width_);
        } else {
            kernels.add_values(replay, tree, weights, sums + 64 * word);
        }
    }
}

// Adds sums to scores (positions, label contexts, labels).
void Forest::spread(const Work& work, std::int64_t label, float* scores) const {
    const AlignedVector<float>& sums = work.sums;
    if (shared_) {
        for (std::int64_t i = 0; i < work.n; ++i) {
            for (std::int64_t y = 0; y < k_; ++y) scores[i * k_ + y] += sums[i * width_ + y];
        }
        return;
    }
    if (n_contexts_ == 1) {
        for (std::int64_t i = 0; i < work.n; ++i) scores[i * k_ + label] += sums[i];
        return;
    }
    for (std::int64_t i = 0; i < work.n; ++i) {
        const std::int64_t first = n_before_[work.depths[i]], last = n_before_[work.depths[i] + 1];
        float* to = scores + i * n_contexts_ * k_ + label;
        for (std::int64_t h = first; h < last; ++h, to += k_) *to += sums[h * kChunkPositions + i];
    }
}

}  // namespace hedgerow
