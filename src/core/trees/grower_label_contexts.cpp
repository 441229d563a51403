// What a tree asks of previous labels: their sums at a node, the best test on one of them, and its division.
#include <algorithm>
#include <cmath>
#include <utility>

#include "trees/grower.hpp"

namespace hedgerow {

// For each lag and label: the sums where the previous label is that one, and where it is another. Histories
// are a product set, so each label that a lag allows has as many examples as any other.
void Grower::count_histories(Node& node) {
    if (!node.of->divisible) return;
    node.by_label.assign(static_cast<std::size_t>(label_entry(order_, 0)), Sums{});
    const std::int32_t* cells = layers_[node.layer].cells.data();
    if (node.has_parts) return count_histories_of_parts(node);
    if (!additive()) {
        const bool narrow = objective().newton && order_ == 1 && width_ <= 8 && !weights_;
        std::int64_t n = node.counted.size();
        const std::int32_t* one_by_one = cells + node.counted.begin;
        if (narrow) {
            n = count_narrow(node, one_by_one, n);
            one_by_one = others_.data();
        }
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int32_t c = one_by_one[i];
            add_labels(node, data_.depth_at[c], row(c), by_label_,
                       [&](std::int64_t entry, std::int64_t residual, std::int64_t n_examples) {
                           node.by_label[entry] += objective().position(residual, n_examples, counts(c));
                       });
        }
        return;
    }
    // Sums over positions first, all those with as many labels before them together.
    columns_.assign(static_cast<std::size_t>((order_ + 1) * width_), 0);
    n_cells_.assign(static_cast<std::size_t>(order_) + 1, 0);
    tree_kernels().sum_columns(cells + node.counted.begin, node.counted.size(), data_.depth_at.data(), order_,
                               residuals_, width_, columns_.data(), n_cells_.data());
    for (std::int64_t m = 0; m <= order_; ++m) {
        if (n_cells_[m] == 0) continue;
        add_labels(node, m, columns_.data() + m * width_, by_label_,
                   [&](std::int64_t entry, std::int64_t residual, std::int64_t n_examples) {
                       const Sums one = one_position(0, n_examples * one_example());
                       node.by_label[entry] += Sums{residual, one.packed * n_cells_[m]};
                   });
    }
}

// The same for many cells at once, where rows are narrow; returns how many cells, in others_, are left to
// count.
std::int64_t Grower::count_narrow(Node& node, const std::int32_t* cells, std::int64_t n) {
    const HistorySet& set = node.of->set;
    std::int64_t allowed[8] = {}, out[4 * 8];
    std::int64_t n_allowed = 0;
    for (std::int64_t v = 0; v < k_; ++v) {
        allowed[v] = set.allowed(0, v) ? -1 : 0;
        n_allowed += set.allowed(0, v);
    }
    others_.resize(static_cast<std::size_t>(n));
    const std::int64_t left = tree_kernels().newton_columns(
        cells, n, data_.depth_at.data(), residuals_, width_, allowed, kCountShift, out, others_.data());
    for (std::int64_t v = 0; v < k_ && n > left; ++v) {
        if (!allowed[v] || set.size(0) < 2) continue;
        Sums* entry = node.by_label.data() + label_entry(0, v);
        entry[0] += Sums{out[v], out[width_ + v]};
        if (n_allowed > 1) entry[1] += Sums{out[2 * width_ + v], out[3 * width_ + v]};
    }
    return left;
}

// The residuals of positions with m labels before them, summed by history, summed by label:
// put(entry, residual, examples) for each entry that they bring something to. by_label: room for the sums.
template <class Column, class Real, class Put>
void Grower::add_labels(const Node& node, std::int64_t m, const Column* columns, std::vector<Real>& by_label,
                        Put put) const {
    const Members& members = node.of->members[m];
    const auto n_members = static_cast<std::int64_t>(members.size());
    Real all = 0;
    for (const std::int32_t h : members) all += columns[h];
    for (std::int64_t lag = 0; lag < order_; ++lag) {
        if (node.of->set.size(lag) < 2) continue;
        if (lag >= m) {
            put(label_entry(lag, k_), all, n_members);
            continue;
        }
        std::fill(by_label.begin(), by_label.end(), Real{0});
        for (const std::int32_t h : members)
            by_label[m == 1 ? h : node.of->set.label(h, m, lag)] += columns[h];
        const std::int64_t n_values = node.of->set.size(lag) - node.of->set.allowed(lag, k_);
        const std::int64_t part = n_members / std::max<std::int64_t>(n_values, 1);
        for (std::int64_t v = 0; v < k_; ++v) {
            if (!node.of->set.allowed(lag, v)) continue;
            const std::int64_t entry = label_entry(lag, v);
            put(entry, by_label[v], part);
            if (n_members > part) put(entry + 1, all - by_label[v], n_members - part);
        }
    }
}

