#include "grower.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hedgerow {

Grower::Grower(const TreeData& data, std::int64_t n_labels, std::int64_t order, const GrowthRules& rules,
               const double* weights)
    : data_(data),
      k_(n_labels),
      order_(order),
      rules_(rules),
      weights_(weights),
      by_label_(static_cast<std::size_t>(n_labels) + 1) {}

const std::vector<TreeNode>& Grower::grow(const std::int32_t* residuals, std::int64_t n_histories) {
    residuals_ = residuals;
    n_histories_ = n_histories;
    tree_.clear();
    nodes_.clear();
    n_layers_ = 0;
    const std::size_t first = new_layer();
    layers_[first].fill(data_);
    sums_[first].resize(layers_[first].cells.size());
    Node root = make_node(first, 0, data_.n_positions, std::make_shared<Histories>(HistorySet(k_, order_), order_));
    load(root);
    count(root);
    find_best(root);
    nodes_.push_back(std::move(root));
    for (std::int64_t leaves = 1; leaves < rules_.max_leaves; ++leaves) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < nodes_.size(); ++i) {
            if (nodes_[i].gain > nodes_[best].gain) best = i;
        }
        if (!(nodes_[best].gain > 0)) break;
        split(best);
    }
    for (Node& node : nodes_) {
        if (node.histogram) spare_.push_back(std::move(node.histogram));
    }
    return tree_;
}

Grower::Node Grower::make_node(std::size_t layer, std::int64_t begin, std::int64_t end,
                               std::shared_ptr<const Histories> of) {
    tree_.emplace_back();
    return {static_cast<std::int32_t>(tree_.size()) - 1, layer, begin, end, std::move(of), {}, {}, 0, nullptr};
}

std::size_t Grower::new_layer() {
    if (n_layers_ == layers_.size()) {
        layers_.emplace_back();
        sums_.emplace_back();
    }
    return n_layers_++;
}

// Sums the residuals of each position over the node's histories; positions without an example fall away.
void Grower::load(Node& node) {
    CellOrder& layer = layers_[node.layer];
    std::vector<Sums>& sums = sums_[node.layer];
    std::int64_t to = node.begin;
    for (std::int64_t i = node.begin; i < node.end; ++i) {
        const std::int32_t c = layer.cells[i], t = data_.position[c];
        const auto& members = node.of->members[data_.depth[t]];
        if (members.empty()) continue;
        std::int64_t residual = 0;
        for (const std::int32_t h : members) residual += residuals_[t * n_histories_ + h];
        layer.cells[to] = c;
        sums[to] = rules_.objective.position(residual, static_cast<std::int64_t>(members.size()), counts(t));
        layer.where[c] = static_cast<std::int32_t>(to++);
    }
    node.end = to;
}

std::unique_ptr<Histogram> Grower::take_histogram() {
    const auto size = static_cast<std::size_t>(data_.n_entries + 2 * order_ * (k_ + 1));
    if (spare_.empty()) return std::make_unique<Histogram>(size);
    std::unique_ptr<Histogram> histogram = std::move(spare_.back());
    spare_.pop_back();
    std::fill(histogram->begin(), histogram->end(), Sums{});
    return histogram;
}

void Grower::count(Node& node) {
    node.histogram = take_histogram();
    count_attributes(node);
    count_histories(node);
}

void Grower::count_attributes(Node& node) {
    const std::int32_t* cells = layers_[node.layer].cells.data();
    const Sums* sums = sums_[node.layer].data();
    node.total = {};
    for (std::int64_t i = node.begin; i < node.end; ++i) node.total += sums[i];
    for (const TreeData::Slot& slot : data_.slots) {
        Sums* entries = node.histogram->data() + slot.first_entry;
        if (slot.column->kind != TreeData::Kind::bag) {
            const std::int32_t* codes = slot.column->codes.data() + slot.offset;
            for (std::int64_t i = node.begin; i < node.end; ++i) entries[codes[cells[i]]] += sums[i];
        } else {
            for (std::int64_t i = node.begin; i < node.end; ++i) {
                data_.read(slot, cells[i], [&](std::int32_t value) { entries[value] += sums[i]; });
            }
        }
    }
}

