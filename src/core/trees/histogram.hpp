// Sums by histogram entry.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "trees/sums.hpp"
#include "util/large_vector.hpp"

namespace hedgerow {

// Where a node has few positions, the entries they touch are marked, so that only these are read and cleared.
struct Histogram {
    LargeVector<Sums> entries;
    std::vector<std::uint64_t> marks;

    explicit Histogram(std::size_t n_entries) : entries(n_entries), marks((n_entries + 63) / 64, 0) {}

    void mark(std::int32_t entry) { marks[entry >> 6] |= std::uint64_t{1} << (entry & 63); }

    void resize(std::size_t n_entries) {
        entries.assign(n_entries, Sums{});
        marks.assign((n_entries + 63) / 64, 0);
    }

    // visit(entry) for all entries of [first, last), or for the marked ones, ascending.
    template <class Visit>
    void each(bool marked, std::int32_t first, std::int32_t last, Visit visit) const {
        if (marked) return each_marked(first, last, visit);
        for (std::int32_t e = first; e < last; ++e) visit(e);
    }
    template <class Visit>
    void each_marked(std::int32_t first, std::int32_t last, Visit visit) const {
        if (first >= last) return;
        for (std::int32_t w = first >> 6; w <= (last - 1) >> 6; ++w) {
            std::uint64_t word = marks[w];
            if (w == first >> 6) word &= ~std::uint64_t{0} << (first & 63);
            if (w == (last - 1) >> 6) word &= ~std::uint64_t{0} >> (63 - ((last - 1) & 63));
            for (; word != 0; word &= word - 1) visit((w << 6) + std::countr_zero(word));
        }
    }
    // Empties a histogram, of which only marked entries may not be empty.
    void clear(bool marked) {
        if (marked) return clear_marked();
        std::fill(entries.begin(), entries.end(), Sums{});
    }
    void clear_marked() {
        each_marked(0, static_cast<std::int32_t>(entries.size()), [&](std::int32_t e) { entries[e] = {}; });
        std::fill(marks.begin(), marks.end(), 0);
    }
};

}  // namespace hedgerow