// The same where positions are there in parts.
void Grower::count_histories_of_parts(Node& node) {
    node.in_parts.assign(node.by_label.size(), PartSums{});
    const std::int32_t* cells = layers_[node.layer].cells.data();
    const Sums* sums = sums_[node.layer].data();
    const float* parts = parts_[node.layer].data();
    if (objective().newton && order_ == 1 && k_ <= 8) {
        count_narrow_parts(node);
    } else if (objective().newton) {
        for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
            const std::int32_t c = cells[i];
            const double part = counts(c) * parts[i];
            const auto counted = static_cast<double>(sums[i].count());
            add_labels(node, data_.depth_at[c], row(c), by_label_,
                       [&](std::int64_t entry, std::int64_t residual, std::int64_t) {
                           const double r = static_cast<double>(residual) / kResidualUnit;
                           PartSums& to = node.in_parts[entry];
                           to.residual += part * r;
                           to.weight += part * curvature(r);
                           to.count += counted;
                       });
        }
    } else {
        part_columns_.assign(static_cast<std::size_t>((order_ + 1) * (width_ + 2)), 0.0);
        for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
            const std::int32_t c = cells[i];
            const double part = counts(c) * parts[i];
            double* to = part_columns_.data() + data_.depth_at[c] * (width_ + 2);
            for (std::int64_t h = 0; h < width_; ++h) to[h] += part * row(c)[h];
            to[width_] += part;
            to[width_ + 1] += static_cast<double>(sums[i].count());
        }
        for (std::int64_t m = 0; m <= order_; ++m) {
            const double* of = part_columns_.data() + m * (width_ + 2);
            if (of[width_] == 0) continue;
            add_labels(node, m, of, part_by_label_,
                       [&](std::int64_t entry, double residual, std::int64_t n_examples) {
                           PartSums& to = node.in_parts[entry];
                           to.residual += residual / kResidualUnit;
                           to.weight += of[width_] * static_cast<double>(n_examples);
                           to.count += of[width_ + 1];
                       });
        }
    }
    round_labels(node);
}

// Newton's, of order 1, where labels are few: without asking for each position which ones there are.
void Grower::count_narrow_parts(Node& node) {
    const std::int32_t* cells = layers_[node.layer].cells.data();
    const Sums* sums = sums_[node.layer].data();
    const float* parts = parts_[node.layer].data();
    double allowed[8] = {}, r_one[8] = {}, w_one[8] = {}, r_rest[8] = {}, w_rest[8] = {};
    double n_counted = 0, n_allowed = 0;
    for (std::int64_t v = 0; v < k_; ++v) n_allowed += allowed[v] = node.of->set.allowed(0, v) ? 1.0 : 0.0;
    PartSums at_start;
    const double unit = 1 / kResidualUnit;
    const std::int64_t k = k_;
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = cells[i];
        const std::int32_t* residuals = row(c);
        const double part = counts(c) * parts[i];
        const auto counted = static_cast<double>(sums[i].count());
        if (data_.depth_at[c] == 0) {
            const double r = residuals[0] * unit;
            at_start.residual += part * r;
            at_start.weight += part * curvature(r);
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
            r_one[v] += part * r;
            w_one[v] += part * curvature(r);
            r_rest[v] += part * rest;
            w_rest[v] += part * curvature(rest);
        }
    }
    if (node.of->set.size(0) < 2) return;
    for (std::int64_t v = 0; v < k_; ++v) {
        if (allowed[v] == 0) continue;
        PartSums* to = node.in_parts.data() + label_entry(0, v);
        to[0] = {r_one[v], w_one[v], n_counted};
        if (n_allowed > 1) to[1] = {r_rest[v], w_rest[v], n_counted};
    }
    if (node.of->set.allowed(0, k_)) node.in_parts[label_entry(0, k_)] = at_start;
}

