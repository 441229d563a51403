#include "trees/label_context_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hedgerow {

constexpr std::int64_t kNarrow = 8;  // widest row of residuals that is summed as one vector

LabelContextSums::LabelContextSums(const Examples& examples, const Layers& layers)
    : examples_(examples),
      layers_(layers),
      by_label_(static_cast<std::size_t>(examples.k) + 1),
      kept_by_label_(static_cast<std::size_t>(examples.k) + 1),
      fractional_by_label_(static_cast<std::size_t>(examples.k) + 1) {}

void LabelContextSums::sum(GrowingNode& node) {
    if (!node.contexts->divisible) return;
    node.label_sums.assign(static_cast<std::size_t>(entry(examples_.order, 0)), Sums{});
    if (node.has_fractions) return sum_fractions(node);
    if (examples_.leaves_out) return sum_kept(node);
    return examples_.is_additive() ? sum_columns(node) : sum_by_position(node);
}

// Residuals of positions with m labels before them, summed by context (`columns`), are summed by label:
// put(entry, residual, examples of a position) for each entry they contribute to. Contexts are a product set,
// so every label that a lag allows has equally many examples. by_label: memory for the sums.
template <class Column, class Real, class Put>
void LabelContextSums::add_labels(const NodeContexts& contexts, std::int64_t m, const Column* columns,
                                  std::vector<Real>& by_label, Put put) const {
    const std::int64_t k = examples_.k;
    const std::vector<std::int32_t>& members = contexts.members[m];
    const auto n_members = static_cast<std::int64_t>(members.size());
    Real all{};
    for (const std::int32_t h : members) all += columns[h];
    for (std::int64_t lag = 0; lag < examples_.order; ++lag) {
        if (contexts.set.size(lag) < 2) continue;
        if (lag >= m) {
            put(entry(lag, k), all, n_members);
            continue;
        }
        std::fill(by_label.begin(), by_label.end(), Real{});
        for (const std::int32_t h : members)
            by_label[m == 1 ? h : contexts.set.label(h, m, lag)] += columns[h];
        const std::int64_t n_values = contexts.set.size(lag) - contexts.set.allowed(lag, k);
        const std::int64_t n_one = n_members / std::max<std::int64_t>(n_values, 1);
        for (std::int64_t v = 0; v < k; ++v) {
            if (!contexts.set.allowed(lag, v)) continue;
            put(entry(lag, v), by_label[v], n_one);
            if (n_members > n_one) put(entry(lag, v) + 1, all - by_label[v], n_members - n_one);
        }
    }
}

// Additive: first sums over the positions of each depth, then over labels.
void LabelContextSums::sum_columns(GrowingNode& node) {
    const std::int64_t order = examples_.order, width = examples_.width;
    columns_.assign(static_cast<std::size_t>((order + 1) * width), 0);
    n_cells_.assign(static_cast<std::size_t>(order) + 1, 0);
    const std::int32_t* cells = layers_[node.layer].order.cells.data();
    growth_kernels().sum_columns(cells + node.counted.begin, node.counted.size(),
                                 examples_.data.depth_at.data(), order, examples_.residuals, width,
                                 columns_.data(), n_cells_.data());
    for (std::int64_t m = 0; m <= order; ++m) {
        if (n_cells_[m] == 0) continue;
        add_labels(*node.contexts, m, columns_.data() + m * width, by_label_,
                   [&](std::int64_t at, std::int64_t residual, std::int64_t n_examples) {
                       const Sums one =
                           examples_.objective.one_position(0, n_examples * examples_.example_weight());
                       node.label_sums[at] += Sums{residual, one.packed * n_cells_[m]};
                   });
    }
}

