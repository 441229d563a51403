// Sums over the positions of a node, in whole numbers: residuals are rounded once to multiples of 2^-30, so a
// sum is exact whatever its order, subtraction gives to the bit what counting anew would give, and neither
// threads nor the order of sequences can change a tree.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "trees/tree_kernels.hpp"

namespace hedgerow {

constexpr double kResidualUnit = 1 << 30;
constexpr int kCountShift = 38;
constexpr std::int64_t kMostPositions = std::int64_t{1} << 24;  // their curvatures stay below 2^38

struct Sums : RawSums {
    Sums() : RawSums{0, 0} {}
    Sums(std::int64_t residual_, std::int64_t packed_) : RawSums{residual_, packed_} {}

    std::int64_t count() const { return packed >> kCountShift; }
    bool is_zero() const { return packed == 0 && residual == 0; }
    std::int64_t raw_weight() const { return packed & ((std::int64_t{1} << kCountShift) - 1); }
    // One position. Number by number: a processor that reads a pair at once waits where it was written in
    // two.
    void set_position(std::int64_t residual_, std::int64_t raw_weight_) {
        residual = residual_;
        packed = (std::int64_t{1} << kCountShift) + raw_weight_;
    }
    void operator+=(const Sums& other) {
        residual += other.residual;
        packed += other.packed;
    }
    void operator-=(const Sums& other) {
        residual -= other.residual;
        packed -= other.packed;
    }
    // A share of it, rounded; with what is counted, or without.
    Sums part(double share, bool counted) const {
        const auto weight = std::llrint(static_cast<double>(raw_weight()) * share);
        return {std::llrint(static_cast<double>(residual) * share),
                ((counted ? count() : 0) << kCountShift) + weight};
    }
    friend Sums operator-(Sums a, const Sums& b) {
        a -= b;
        return a;
    }
};

inline Sums one_position(std::int64_t residual, std::int64_t raw_weight) {
    return {residual, (std::int64_t{1} << kCountShift) + raw_weight};
}

// |r| (1 - |r|); none where a residual is beyond 1.
inline double curvature(double residual) {
    const double r = residual < 0 ? -residual : residual;
    return r < 1 ? r * (1 - r) : 0.0;
}

// How a leaf's value and a split's gain come from sums.
//   published: weight = number of (position, history) examples, value = sum / (l2 + weight)
//   Newton:    weight = sum of |r| (1 - |r|), the curvature;    value = the same, clipped to max_step
struct Objective {
    double l2;
    bool newton;
    double max_step;
    std::int64_t min_leaf;
    double weight_unit;  // weights are whole multiples of its inverse

    // What one position brings: its residual over `n_examples` histories, times how much it counts.
    Sums position(std::int64_t residual, std::int64_t n_examples, double counts) const {
        const std::int64_t weight =
            newton ? curvature(residual) : n_examples * static_cast<std::int64_t>(weight_unit);
        if (counts == 1) return one_position(residual, weight);
        return one_position(std::llrint(static_cast<double>(residual) * counts),
                            std::llrint(static_cast<double>(weight) * counts));
    }
    // The curvature from units of 2^-30 to units of 2^-16.
    static std::int64_t curvature(std::int64_t residual) {
        const std::int64_t one = std::int64_t{1} << 30, r = residual < 0 ? -residual : residual;
        return r < one ? (r * (one - r) + (std::int64_t{1} << 43)) >> 44 : 0;
    }
    double weight(const Sums& sums) const { return static_cast<double>(sums.raw_weight()) / weight_unit; }
    double residual(const Sums& sums) const { return static_cast<double>(sums.residual) / kResidualUnit; }

    // How much the penalised squared error falls when a leaf takes its best value.
    double merit(const Sums& sums) const {
        const double r = residual(sums), w = l2 + weight(sums);
        return w > 0 ? r * r / w : 0.0;
    }
    double value(const Sums& sums) const {
        const double w = l2 + weight(sums);
        const double v = w > 0 ? residual(sums) / w : 0.0;
        return newton ? std::fmin(std::fmax(v, -max_step), max_step) : v;
    }
    // What a split gains; the same arithmetic as the kernel that scans entries.
    double gain(const Sums& yes, const Sums& no, double before) const {
        if (!large_enough(yes) || !large_enough(no)) return 0;
        const double r1 = residual(yes), w1 = l2 + weight(yes), r2 = residual(no), w2 = l2 + weight(no);
        return w1 > 0 && w2 > 0 ? (r1 * r1 * w2 + r2 * r2 * w1) / (w1 * w2) - before : 0;
    }
    bool large_enough(const Sums& sums) const { return sums.count() >= min_leaf; }
    ScanRules scan_rules(const Sums& total) const {
        return {l2, 1 / kResidualUnit, 1 / weight_unit, merit(total), min_leaf, kCountShift};
    }
};

// Sums by entry. Where a node has few positions, the entries it touches are marked, so that only those are
// looked at and cleared.
struct Histogram {
    std::vector<Sums> entries;
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
            for (; word != 0; word &= word - 1) visit((w << 6) + lowest(word));
        }
    }
    void clear_marked() {
        each_marked(0, static_cast<std::int32_t>(entries.size()), [&](std::int32_t e) { entries[e] = {}; });
        std::fill(marks.begin(), marks.end(), 0);
    }

  private:
    static std::int32_t lowest(std::uint64_t word) {
        std::int32_t at = 0;
        for (int step = 32; step > 0; step /= 2) {
            if ((word & ((std::uint64_t{1} << step) - 1)) == 0) {
                word >>= step;
                at += step;
            }
        }
        return at;
    }
};

}  // namespace hedgerow