void Grower::round_labels(Node& node) const {
    for (std::size_t e = 0; e < node.in_parts.size(); ++e) {
        const PartSums& of = node.in_parts[e];
        const auto weight = std::llrint(std::max(of.weight, 0.0) * objective().weight_unit);
        node.by_label[e] = {std::llrint(of.residual * kResidualUnit),
                            (std::llrint(of.count) << kCountShift) + weight};
    }
}

// What the smaller side of a split leaves to the larger one.
void Grower::leave_labels_in_parts(Node& parent, const Node& small, Node& large) {
    large.by_label = std::move(parent.by_label);
    large.in_parts = std::move(parent.in_parts);
    if (large.in_parts.empty()) {
        for (const Sums& sums : large.by_label)
            large.in_parts.push_back(
                {objective().residual(sums), objective().weight(sums), static_cast<double>(sums.count())});
    }
    for (std::size_t e = 0; e < large.in_parts.size(); ++e) {
        large.in_parts[e].residual -= small.in_parts[e].residual;
        large.in_parts[e].weight -= small.in_parts[e].weight;
        large.in_parts[e].count -= small.in_parts[e].count;
    }
    round_labels(large);
}

// Of a split on a previous label, positions may be on both sides: the number of each side is its own.
void Grower::consider_histories(Node& node) {
    const double before = objective().merit(node.total);
    for (std::int64_t lag = 0; lag < order_; ++lag) {
        if (node.of->set.size(lag) < 2) continue;
        if (rules_.uses_subsets()) {
            consider_label_sets(node, lag);
            continue;
        }
        const Sums at_start = node.by_label[label_entry(lag, k_)];
        for (std::int64_t v = 0; v <= k_; ++v) {
            if (!node.of->set.allowed(lag, v)) continue;
            const Sums* entry = node.by_label.data() + label_entry(lag, v);
            Sums no = v < k_ ? entry[1] : node.total;
            // Where the lag reaches beyond the start, all examples of the position are on one side.
            if (v < k_) {
                no += at_start;
            } else {
                no -= at_start;
            }
            const double gain = objective().gain(entry[0], no, before);
            if (gain > node.gain) {
                node.gain = gain;
                node.best = {-1, static_cast<std::int32_t>(lag), static_cast<std::int32_t>(v), {}};
            }
        }
    }
}

// Sets of labels: in the order of their heights, every prefix against the rest, counted exactly.
void Grower::consider_label_sets(Node& node, std::int64_t lag) {
    const HistorySet& set = node.of->set;
    std::vector<std::int32_t> labels;
    for (std::int32_t v = 0; v <= k_; ++v) {
        if (set.allowed(lag, v) && node.by_label[label_entry(lag, v)].packed != 0) labels.push_back(v);
    }
    const auto height = [&](std::int32_t v) {
        const Sums& sums = node.by_label[label_entry(lag, v)];
        return objective().residual(sums) / (objective().weight(sums) + 1e-3);
    };
    std::stable_sort(labels.begin(), labels.end(), [&](auto a, auto b) { return height(a) > height(b); });
    std::vector<std::size_t> rank(static_cast<std::size_t>(k_) + 1, labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) rank[labels[i]] = i;
    std::vector<std::vector<std::size_t>> ranks(node.of->members.size());  // of the members, by depth
    for (std::size_t m = 0; m < ranks.size(); ++m) {
        for (const std::int32_t h : node.of->members[m]) {
            ranks[m].push_back(rank[set.label(h, static_cast<std::int64_t>(m), lag)]);
        }
    }
    std::vector<Sums> yes(labels.size()), no(labels.size());
    std::vector<std::int64_t> residual(labels.size() + 1), examples(labels.size() + 1);
    const auto brings = [&](std::int64_t sum, std::int64_t n, std::int64_t i) {
        const std::int32_t c = layers_[node.layer].cells[i];
        if (!node.has_parts) return brought(sum, n, c);
        return brought(sum, n, c, parts_[node.layer][i], sums_[node.layer][i].count());
    };
    for (std::int64_t i = node.counted.begin; i < node.counted.end; ++i) {
        const std::int32_t c = layers_[node.layer].cells[i];
        const std::int32_t depth = data_.depth_at[c];
        const Members& members = node.of->members[depth];
        std::fill(residual.begin(), residual.end(), 0);
        std::fill(examples.begin(), examples.end(), 0);
        std::int64_t all = 0;
        for (std::size_t j = 0; j < members.size(); ++j) {
            const std::int64_t r = row(c)[members[j]];
            residual[ranks[depth][j]] += r;
            ++examples[ranks[depth][j]];
            all += r;
        }
        const auto n_all = static_cast<std::int64_t>(members.size());
        std::int64_t sum = 0, n = 0;
        for (std::size_t r = 0; r < labels.size(); ++r) {
            sum += residual[r];
            n += examples[r];
            if (n > 0) yes[r] += brings(sum, n, i);
            if (n < n_all) no[r] += brings(all - sum, n_all - n, i);
        }
    }
    const double before = objective().merit(node.total);
    for (std::size_t r = 0; r + 1 < labels.size(); ++r) {
        const double gain = objective().gain(yes[r], no[r], before);
        if (!(gain > node.gain)) continue;
        node.gain = gain;
        std::vector<std::int32_t> chosen(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(r) + 1);
        std::sort(chosen.begin(), chosen.end());
        node.best = {-1, static_cast<std::int32_t>(lag), chosen[0], {chosen.begin() + 1, chosen.end()}};
    }
}

