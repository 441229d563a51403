#include "forest.hpp"

#include <algorithm>
#include <map>

#include "histories.hpp"

namespace hedgerow {
namespace {

template <class T>
std::int64_t size_of(const std::vector<T>& list) {
    return static_cast<std::int64_t>(list.size());
}

}  // namespace

Forest::Forest(const std::vector<SlotIds>& slots, std::int64_t n_ids, std::int64_t n_labels,
               std::int64_t order, bool shared)
    : slots_(slots),
      n_ids_(n_ids),
      k_(n_labels),
      order_(order),
      n_histories_(1),
      shared_(shared),
      trees_(static_cast<std::size_t>(n_labels)),
      simple_(static_cast<std::size_t>(n_ids), -1) {
    n_before_ = {0, 1};
    for (std::int64_t m = 0; m < order; ++m) {
        n_histories_ *= n_labels;
        n_before_.push_back(n_before_.back() + n_histories_);
    }
    width_ = (k_ + 15) / 16 * 16;
}

std::int32_t Forest::number_of(const Test& test) {
    const auto next = static_cast<std::int32_t>(named_.size());
    if (test.others.empty() && simple_[test.id] >= 0) return simple_[test.id];
    if (test.others.empty()) simple_[test.id] = next;
    named_.push_back({test.id, test.others, next});
    return next;
}

// The splits on what is read, and the leaves with their sets. A test on previous labels divides no positions:
// both its sides have the set of the node.
std::vector<Forest::Leaf> Forest::add_splits(const std::vector<TreeNode>& nodes) {
    const std::int64_t first = size_of(splits_);
    std::vector<std::int32_t> sets(nodes.size(), 1);
    std::vector<Leaf> leaves;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const TreeNode& node = nodes[i];
        if (node.test.is_leaf()) {
            leaves.push_back({i, sets[i]});
        } else if (node.test.id < 0) {
            sets[node.if_true] = sets[node.if_false] = sets[i];
        } else {
            const auto yes = static_cast<std::int32_t>(2 + 2 * (size_of(splits_) - first));
            splits_.push_back({sets[i], number_of(node.test)});
            sets[node.if_true] = yes;
            sets[node.if_false] = yes + 1;
        }
    }
    most_sets_ = std::max(most_sets_, 2 + 2 * (size_of(splits_) - first));
    return leaves;
}

void Forest::add(std::int64_t label, const std::vector<TreeNode>& nodes) {
    const std::int64_t first_split = size_of(splits_), first_part = size_of(parts_);
    const std::vector<Leaf> leaves = add_splits(nodes);
    std::vector<HistorySet> speaks_of(nodes.size(), HistorySet(k_, order_));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Test& test = nodes[i].test;
        if (test.is_leaf()) continue;
        const HistorySet& here = speaks_of[i];
        const bool reads = test.id >= 0;
        speaks_of[nodes[i].if_true] = reads ? here : here.only(test.lag, test.label, test.others);
        speaks_of[nodes[i].if_false] = reads ? here : here.without(test.lag, test.label, test.others);
    }
    std::vector<std::vector<std::int32_t>> reached(static_cast<std::size_t>(n_before_.back()));
    for (std::size_t j = 0; j < leaves.size(); ++j) {
        for (std::int64_t m = 0; m <= order_; ++m) {
            for (const std::int32_t h : speaks_of[leaves[j].node].members(m))
                reached[n_before_[m] + h].push_back(static_cast<std::int32_t>(j));
        }
    }
    std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> classes;
    for (std::size_t h = 0; h < reached.size(); ++h)
        classes[reached[h]].push_back(static_cast<std::int32_t>(h));
    for (const auto& one : classes) {
        const Part rows{0, 0, 0, size_of(rows_), size_of(one.second)};
        rows_.insert(rows_.end(), one.second.begin(), one.second.end());
        std::vector<Leaf> its;
        for (const std::int32_t j : one.first) its.push_back(leaves[j]);
        add_class(its, nodes, rows);
    }
    trees_[label].push_back(
        {first_split, size_of(splits_) - first_split, first_part, size_of(parts_) - first_part});
}

