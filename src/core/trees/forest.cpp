#include "trees/forest.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "trees/label_contexts.hpp"

namespace hedgerow {
namespace {

template <class List>
std::int64_t size_of(const List& list) {
    return static_cast<std::int64_t>(list.size());
}

}  // namespace

Forest::Forest(const AttributeView& attributes, std::int64_t n_labels, std::int64_t order, bool shared)
    : slots_(slot_ids(attributes)),
      n_ids_(attributes.n_ids),
      k_(n_labels),
      order_(order),
      n_contexts_(1),
      shared_(shared),
      trees_(static_cast<std::size_t>(n_labels)),
      simple_(static_cast<std::size_t>(n_ids_), -1) {
    n_before_ = {0, 1};
    for (std::int64_t m = 0; m < order; ++m) {
        n_contexts_ *= n_labels;
        n_before_.push_back(n_before_.back() + n_contexts_);
    }
    width_ = (k_ + 15) / 16 * 16;
}

std::vector<Forest::SlotIds> Forest::slot_ids(const AttributeView& attributes) {
    std::vector<SlotIds> found;
    auto end = static_cast<std::int32_t>(attributes.n_ids);
    for (std::int64_t s = attributes.slots.size - 1; s >= 0; --s) {
        const Slot& slot = attributes.slots[s];
        found.push_back(
            {slot.first_id, end - slot.first_id - (slot.padding >= 0), slot.column->bins != nullptr});
        end = slot.first_id;
    }
    std::ranges::reverse(found);
    return found;
}

void Forest::compile(const TreeRecordsView& trees) {
    const TreeLimits limits{n_ids_, k_, order_};
    check_layout(trees, limits);
    for (std::int64_t i = 0; i < trees.n_trees; ++i) {
        const std::vector<TreeNode> tree = read_tree(trees, i, limits);
        if (shared_) {
            add_shared(tree, trees.values + trees.starts[i] * k_);
        } else {
            add(trees.labels[i], tree);
        }
    }
    finish();
}

std::int32_t Forest::number_of(const Test& test) {
    const auto next = static_cast<std::int32_t>(named_.size());
    if (test.alternatives.empty() && simple_[test.attribute] >= 0) return simple_[test.attribute];
    if (test.alternatives.empty()) simple_[test.attribute] = next;
    named_.push_back({test.attribute, test.alternatives, next});
    return next;
}

std::int32_t Forest::slot_of(std::int32_t id) const {
    const auto after = std::ranges::upper_bound(slots_, id, {}, &SlotIds::first);
    return static_cast<std::int32_t>(after - slots_.begin()) - 1;
}

void Forest::add_missing_rule(const TreeNode& node) {
    splits_positions_ |= node.true_fraction > 0 && node.true_fraction < 1;
    missing_rules_.push_back({slot_of(node.test.attribute), static_cast<float>(node.true_fraction),
                              size_of(surrogates_), size_of(node.surrogates)});
    for (const std::int32_t one : node.surrogates) {
        const std::int32_t id = one < 0 ? ~one : one;
        surrogates_.push_back({number_of({id, -1, -1, {}}), slot_of(id), one < 0});
    }
}

// Adds the splits on attributes; returns the leaves with their sets. A test of a previous label divides no
// positions: both sides have the set of the node. Level by level, so that consecutive splits seldom depend on
// each other.
std::vector<Forest::Reached> Forest::add_splits(const std::vector<TreeNode>& nodes) {
    const std::int64_t first = size_of(splits_);
    std::vector<Reached> leaves;
    std::vector<Reached> found{{0, 1}};
    found.reserve(nodes.size());
    for (std::size_t at = 0; at < found.size(); ++at) {
        const auto [i, set] = found[at];
        const TreeNode& node = nodes[i];
        if (node.test.is_leaf()) {
            leaves.push_back({i, set});
        } else if (node.test.attribute < 0) {
            found.push_back({node.if_true, set});
            found.push_back({node.if_false, set});
        } else {
            const auto yes = static_cast<std::int32_t>(2 + 2 * (size_of(splits_) - first));
            splits_.push_back({set, number_of(node.test)});
            add_missing_rule(node);
            found.push_back({node.if_true, yes});
            found.push_back({node.if_false, yes + 1});
        }
    }
    most_sets_ = std::max(most_sets_, 2 + 2 * (size_of(splits_) - first));
    return leaves;
}

// For each label context of every length, the leaves that it can reach. Only tests of previous labels divide
// contexts.
std::vector<std::vector<std::int32_t>> Forest::leaves_by_context(const std::vector<TreeNode>& nodes,
                                                                 const std::vector<Reached>& leaves) const {
    std::vector<LabelContextSet> sets{LabelContextSet(k_, order_)};
    std::vector<std::size_t> set_of(nodes.size(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Test& test = nodes[i].test;
        if (test.is_leaf()) continue;
        const std::size_t here = set_of[i];
        set_of[nodes[i].if_true] = test.attribute >= 0 ? here : sets.size();
        set_of[nodes[i].if_false] = test.attribute >= 0 ? here : sets.size() + 1;
        if (test.attribute >= 0) continue;
        sets.push_back(sets[here].only(test.lag, test.label, test.alternatives));
        sets.push_back(sets[here].without(test.lag, test.label, test.alternatives));
    }
    std::vector<std::vector<std::int32_t>> members(sets.size());
    for (std::size_t s = 0; s < sets.size(); ++s) {
        for (std::int64_t m = 0; m <= order_; ++m) {
            for (const std::int32_t h : sets[s].members(m))
                members[s].push_back(static_cast<std::int32_t>(n_before_[m]) + h);
        }
    }
    std::vector<std::vector<std::int32_t>> found(static_cast<std::size_t>(n_before_.back()));
    for (std::size_t j = 0; j < leaves.size(); ++j) {
        for (const std::int32_t h : members[set_of[leaves[j].at]])
            found[h].push_back(static_cast<std::int32_t>(j));
    }
    return found;
}

void Forest::add(std::int64_t label, const std::vector<TreeNode>& nodes) {
    const std::int64_t first_split = size_of(splits_), first_part = size_of(parts_);
    const std::vector<Reached> leaves = add_splits(nodes);
    std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> classes;
    std::int32_t h = 0;
    for (std::vector<std::int32_t>& some : leaves_by_context(nodes, leaves))
        classes[std::move(some)].push_back(h++);
    for (const auto& one : classes) {
        const Part rows{0, 0, 0, size_of(rows_), size_of(one.second), 0};
        rows_.insert(rows_.end(), one.second.begin(), one.second.end());
        std::vector<Reached> its;
        for (const std::int32_t j : one.first) its.push_back(leaves[j]);
        add_class(its, nodes, rows);
    }
    trees_[label].push_back(
        {first_split, size_of(splits_) - first_split, first_part, size_of(parts_) - first_part});
}

// One part if there are few leaves: positions in none of the other sets get the value of the first leaf.
void Forest::add_class(const std::vector<Reached>& leaves, const std::vector<TreeNode>& nodes,
                       const Part& rows) {
    const bool few = size_of(leaves) <= kMostEntries;
    for (std::size_t j = 0; j < leaves.size();) {
        Part part = rows;
        part.first_entry = size_of(entries_);
        part.first_value = size_of(values_);
        entries_.push_back(0);
        if (few) part.first_set = leaves[j].set;
        values_.push_back(few ? static_cast<float>(nodes[leaves[j++].at].value) : 0.0f);
        part.n_entries = 1;
        for (; part.n_entries < kMostEntries && j < leaves.size(); ++j, ++part.n_entries) {
            entries_.push_back(leaves[j].set);
            values_.push_back(static_cast<float>(nodes[leaves[j].at].value));
        }
        for (; part.n_entries % 8 != 0; ++part.n_entries) entries_.push_back(0);
        const std::int64_t size = part.n_entries <= 16 ? 16 : part.n_entries <= 32 ? 32 : kMostEntries;
        values_.resize(static_cast<std::size_t>(part.first_value + size), 0.0f);
        parts_.push_back(part);
    }
}

void Forest::add_shared(const std::vector<TreeNode>& nodes, const float* rows) {
    const std::int64_t first_split = size_of(splits_);
    const std::vector<Reached> leaves = add_splits(nodes);
    trees_[0].push_back({first_split, size_of(splits_) - first_split, size_of(parts_), 1});
    parts_.push_back({size_of(entries_), size_of(leaves), size_of(values_), 0, 0, 0});
    for (const Reached& leaf : leaves) {
        const float* row = rows + static_cast<std::int64_t>(leaf.at) * k_;
        entries_.push_back(leaf.set);
        values_.insert(values_.end(), row, row + k_);
        values_.resize(values_.size() + static_cast<std::size_t>(width_ - k_), 0.0f);
    }
}

// Lists the thresholds of each slot, and for each attribute the other tests that hold where it is read.
void Forest::finish() {
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;  // (id, test)
    slot_tests_.resize(slots_.size());
    for (const NamedTest& test : named_) {
        const std::int32_t s = slot_of(test.attribute), value = test.attribute - slots_[s].first;
        SlotTests& tests = slot_tests_[s];
        tests.any = true;
        const bool threshold = slots_[s].numeric && value < slots_[s].n_values;
        if (threshold) tests.thresholds.push_back({test.number, static_cast<std::uint8_t>(value)});
        if (!threshold) pairs.emplace_back(test.attribute, test.number);
        for (const std::int32_t id : test.alternatives) pairs.emplace_back(id, test.number);
        tests.by_id |= !threshold || !test.alternatives.empty();
    }
    std::sort(pairs.begin(), pairs.end());
    test_of_.assign(static_cast<std::size_t>(n_ids_), kNoTest);
    for (auto pair = pairs.begin(); pair != pairs.end();) {
        const std::int32_t id = pair->first;
        const auto last = std::find_if(pair, pairs.end(), [&](const auto& p) { return p.first != id; });
        const bool alone = last - pair == 1;
        test_of_[id] = alone ? pair->second : ~static_cast<std::int32_t>(tests_.size());
        if (!alone) {
            for (auto p = pair; p != last; ++p) tests_.push_back(p->second);
            tests_.push_back(kNoTest);
        }
        pair = last;
    }
}

}  // namespace hedgerow
