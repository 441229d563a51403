#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "data/derived_columns.hpp"
#include "util/parallel.hpp"

namespace hedgerow {

namespace {

struct CodePair {
    int32_t left, right;
};

// Pairs of codes by ranges of left codes: range r has the left codes from r << shift on, and the pairs
// pairs[starts[r]:starts[r + 1]].
struct PairRanges {
    int shift = 0;
    std::vector<int64_t> starts;
    std::unique_ptr<CodePair[]> pairs;
};

// Sorts pairs by range. Each piece of the positions counts its pairs in each range, which gives the piece a
// place of its own in the range.
PairRanges pair_ranges(const int32_t* left, const int32_t* right, int64_t n, int32_t n_left,
                       int64_t n_threads) {
    constexpr int32_t kMostRanges = 256;
    constexpr int64_t kPiece = 1 << 13;  // positions that a thread takes at a time
    PairRanges ranges;
    while (n_left >> ranges.shift >= kMostRanges) ++ranges.shift;
    const auto n_ranges = static_cast<size_t>(n_left >> ranges.shift) + 1;
    const int64_t n_pieces = (n + kPiece - 1) / kPiece;
    std::vector<int64_t> places(n_ranges * static_cast<size_t>(n_pieces), 0);  // by piece, then by range
    const auto for_pairs = [&](auto work) {
        parallel_for(n_pieces, n_threads, [&] {
            return [&](int64_t piece) {
                int64_t* own = places.data() + static_cast<size_t>(piece) * n_ranges;
                const int64_t last = std::min(n, (piece + 1) * kPiece);
                for (int64_t t = piece * kPiece; t < last; ++t)
                    if (left[t] >= 0 && right[t] >= 0)
                        work(CodePair{left[t], right[t]}, own[left[t] >> ranges.shift]);
            };
        });
    };
    for_pairs([](CodePair, int64_t& count) { ++count; });
    int64_t total = 0;
    for (size_t r = 0; r < n_ranges; ++r) {
        ranges.starts.push_back(total);
        for (size_t at = r; at < places.size(); at += n_ranges) total += std::exchange(places[at], total);
    }
    ranges.starts.push_back(total);
    ranges.pairs = std::make_unique_for_overwrite<CodePair[]>(static_cast<size_t>(total));
    for_pairs([to = ranges.pairs.get()](CodePair pair, int64_t& place) { to[place++] = pair; });
    return ranges;
}

// Sorts the pairs of a range by both codes, without doubles.
class RangeSorter {
  public:
    explicit RangeSorter(int32_t n_right) : seen_(static_cast<size_t>(n_right), 0) {}

    // Writes the right codes of the pairs [begin, end), whose left codes are `first` and the n after it, row
    // by row to `rights`, and the size of each row to `sizes`. There must be room for all pairs.
    void sort(const CodePair* begin, const CodePair* end, int64_t first, int64_t n, int32_t* rights,
              int64_t* sizes) {
        by_left(begin, end, first, n, rights);
        int32_t* to = rights;
        for (int64_t l = 0; l < n; ++l) {
            int32_t* const row = to;
            const int32_t* const row_end = rights + bounds_[static_cast<size_t>(l) + 1];
            for (const int32_t* right = rights + bounds_[static_cast<size_t>(l)]; right < row_end; ++right)
                if (!std::exchange(seen_[static_cast<size_t>(*right)], uint8_t{1})) *to++ = *right;
            std::sort(row, to);
            for (const int32_t* right = row; right < to; ++right) seen_[static_cast<size_t>(*right)] = 0;
            sizes[l] = to - row;
        }
    }

  private:
    // The right codes by left code, by counting: row l is rights[bounds_[l]:bounds_[l + 1]].
    void by_left(const CodePair* begin, const CodePair* end, int64_t first, int64_t n, int32_t* rights) {
        bounds_.assign(static_cast<size_t>(n) + 2, 0);
        int64_t* next = bounds_.data() + 1 - first;
        for (const CodePair* pair = begin; pair < end; ++pair) ++next[pair->left + 1];
        std::partial_sum(bounds_.begin(), bounds_.end(), bounds_.begin());
        for (const CodePair* pair = begin; pair < end; ++pair) rights[next[pair->left]++] = pair->right;
    }

    std::vector<uint8_t> seen_;  // by right code: whether the row has it
    std::vector<int64_t> bounds_;
};

}  // namespace

PairLists distinct_pairs(const int32_t* left, const int32_t* right, int64_t n, int32_t n_left,
                         int32_t n_right, int64_t n_threads) {
    const PairRanges ranges = pair_ranges(left, right, n, n_left, n_threads);
    const auto first_of = [&](int64_t r) { return std::min(int64_t{n_left}, r << ranges.shift); };
    const auto n_ranges = static_cast<int64_t>(ranges.starts.size()) - 1;
    const auto rights = std::make_unique_for_overwrite<int32_t[]>(static_cast<size_t>(ranges.starts.back()));
    PairLists found{std::vector<int64_t>(static_cast<size_t>(n_left) + 1, 0), {}};
    parallel_for(n_ranges, n_threads, [&] {
        return [&, sorter = RangeSorter(n_right)](int64_t r) mutable {
            const int64_t* start = ranges.starts.data() + r;
            const int64_t first = first_of(r);
            sorter.sort(ranges.pairs.get() + start[0], ranges.pairs.get() + start[1], first,
                        first_of(r + 1) - first, rights.get() + start[0], found.starts.data() + first + 1);
        };
    });
    std::partial_sum(found.starts.begin(), found.starts.end(), found.starts.begin());
    found.rights.reserve(static_cast<size_t>(found.starts.back()));
    for (int64_t r = 0; r < n_ranges; ++r) {
        const int32_t* from = rights.get() + ranges.starts[static_cast<size_t>(r)];
        const int64_t size = found.starts[static_cast<size_t>(first_of(r + 1))] -
                             found.starts[static_cast<size_t>(first_of(r))];
        found.rights.insert(found.rights.end(), from, from + size);
    }
    return found;
}

}  // namespace hedgerow