Grower::Children Grower::divide_histories(Node& parent) {
    const std::int64_t lag = parent.best.lag;
    const HistorySet& set = parent.of->set;
    const std::size_t layer = new_layer();
    const CellOrder& from = layers_[parent.layer];
    CellOrder& to = layers_[layer];
    const std::int64_t n = parent.counted.size(), n_all = n + parent.others.size();
    to.cells.resize(static_cast<std::size_t>(n_all));
    to.indexed = from.indexed;
    to.where.resize(data_.position.size());
    for (std::int64_t i = n; i < n_all; ++i) to.place(i, from.cells[parent.others.begin + i - n]);
    sums_[layer].resize(static_cast<std::size_t>(n));
    const Test& test = parent.best;
    Node yes = make_node(layer, {0, n}, {n, n_all},
                         std::make_shared<Histories>(set.only(lag, test.label, test.alternatives), order_,
                                                     objective().newton));
    Node no = make_node(parent.layer, parent.counted, parent.others,
                        std::make_shared<Histories>(set.without(lag, test.label, test.alternatives), order_,
                                                    objective().newton));
    if (splits_positions_) parts_[layer].resize(static_cast<std::size_t>(n));
    yes.has_parts = no.has_parts = parent.has_parts;
    load_both(yes, no);
    if (splits_positions_) {
        for (Node* child : {&yes, &no}) child->n = count_examples(*child, child->counted);
    }
    return {std::move(yes), std::move(no)};
}

// The positions of `no` shared out: each side keeps those where it has an example.
void Grower::load_both(Node& yes, Node& no) {
    const Members *in = yes.of->members.data(), *out = no.of->members.data();
    const auto size = [](const Members& members) { return static_cast<std::int64_t>(members.size()); };
    if (additive() && !yes.has_parts && order_ == 1 &&
        size(in[1]) == 1) {  // the usual case, without a loop or a branch
        const std::int64_t n_in[] = {size(in[0]), 1}, n_out[] = {size(out[0]), size(out[1])};
        const std::int64_t unit = one_example();
        share_out(
            yes, no,
            [&, label = in[1][0], all = residuals_, width = width_, unit](
                std::int32_t c, std::int64_t depth, const Sums& both, double, Sums& to_yes, Sums& to_no) {
                const std::int64_t rest = both.residual;
                const std::int64_t residual = n_in[depth] * all[c * width + depth * label];
                to_yes.set_position(residual, n_in[depth] * unit);
                to_no.set_position(rest - residual, n_out[depth] * unit);
            });
        return;
    }
    const auto over = [&](const Members& members, std::int32_t c) {
        std::int64_t residual = 0;
        for (const std::int32_t h : members) residual += row(c)[h];
        return residual;
    };
    if (yes.has_parts) {
        share_out(yes, no,
                  [&](std::int32_t c, std::int64_t depth, const Sums& both, double part, Sums& to_yes,
                      Sums& to_no) {
                      const std::int64_t counted = both.count();
                      to_yes = brought(over(in[depth], c), size(in[depth]), c, part, counted);
                      to_no = brought(over(out[depth], c), size(out[depth]), c, part, counted);
                  });
        return;
    }
    share_out(yes, no,
              [&](std::int32_t c, std::int64_t depth, const Sums& both, double, Sums& to_yes, Sums& to_no) {
                  const std::int64_t residual = over(in[depth], c), rest = both.residual - residual;
                  to_yes = brought(residual, size(in[depth]), c);
                  to_no = brought(weights_ ? over(out[depth], c) : rest, size(out[depth]), c);
              });
}

