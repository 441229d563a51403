// Numeric values of dicts, before the columns are known.
//
// The (key, value) pairs are stored one after the other, so memory grows with the number of pairs, not with
// keys times positions. At the end a key becomes a dense column; but if many keys are absent at most
// positions, these keys become attributes of one bag, with their values as weights.
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

    // Removes and returns the positions where a key is missing; called when the key turns out not to be
    // numeric.
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
            if (2 * nonzero[static_cast<size_t>(key)] < n_positions() && missing_.count(key) == 0)
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

    struct Bag {
        std::vector<int64_t> starts;
        std::vector<int32_t> ids;    // rising within a position
        std::vector<float> weights;  // one per id
        bool has_weights = false;    // whether a weight differs from 1
    };

    // The bag of the folded keys. id_of: by key, the id in the bag, -1 if not folded. Values of 0 are absent.
    Bag bag(const std::vector<int32_t>& id_of) const {
        Bag bag;
        bag.starts.reserve(ends_.size() + 1);
        bag.starts.push_back(0);
        std::vector<std::pair<int32_t, float>> here;
        size_t entry = 0;
        for (const int64_t end : ends_) {
            here.clear();
            for (; entry < static_cast<size_t>(end); ++entry) {
                const int32_t id = id_of[static_cast<size_t>(keys_[entry])];
                if (id >= 0 && values_[entry] != 0.0f) here.emplace_back(id, values_[entry]);
            }
            std::sort(here.begin(), here.end());
            for (const auto& [id, weight] : here) {
                bag.ids.push_back(id);
                bag.weights.push_back(weight);
                bag.has_weights |= weight != 1.0f;
            }
            bag.starts.push_back(static_cast<int64_t>(bag.ids.size()));
        }
        return bag;
    }

  private:
    int64_t n_positions() const { return static_cast<int64_t>(ends_.size()); }

    std::vector<int32_t> keys_;
    std::vector<float> values_;
    std::vector<int64_t> ends_;  // end of the pairs of each position
    std::unordered_map<int32_t, std::vector<int64_t>> missing_;
};

}  // namespace hedgerow
