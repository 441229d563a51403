// A sparse vector: numbers by feature, in a hash table that is cleared without freeing memory.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

class FeatureSums {
  public:
    void clear() {
        for (const std::size_t at : used_) keys_[at] = kFree;
        used_.clear();
    }
    void add(std::int64_t feature, double amount) {
        if (2 * (used_.size() + 1) > keys_.size()) grow();
        const std::size_t at = find(feature);
        if (keys_[at] == kFree) {
            keys_[at] = feature;
            sums_[at] = 0;
            used_.push_back(at);
        }
        sums_[at] += amount;
    }
    double operator[](std::int64_t feature) const {
        if (keys_.empty()) return 0;
        const std::size_t at = find(feature);
        return keys_[at] == kFree ? 0.0 : sums_[at];
    }

  private:
    static constexpr std::int64_t kFree = -1;

    std::size_t find(std::int64_t feature) const {
        const std::size_t mask = keys_.size() - 1;
        std::size_t at = (static_cast<std::uint64_t>(feature) * 0x9E3779B97F4A7C15u >> 32) & mask;
        while (keys_[at] != kFree && keys_[at] != feature) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        std::vector<std::int64_t> keys(keys_.empty() ? 1024 : 2 * keys_.size(), kFree);
        std::vector<double> sums(keys.size());
        keys.swap(keys_);
        sums.swap(sums_);
        std::vector<std::size_t> used;
        used.swap(used_);
        for (const std::size_t from : used) {
            const std::size_t at = find(keys[from]);
            keys_[at] = keys[from];
            sums_[at] = sums[from];
            used_.push_back(at);
        }
    }

    std::vector<std::int64_t> keys_;
    std::vector<double> sums_;
    std::vector<std::size_t> used_;
};

}  // namespace hedgerow