// One part where the leaves are few: the first need not be looked for, it has what the others leave.
void Forest::add_class(const std::vector<Leaf>& leaves, const std::vector<TreeNode>& nodes,
                       const Part& rows) {
    const bool few = size_of(leaves) <= kMostEntries;
    for (std::size_t j = 0; j < leaves.size();) {
        Part part = rows;
        part.first_entry = size_of(entries_);
        part.first_value = size_of(values_);
        entries_.push_back(0);
        values_.push_back(few ? static_cast<float>(nodes[leaves[j++].node].value) : 0.0f);
        part.n_entries = 1;
        for (; part.n_entries < kMostEntries && j < leaves.size(); ++j, ++part.n_entries) {
            entries_.push_back(leaves[j].set);
            values_.push_back(static_cast<float>(nodes[leaves[j].node].value));
        }
        for (; part.n_entries % 8 != 0; ++part.n_entries) entries_.push_back(0);
        const std::int64_t size = part.n_entries <= 16 ? 16 : part.n_entries <= 32 ? 32 : kMostEntries;
        values_.resize(static_cast<std::size_t>(part.first_value + size), 0.0f);
        parts_.push_back(part);
    }
}

void Forest::add_shared(const std::vector<TreeNode>& nodes, const float* rows) {
    const std::int64_t first_split = size_of(splits_);
    const std::vector<Leaf> leaves = add_splits(nodes);
    trees_[0].push_back({first_split, size_of(splits_) - first_split, size_of(parts_), 1});
    parts_.push_back({size_of(entries_), size_of(leaves), size_of(values_), 0, 0});
    for (const Leaf& leaf : leaves) {
        const float* row = rows + static_cast<std::int64_t>(leaf.node) * k_;
        entries_.push_back(leaf.set);
        values_.insert(values_.end(), row, row + k_);
        values_.resize(values_.size() + static_cast<std::size_t>(width_ - k_), 0.0f);
    }
}

// Turns tests by number into tests by id: a threshold holds for every bin up to it.
void Forest::finish() {
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;  // (id, test)
    for (const NamedTest& test : named_) {
        const auto after = std::upper_bound(slots_.begin(), slots_.end(), test.id,
                                            [](std::int32_t id, const SlotIds& s) { return id < s.first; });
        const SlotIds& slot = *(after - 1);
        const bool threshold = slot.numeric && test.id < slot.first + slot.n_values;
        for (std::int32_t id = threshold ? slot.first : test.id; id <= test.id; ++id)
            pairs.emplace_back(id, test.number);
        for (const std::int32_t id : test.others) pairs.emplace_back(id, test.number);
    }
    std::sort(pairs.begin(), pairs.end());
    test_starts_.assign(static_cast<std::size_t>(n_ids_) + 1, 0);
    for (const auto& pair : pairs) ++test_starts_[pair.first + 1];
    for (std::size_t i = 1; i < test_starts_.size(); ++i) test_starts_[i] += test_starts_[i - 1];
    for (const auto& pair : pairs) tests_.push_back(pair.second);
}

Forest::Work Forest::make_work() const {
    Work work;
    work.masks.assign(named_.size(), PositionBits{});
    work.holds.assign(named_.size(), 0);
    work.depths.assign(static_cast<std::size_t>(kChunkPositions), 0);
    work.sets.assign(static_cast<std::size_t>(most_sets_), PositionBits{});
    work.sums.resize(static_cast<std::size_t>((shared_ ? width_ : n_before_.back()) * kChunkPositions));
    return work;
}

void Forest::add_scores(Work& work, std::int64_t n, float* scores) const {
    const TreeKernels& kernels = tree_kernels();
    const Replay replay{splits_.data(), parts_.data(), entries_.data(),
                        values_.data(), rows_.data(),  work.masks.data()};
    work.sets[1] = {};
    for (std::int64_t i = 0; i < n; ++i) insert(work.sets[1], i);
    for (std::int64_t label = 0; label < k_; ++label) {
        if (trees_[label].empty()) continue;
        std::fill(work.sums.begin(), work.sums.end(), 0.0f);
        for (const FlatTree& tree : trees_[label]) {
            kernels.divide(replay, tree, n, work.sets.data());
            if (shared_) {
                kernels.add_rows(replay, tree, work.sets.data(), n, width_, work.sums.data());
            } else {
                kernels.add_values(replay, tree, work.sets.data(), n, work.sums.data());
            }
        }
        spread(work, n, label, scores);
    }
    for (const std::int32_t test : work.touched) {
        work.masks[test] = {};
        work.holds[test] = 0;
    }
    work.touched.clear();
}

// Adds sums to scores (n positions, histories, labels).
void Forest::spread(const Work& work, std::int64_t n, std::int64_t label, float* scores) const {
    if (shared_) {
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t y = 0; y < k_; ++y) scores[i * k_ + y] += work.sums[i * width_ + y];
        }
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t first = n_before_[work.depths[i]], last = n_before_[work.depths[i] + 1];
        float* to = scores + i * n_histories_ * k_ + label;
        for (std::int64_t h = first; h < last; ++h, to += k_) *to += work.sums[h * kChunkPositions + i];
    }
}

}  // namespace hedgerow