// Weights that are no numbers of examples: position by position.
void LabelContextSums::sum_by_position(GrowingNode& node) {
    const Examples& examples = examples_;
    const bool narrow =
        examples.objective.newton && examples.order == 1 && examples.width <= kNarrow && !examples.weights;
    const std::int32_t* cells = layers_[node.layer].order.cells.data() + node.counted.begin;
    std::int64_t n = node.counted.size();
    if (narrow) {
        n = sum_newton_columns(node);
        cells = left_.data();
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t c = cells[i];
        add_labels(*node.contexts, examples.data.depth_at[c], examples.row(c), by_label_,
                   [&](std::int64_t at, std::int64_t residual, std::int64_t n_examples) {
                       node.label_sums[at] +=
                           examples.objective.position(residual, n_examples, examples.weight(c));
                   });
    }
}

// Where examples are left out: position by position, since each may have other ones.
void LabelContextSums::sum_kept(GrowingNode& node) {
    const std::int32_t* cells = layers_[node.layer].order.cells.data();
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = cells[i];
        add_kept_labels(*node.contexts, c, [&](std::int64_t at, const KeptSums& kept) {
            node.label_sums[at] += examples_.position_sums(kept, c);
        });
    }
}

// put(entry, examples of a position) for each entry to which it may contribute; without a branch, because
// which examples are left out cannot be predicted.
template <class Put>
void LabelContextSums::add_kept_labels(const NodeContexts& contexts, std::int32_t c, Put put) {
    const std::int64_t m = examples_.data.depth_at[c];
    const std::vector<std::int32_t>& members = contexts.members[m];
    if (examples_.order == 1 && m == 1) {  // a context is a label
        const std::int32_t* row = examples_.row(c);
        const KeptSums all = examples_.kept(members, c);
        for (const std::int32_t v : members) {
            const KeptSums one = KeptSums::of(row[v]), rest = all - one;
            put(entry(0, v), one);
            put(entry(0, v) + 1, rest);
        }
        return;
    }
    kept_.resize(static_cast<std::size_t>(examples_.width));
    for (const std::int32_t h : members) kept_[h] = KeptSums::of(examples_.row(c)[h]);
    add_labels(contexts, m, kept_.data(), kept_by_label_,
               [&](std::int64_t at, const KeptSums& kept, std::int64_t) { put(at, kept); });
}

// The same in vectors for narrow rows; returns how many cells, in left_, are not summed yet: those at a
// start.
std::int64_t LabelContextSums::sum_newton_columns(GrowingNode& node) {
    const LabelContextSet& set = node.contexts->set;
    const std::int64_t k = examples_.k, width = examples_.width, n = node.counted.size();
    std::int64_t allowed[kNarrow] = {}, out[4 * kNarrow];
    std::int64_t n_allowed = 0;
    for (std::int64_t v = 0; v < k; ++v) {
        allowed[v] = set.allowed(0, v) ? -1 : 0;
        n_allowed += set.allowed(0, v);
    }
    left_.resize(static_cast<std::size_t>(n));
    const std::int64_t n_left = growth_kernels().newton_columns(
        layers_[node.layer].order.cells.data() + node.counted.begin, n, examples_.data.depth_at.data(),
        examples_.residuals, width, allowed, examples_.objective.packing.count_shift,
        examples_.objective.packing.curvature_shift, out, left_.data());
    for (std::int64_t v = 0; v < k && n > n_left; ++v) {
        if (!allowed[v] || set.size(0) < 2) continue;
        Sums* to = node.label_sums.data() + entry(0, v);
        to[0] += Sums{out[v], out[width + v]};
        if (n_allowed > 1) to[1] += Sums{out[2 * width + v], out[3 * width + v]};
    }
    return n_left;
}

// Where fractions of positions are there: exact sums in floating point, of terms that are rounded once.
void LabelContextSums::sum_fractions(GrowingNode& node) {
    node.fractional_label_sums.assign(node.label_sums.size(), FractionalSums{});
    if (examples_.leaves_out) {
        sum_kept_fractions(node);
    } else if (!examples_.objective.newton) {
        sum_fraction_columns(node);
    } else if (examples_.order == 1 && examples_.k <= kNarrow) {
        sum_newton_fraction_columns(node);
    } else {
        sum_newton_fractions(node);
    }
    round(node);
}