// For each lag and label: the sums where the previous label is that one, and where it is another. Histories
// are a product set, so each label that a lag allows has as many examples as any other.
void Grower::count_histories(Node& node) {
    if (order_ == 0) return;
    std::vector<std::vector<std::int64_t>> columns(node.of->members.size());
    std::vector<std::int64_t> n_cells(node.of->members.size(), 0);
    for (std::size_t m = 0; m < columns.size(); ++m) columns[m].resize(node.of->members[m].size());
    for (std::int64_t i = node.begin; i < node.end; ++i) {
        const std::int32_t t = data_.position[layers_[node.layer].cells[i]];
        const std::int64_t m = data_.depth[t];
        const std::int32_t* row = residuals_ + t * n_histories_;
        const std::vector<std::int32_t>& members = node.of->members[m];
        for (std::size_t j = 0; j < members.size(); ++j) columns[m][j] += row[members[j]];
        ++n_cells[m];
        if (additive()) continue;
        add_labels(node, m, 1, counts(t), columns[m]);
        std::fill(columns[m].begin(), columns[m].end(), 0);
    }
    for (std::size_t m = 0; additive() && m < columns.size(); ++m) {
        if (n_cells[m] > 0) add_labels(node, static_cast<std::int64_t>(m), n_cells[m], 1.0, columns[m]);
    }
}

// Adds the residuals of `n` positions, summed for each member history of m labels, to the entries by label.
void Grower::add_labels(Node& node, std::int64_t m, std::int64_t n, double count,
                        const std::vector<std::int64_t>& columns) {
    const std::vector<std::int32_t>& members = node.of->members[m];
    const auto n_members = static_cast<std::int64_t>(members.size());
    const auto brings = [&](std::int64_t residual, std::int64_t n_examples) {
        Sums sums = rules_.objective.position(n == 1 ? residual : 0, n_examples, count);
        return n == 1 ? sums : Sums{residual, sums.packed * n};
    };
    const std::int64_t all = std::accumulate(columns.begin(), columns.end(), std::int64_t{0});
    for (std::int64_t lag = 0; lag < order_; ++lag) {
        if (node.of->set.size(lag) < 2) continue;
        if (lag >= m) {
            (*node.histogram)[label_entry(lag, k_)] += brings(all, n_members);
            continue;
        }
        std::fill(by_label_.begin(), by_label_.end(), 0);
        for (std::int64_t j = 0; j < n_members; ++j) {
            by_label_[m == 1 ? members[j] : node.of->set.label(members[j], m, lag)] += columns[j];
        }
        const std::int64_t n_values = node.of->set.size(lag) - node.of->set.allowed(lag, k_);
        const std::int64_t part = n_members / std::max<std::int64_t>(n_values, 1);
        for (std::int64_t v = 0; v < k_; ++v) {
            if (!node.of->set.allowed(lag, v)) continue;
            Sums* entry = node.histogram->data() + label_entry(lag, v);
            entry[0] += brings(by_label_[v], part);
            if (n_members > part) entry[1] += brings(all - by_label_[v], n_members - part);
        }
    }
}

// Ties go to the test that comes first: attributes by id, then previous labels by lag and label, start last.
void Grower::find_best(Node& node) {
    node.gain = 0;
    node.best = {};
    const Sums* entries = node.histogram->data();
    const Objective& objective = rules_.objective;
    const double before = objective.merit(node.total);
    const auto consider = [&](const Sums& yes, const Sums& no, const Test& test) {
        if (!objective.large_enough(yes) || !objective.large_enough(no)) return;
        const double gain = objective.merit(yes) + objective.merit(no) - before;
        if (gain > node.gain) {
            node.gain = gain;
            node.best = test;
        }
    };
    for (const TreeData::Slot& slot : data_.slots) {
        const Sums* entry = entries + slot.first_entry;
        const bool ordered = slot.column->kind == TreeData::Kind::numeric;
        Sums below;
        for (std::int64_t v = 0; v < slot.n_ids(); ++v) {
            const bool threshold = ordered && v < slot.column->n_values;
            if (threshold) below += entry[v];
            const Sums& yes = threshold ? below : entry[v];
            if (yes.packed == 0) continue;
            consider(yes, node.total - yes, {slot.first_id + static_cast<std::int32_t>(v), -1, -1});
        }
    }
    // Of a split on a previous label, positions may be on both sides: the number of each side is its own.
    for (std::int64_t lag = 0; lag < order_; ++lag) {
        if (node.of->set.size(lag) < 2) continue;
        const Sums at_start = entries[label_entry(lag, k_)];
        for (std::int64_t v = 0; v <= k_; ++v) {
            if (!node.of->set.allowed(lag, v)) continue;
            const Sums* entry = entries + label_entry(lag, v);
            Sums no = v < k_ ? entry[1] : node.total;
            // Where the lag reaches beyond the start, all examples of the position are on one side.
            if (v < k_) {
                no += at_start;
            } else {
                no -= at_start;
            }
            consider(entry[0], no, {-1, static_cast<std::int32_t>(lag), static_cast<std::int32_t>(v)});
        }
    }
    TreeNode& tree = tree_[node.tree];
    tree.value = rules_.objective.value(node.total);
    tree.count = node.total.count();
}

