#include "forest.hpp"

#include <algorithm>

#include "histories.hpp"

namespace hedgerow {

Forest::Forest(const std::vector<SlotIds>& slots, std::int64_t n_ids, std::int64_t n_labels,
               std::int64_t order, bool shared)
    : slots_(slots),
      n_ids_(n_ids),
      k_(n_labels),
      order_(order),
      n_histories_(1),
      shared_(shared),
      roots_(static_cast<std::size_t>(n_labels)),
      simple_(static_cast<std::size_t>(n_ids), -1) {
    for (std::int64_t m = 0; m < order; ++m) n_histories_ *= n_labels;
    width_ = shared ? (k_ + 3) / 4 * 4 : 1;
}

std::int32_t Forest::number_of(const Test& test) {
    const auto next = static_cast<std::int32_t>(named_.size());
    if (test.others.empty() && simple_[test.id] >= 0) return simple_[test.id];
    if (test.others.empty()) simple_[test.id] = next;
    named_.push_back({test.id, test.others, next});
    return next;
}

template <class AddRows>
void Forest::add_nodes(const std::vector<TreeNode>& nodes, AddRows add_rows) {
    const auto first = static_cast<std::int32_t>(nodes_.size());
    most_nodes_ = std::max(most_nodes_, nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const TreeNode& from = nodes[i];
        if (from.test.is_leaf()) {
            nodes_.push_back({kLeaf,
                              static_cast<std::int32_t>(static_cast<std::int64_t>(rows_.size()) / width_),
                              static_cast<std::int32_t>(member_starts_.size())});
            add_rows(i);
        } else {
            nodes_.push_back({from.test.id >= 0 ? number_of(from.test) : kHistory, first + from.if_true,
                              first + from.if_false});
        }
    }
}

void Forest::add(std::int64_t label, const std::vector<TreeNode>& nodes) {
    roots_[label].push_back(static_cast<std::int32_t>(nodes_.size()));
    std::vector<HistorySet> sets(nodes.size(), HistorySet(k_, order_));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const TreeNode& from = nodes[i];
        if (from.test.is_leaf()) continue;
        const bool reads = from.test.id >= 0;
        sets[from.if_true] = reads ? sets[i] : sets[i].only(from.test.lag, from.test.label, from.test.others);
        sets[from.if_false] =
            reads ? sets[i] : sets[i].without(from.test.lag, from.test.label, from.test.others);
    }
    add_nodes(nodes, [&](std::size_t i) {
        rows_.push_back(static_cast<float>(nodes[i].value));
        for (std::int64_t m = 0; m <= order_; ++m) {
            member_starts_.push_back(static_cast<std::int32_t>(members_.size()));
            for (const std::int32_t h : sets[i].members(m)) members_.push_back(h);
        }
        member_starts_.push_back(static_cast<std::int32_t>(members_.size()));
    });
}

void Forest::add_shared(const std::vector<TreeNode>& nodes, const float* rows) {
    roots_[0].push_back(static_cast<std::int32_t>(nodes_.size()));
    add_nodes(nodes, [&](std::size_t i) {
        const float* row = rows + static_cast<std::int64_t>(i) * k_;
        rows_.insert(rows_.end(), row, row + k_);
        rows_.resize(rows_.size() + static_cast<std::size_t>(width_ - k_), 0.0f);
    });
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
    work.at_depth.assign(static_cast<std::size_t>(order_) + 1, PositionBits{});
    work.waiting.resize(most_nodes_ + 1);
    work.sums.resize(static_cast<std::size_t>((shared_ ? width_ : n_histories_) * kChunkPositions));
    return work;
}

void Forest::add_scores(Work& work, std::int64_t n, float* scores) const {
    const TreeKernels& kernels = tree_kernels();
    const Replay trees{
        nodes_.data(), work.masks.data(),     work.holds.data(), work.at_depth.data(), order_, rows_.data(),
        width_,        member_starts_.data(), members_.data()};
    PositionBits all{};
    for (std::int64_t i = 0; i < n; ++i) insert(all, i);
    for (std::int64_t label = 0; label < k_; ++label) {
        if (roots_[label].empty()) continue;
        std::fill(work.sums.begin(), work.sums.end(), 0.0f);
        for (const std::int32_t root : roots_[label]) {
            kernels.replay(trees, root, all, work.waiting.data(), work.sums.data());
        }
        if (shared_) {
            for (std::int64_t i = 0; i < n; ++i) {
                for (std::int64_t y = 0; y < k_; ++y) scores[i * k_ + y] += work.sums[i * width_ + y];
            }
            continue;
        }
        for (std::int64_t h = 0; h < n_histories_; ++h) {
            const float* sums = work.sums.data() + h * kChunkPositions;
            float* to = scores + h * k_ + label;
            for (std::int64_t i = 0; i < n; ++i) to[i * n_histories_ * k_] += sums[i];
        }
    }
    for (const std::int32_t test : work.touched) {
        work.masks[test] = {};
        work.holds[test] = 0;
    }
    work.touched.clear();
    for (PositionBits& bits : work.at_depth) bits = {};
}

}  // namespace hedgerow