void LabelContextSums::sum_newton_fractions(GrowingNode& node) {
    const Layer& layer = layers_[node.layer];
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = layer.order.cells[i];
        const double fraction = examples_.weight(c) * layer.fractions[i];
        const auto counted = static_cast<double>(examples_.objective.count(layer.sums[i]));
        add_labels(*node.contexts, examples_.data.depth_at[c], examples_.row(c), by_label_,
                   [&](std::int64_t at, std::int64_t residual, std::int64_t) {
                       const double r = static_cast<double>(residual) / kResidualUnit;
                       FractionalSums& to = node.fractional_label_sums[at];
                       to.residual += examples_.rounded(fraction * r);
                       to.weight += examples_.rounded(fraction * curvature(r));
                       to.count += counted;
                   });
    }
}

void LabelContextSums::sum_kept_fractions(GrowingNode& node) {
    const Layer& layer = layers_[node.layer];
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = layer.order.cells[i];
        const double fraction = examples_.weight(c) * layer.fractions[i];
        const auto counted = static_cast<double>(examples_.objective.count(layer.sums[i]));
        add_kept_labels(*node.contexts, c, [&](std::int64_t at, const KeptSums& kept) {
            const double r = static_cast<double>(kept.residual) / kResidualUnit;
            const double weight = examples_.objective.newton ? curvature(r) : static_cast<double>(kept.n);
            FractionalSums& to = node.fractional_label_sums[at];
            to.residual += examples_.rounded(fraction * r);
            to.weight += examples_.rounded(fraction * weight);
            to.count += kept.n > 0 ? counted : 0;
        });
    }
}

void LabelContextSums::sum_fraction_columns(GrowingNode& node) {
    const Layer& layer = layers_[node.layer];
    const std::int64_t order = examples_.order, width = examples_.width;
    // By depth: residuals by context, then the sum of fractions, then the count.
    fractional_columns_.assign(static_cast<std::size_t>((order + 1) * (width + 2)), 0.0);
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = layer.order.cells[i];
        const double fraction = examples_.weight(c) * layer.fractions[i];
        double* to = fractional_columns_.data() + examples_.data.depth_at[c] * (width + 2);
        const double in_units = fraction / kResidualUnit;
        for (std::int64_t h = 0; h < width; ++h) to[h] += examples_.rounded(in_units * examples_.row(c)[h]);
        to[width] += examples_.rounded(fraction);
        to[width + 1] += static_cast<double>(examples_.objective.count(layer.sums[i]));
    }
    for (std::int64_t m = 0; m <= order; ++m) {
        const double* from = fractional_columns_.data() + m * (width + 2);
        if (from[width] == 0 && from[width + 1] == 0) continue;
        add_labels(*node.contexts, m, from, fractional_by_label_,
                   [&](std::int64_t at, double residual, std::int64_t n_examples) {
                       FractionalSums& to = node.fractional_label_sums[at];
                       to.residual += residual;
                       to.weight += from[width] * static_cast<double>(n_examples);
                       to.count += from[width + 1];
                   });
    }
}