// bring(cell, depth, what it brought before, how much of it is there, yes, no) writes what both sides have of
// a position; `no` may be what it brought before. What a side does not keep is written too, and the next one
// over it: that is quicker than to ask.
template <class Bring>
void Grower::share_out(Node& yes, Node& no, Bring bring) {
    CellOrder& to_no = layers_[no.layer];
    CellOrder& to_yes = layers_[yes.layer];
    std::int32_t *yes_cells = to_yes.cells.data(), *yes_where = to_yes.where.data();
    Sums *yes_sums = sums_[yes.layer].data(), *no_sums = sums_[no.layer].data();
    const std::uint8_t *depths = data_.depth_at.data(), *yes_has = yes.of->has.data(),
                       *no_has = no.of->has.data();
    const std::int64_t end = no.counted.end;
    const bool indexed = to_yes.indexed;
    float *yes_parts = parts_[yes.layer].data(), *no_parts = parts_[no.layer].data();
    std::int64_t i = 0, j = no.counted.begin;
    for (std::int64_t at = j; at < end; ++at) {
        const std::int32_t c = to_no.cells[at];
        const float part = splits_positions_ ? no_parts[at] : 1.0f;
        bring(c, depths[c], no_sums[at], part, yes_sums[i], no_sums[j]);
        if (splits_positions_) yes_parts[i] = no_parts[j] = part;
        yes_cells[i] = c;
        if (indexed) yes_where[c] = static_cast<std::int32_t>(i);
        if (j != at) to_no.place(j, c);
        i += yes_has[depths[c]];
        j += no_has[depths[c]];
    }
    yes.counted.end = i;
    no.counted.end = j;
}

void Grower::study_divided_histories(Node& parent, Node& yes, Node& no) {
    if (!additive() || parent.has_parts || !parent.best.alternatives.empty() || !is_large(yes)) {
        spare_.push_back(std::move(parent.histogram));
        study(yes);
        study(no);
        return;
    }
    study(yes);
    // Residuals and examples of the rest are what is left. Its positions are all there were while the lag
    // allows another label; those where it was the last one have gone to `yes`.
    const std::int64_t lag = parent.best.lag;
    const bool shared =
        parent.best.label < k_ && no.of->set.size(lag) > (no.of->set.allowed(lag, k_) ? 1 : 0);
    const auto take = [&](Sums& from, const Sums& part) {
        from -= part;
        if (shared) from.packed += part.count() << kCountShift;
    };
    no.histogram = std::move(parent.histogram);
    no.total = parent.total;
    take(no.total, yes.total);
    for (std::int32_t e = 0; e < map_->n_places(); ++e) {
        take(no.histogram->entries[e], yes.histogram->entries[e]);
    }
    if (order_ == 1) {
        leave_labels(parent, no);
    } else {
        count_histories(no);
    }
    find_best(no, *no.histogram, false);
}

// Order 1: what is left of the sums by label when one label goes. Every position that has another label keeps
// it.
void Grower::leave_labels(Node& parent, Node& no) const {
    if (!no.of->divisible) return;
    no.by_label = std::move(parent.by_label);
    const std::int64_t gone = parent.best.label;
    Sums& part = no.by_label[label_entry(0, gone)];
    const std::int64_t left = no.of->set.size(0) - no.of->set.allowed(0, k_);
    for (std::int64_t v = 0; v < k_ && gone < k_; ++v) {
        Sums& others = no.by_label[label_entry(0, v) + 1];
        others = left > 1 ? others - Sums{part.residual, part.raw_weight()} : Sums{};
    }
    part = {};
}

}  // namespace hedgerow