void Grower::split(std::size_t i) {
    Node parent = std::move(nodes_[i]);
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(i));
    auto children = parent.best.id >= 0 ? split_positions(parent) : split_histories(parent);
    TreeNode& tree = tree_[parent.tree];
    tree.test = parent.best;
    tree.gain = parent.gain;
    tree.if_true = children.first.tree;
    tree.if_false = children.second.tree;
    find_best(children.first);
    find_best(children.second);
    nodes_.push_back(std::move(children.first));
    nodes_.push_back(std::move(children.second));
}

std::pair<Grower::Node, Grower::Node> Grower::split_positions(Node& parent) {
    const TreeData::Slot& slot = data_.slot_of(parent.best.id);
    std::vector<Sums>& sums = sums_[parent.layer];
    const std::int64_t middle =
        layers_[parent.layer].partition(data_, slot, parent.best.id - slot.first_id, parent.begin, parent.end,
                                        [&](std::int64_t i, std::int64_t j) { std::swap(sums[i], sums[j]); });
    Node yes = make_node(parent.layer, parent.begin, middle, parent.of);
    Node no = make_node(parent.layer, middle, parent.end, parent.of);
    const bool yes_is_smaller = yes.end - yes.begin <= no.end - no.begin;
    Node& small = yes_is_smaller ? yes : no;
    Node& large = yes_is_smaller ? no : yes;
    count(small);
    large.histogram = std::move(parent.histogram);
    large.total = parent.total - small.total;
    for (std::size_t e = 0; e < large.histogram->size(); ++e) (*large.histogram)[e] -= (*small.histogram)[e];
    return {std::move(yes), std::move(no)};
}

std::pair<Grower::Node, Grower::Node> Grower::split_histories(Node& parent) {
    const std::int64_t lag = parent.best.lag, v = parent.best.label;
    const std::size_t layer = new_layer();
    const std::vector<std::int32_t>& cells = layers_[parent.layer].cells;
    layers_[layer].cells.assign(cells.begin() + parent.begin, cells.begin() + parent.end);
    layers_[layer].where.resize(data_.position.size());
    sums_[layer].resize(layers_[layer].cells.size());
    Node yes = make_node(layer, 0, parent.end - parent.begin,
                         std::make_shared<Histories>(parent.of->set.only(lag, v), order_));
    Node no = make_node(parent.layer, parent.begin, parent.end,
                        std::make_shared<Histories>(parent.of->set.without(lag, v), order_));
    load(yes);
    count(yes);
    load(no);
    if (!additive()) {
        spare_.push_back(std::move(parent.histogram));
        count(no);
        return {std::move(yes), std::move(no)};
    }
    // Residuals and examples of the rest are what is left. Its positions are all there were while the lag
    // allows another label; those where it was the last one have gone to `yes`.
    const bool shared = v < k_ && no.of->set.size(lag) > (no.of->set.allowed(lag, k_) ? 1 : 0);
    const auto take = [&](Sums& from, const Sums& part) {
        from -= part;
        if (shared) from.packed += part.count() << kCountShift;
    };
    no.histogram = std::move(parent.histogram);
    no.total = parent.total;
    take(no.total, yes.total);
    for (std::int64_t e = 0; e < data_.n_entries; ++e) take((*no.histogram)[e], (*yes.histogram)[e]);
    std::fill(no.histogram->begin() + data_.n_entries, no.histogram->end(), Sums{});
    count_histories(no);
    return {std::move(yes), std::move(no)};
}

}  // namespace hedgerow