// Newton mode, order 1, few labels: for all labels at once, allowed or not.
void LabelContextSums::sum_newton_fraction_columns(GrowingNode& node) const {
    const Layer& layer = layers_[node.layer];
    const std::int64_t k = examples_.k;
    const LabelContextSet& set = node.contexts->set;
    double allowed[kNarrow] = {}, r_one[kNarrow] = {}, w_one[kNarrow] = {}, r_rest[kNarrow] = {},
           w_rest[kNarrow] = {};
    double n_counted = 0, n_allowed = 0;
    for (std::int64_t v = 0; v < k; ++v) n_allowed += allowed[v] = set.allowed(0, v) ? 1.0 : 0.0;
    FractionalSums at_start;
    const double unit = 1 / kResidualUnit, rounding = examples_.rounding;
    const auto rounded = [rounding](double term) { return (term + rounding) - rounding; };
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = layer.order.cells[i];
        const std::int32_t* residuals = examples_.row(c);
        const double fraction = examples_.weight(c) * layer.fractions[i];
        const auto counted = static_cast<double>(examples_.objective.count(layer.sums[i]));
        if (examples_.data.depth_at[c] == 0) {
            const double r = residuals[0] * unit;
            at_start.residual += rounded(fraction * r);
            at_start.weight += rounded(fraction * curvature(r));
            at_start.count += counted;
            continue;
        }
        double all = 0;
        for (std::int64_t v = 0; v < k; ++v) all += allowed[v] * residuals[v];
        all *= unit;
        n_counted += counted;
#pragma omp simd
        for (std::int64_t v = 0; v < k; ++v) {
            const double r = residuals[v] * unit, rest = all - r;
            r_one[v] += rounded(fraction * r);
            w_one[v] += rounded(fraction * curvature(r));
            r_rest[v] += rounded(fraction * rest);
            w_rest[v] += rounded(fraction * curvature(rest));
        }
    }
    if (set.size(0) < 2) return;
    for (std::int64_t v = 0; v < k; ++v) {
        if (allowed[v] == 0) continue;
        FractionalSums* to = node.fractional_label_sums.data() + entry(0, v);
        to[0] = {r_one[v], w_one[v], n_counted};
        if (n_allowed > 1) to[1] = {r_rest[v], w_rest[v], n_counted};
    }
    if (set.allowed(0, k)) node.fractional_label_sums[entry(0, k)] = at_start;
}

void LabelContextSums::round(GrowingNode& node) const {
    for (std::size_t e = 0; e < node.fractional_label_sums.size(); ++e) {
        const FractionalSums& from = node.fractional_label_sums[e];
        const auto weight = std::llrint(std::max(from.weight, 0.0) * examples_.objective.packing.weight_unit);
        node.label_sums[e] = {std::llrint(from.residual * kResidualUnit),
                              std::llrint(from.count) * examples_.objective.packing.one() + weight};
    }
}

// Also where fractions of positions are there: then the sums of the larger side depend on whether they were
// subtracted, in their last bits, so they always are.
void LabelContextSums::subtract(GrowingNode& parent, const GrowingNode& small, GrowingNode& large) const {
    large.label_sums = std::move(parent.label_sums);
    if (!large.has_fractions) {
        for (std::size_t e = 0; e < large.label_sums.size(); ++e) large.label_sums[e] -= small.label_sums[e];
        return;
    }
    const Objective& objective = examples_.objective;
    large.fractional_label_sums = std::move(parent.fractional_label_sums);
    if (large.fractional_label_sums.empty()) {
        for (const Sums& sums : large.label_sums)
            large.fractional_label_sums.push_back({objective.residual(sums), objective.weight(sums),
                                                   static_cast<double>(objective.count(sums))});
    }
    for (std::size_t e = 0; e < large.fractional_label_sums.size(); ++e) {
        FractionalSums& left = large.fractional_label_sums[e];
        const FractionalSums& gone = small.fractional_label_sums[e];
        left.residual -= gone.residual;
        left.weight -= gone.weight;
        left.count -= gone.count;
    }
    round(large);
}

// Every position that has another label keeps it, so counts stay.
void LabelContextSums::remove_label(GrowingNode& parent, std::int64_t gone, GrowingNode& rest) const {
    if (!rest.contexts->divisible) return;
    rest.label_sums = std::move(parent.label_sums);
    Sums& removed = rest.label_sums[entry(0, gone)];
    const std::int64_t n_left = rest.contexts->set.size(0) - rest.contexts->set.allowed(0, examples_.k);
    for (std::int64_t v = 0; v < examples_.k && gone < examples_.k; ++v) {
        Sums& others = rest.label_sums[entry(0, v) + 1];
        others =
            n_left > 1 ? others - Sums{removed.residual, examples_.objective.raw_weight(removed)} : Sums{};
    }
    removed = {};
}

}  // namespace hedgerow
