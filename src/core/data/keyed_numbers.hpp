// Numeric values of dicts, before the columns are known.
//
// The (key, value) pairs are stored one after the other, so memory grows with the number of pairs, not with
// keys times positions. At the end a key becomes a dense column, or a member of a bag with its values as
// weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hedgerow {

// The rule of docs/sequences.md: keys that are never missing and differ from 0 at fewer than half of the
// positions are folded into a bag if there are at least this many such keys.
constexpr size_t kFewestFolded = 100;

class KeyedNumbers {
  public:
    // Adds a value at the current position; end_position() moves to the next one.
    void add(int32_t key, float value) {
        keys_.push_back(key);
        values_.push_back(value);
    }
    void add_missing(int32_t key, int64_t position) { missing_[key].push_back(position); }
    void end_position() { ends_.push_back(static_cast<int64_t>(keys_.size())); }

    bool is_missing_somewhere(int32_t key) const { return missing_.count(key) != 0; }

    // Removes and returns the positions where a key is missing; called when the key is not a column of
    // numbers.
    std::vector<int64_t> take_missing(int32_t key) {
        const auto found = missing_.find(key);
        if (found == missing_.end()) return {};
        std::vector<int64_t> positions = std::move(found->second);
        missing_.erase(found);
        return positions;
    }

    // The numeric keys to fold into one bag; empty if there are too few. All keys are below n_keys.
    std::vector<int32_t> keys_to_fold(const std::vector<int32_t>& numeric, size_t n_keys) const {
        if (numeric.size() < kFewestFolded) return {};
        std::vector<int64_t> nonzero(n_keys, 0);
        for (size_t entry = 0; entry < keys_.size(); ++entry)
            nonzero[static_cast<size_t>(keys_[entry])] += values_[entry] != 0.0f;
        std::vector<int32_t> rare;
        for (const int32_t key : numeric)
            if (2 * nonzero[static_cast<size_t>(key)] < n_positions() && !is_missing_somewhere(key))
                rare.push_back(key);
        return rare.size() < kFewestFolded ? std::vector<int32_t>{} : rare;
    }

    // The dense columns of some keys: a value per position, 0 where the key is absent, NaN where missing.
    std::vector<std::vector<float>> dense_columns(const std::vector<int32_t>& keys, size_t n_keys) const {
        std::vector<std::vector<float>> columns(keys.size());
        std::vector<float*> column_of(n_keys, nullptr);
        for (size_t c = 0; c < keys.size(); ++c) {
            columns[c].assign(static_cast<size_t>(n_positions()), 0.0f);
            column_of[static_cast<size_t>(keys[c])] = columns[c].data();
        }
        int64_t entry = 0;
        for (int64_t t = 0; t < n_positions(); ++t)
            for (; entry < ends_[static_cast<size_t>(t)]; ++entry) {
                float* column = column_of[static_cast<size_t>(keys_[static_cast<size_t>(entry)])];
                if (column != nullptr) column[t] = values_[static_cast<size_t>(entry)];
            }
        for (const auto& [key, positions] : missing_) {
            float* column =
                static_cast<size_t>(key) < column_of.size() ? column_of[static_cast<size_t>(key)] : nullptr;
            if (column == nullptr) continue;
            for (const int64_t t : positions) column[t] = std::numeric_limits<float>::quiet_NaN();
        }
        return columns;
    }

    // The bag that a key belongs to, and its id in that bag.
    struct Member {
        int32_t bag = -1;  // -1: the key is not in a bag
        int32_t id = -1;
    };
    struct Bag {
        std::vector<int64_t> missing;  // IN: positions where the whole bag is missing, rising
        std::vector<int64_t> starts{0};
        std::vector<int32_t> ids;    // rising within a position; only -1 where the bag is missing
        std::vector<float> weights;  // one per id
        bool has_weights = false;    // whether a weight differs from 1
    };

    // Fills the bags. member_of: by key. A value of 0 is absent.
    void fill_bags(std::vector<Bag>& bags, const std::vector<Member>& member_of) const {
        if (bags.empty()) return;
        for (Bag& bag : bags) bag.starts.reserve(ends_.size() + 1);
        std::vector<size_t> next_missing(bags.size(), 0);
        std::vector<std::pair<Member, float>> here;
        size_t entry = 0;
        for (size_t t = 0; t < ends_.size(); ++t) {
            here.clear();
            for (; entry < static_cast<size_t>(ends_[t]); ++entry) {
                const Member member = member_of[static_cast<size_t>(keys_[entry])];
                if (member.bag >= 0 && values_[entry] != 0.0f) here.emplace_back(member, values_[entry]);
            }
            std::sort(here.begin(), here.end(),
                      [](const auto& a, const auto& b) { return a.first.id < b.first.id; });
            for (const auto& [member, weight] : here)
                append(bags[static_cast<size_t>(member.bag)], member.id, weight);
            for (size_t b = 0; b < bags.size(); ++b)
                end_bag(bags[b], next_missing[b], static_cast<int64_t>(t));
        }
    }

  private:
    static void append(Bag& bag, int32_t id, float weight) {
        bag.ids.push_back(id);
        bag.weights.push_back(weight);
        bag.has_weights |= weight != 1.0f;
    }

    // Ends a bag at position t. A key "bag:member" may give members to a bag that is missing; then it is
    // known.
    static void end_bag(Bag& bag, size_t& next_missing, int64_t t) {
        if (next_missing < bag.missing.size() && bag.missing[next_missing] == t) {
            ++next_missing;
            if (static_cast<int64_t>(bag.ids.size()) == bag.starts.back()) append(bag, -1, 1.0f);
        }
        bag.starts.push_back(static_cast<int64_t>(bag.ids.size()));
    }

    int64_t n_positions() const { return static_cast<int64_t>(ends_.size()); }

    std::vector<int32_t> keys_;
    std::vector<float> values_;
    std::vector<int64_t> ends_;  // end of the pairs of each position
    std::unordered_map<int32_t, std::vector<int64_t>> missing_;
};

}  // namespace hedgerow
