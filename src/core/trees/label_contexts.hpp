// Sets of histories as products: for each lag a set of labels, `start` among them. Splits on a previous label
// divide one factor, so every node of a tree keeps such a product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hedgerow {

// Which labels lag j = 1..order may hold: allowed(j - 1, v), where v = K stands for `start`.
class HistorySet {
  public:
    HistorySet(std::int64_t n_labels, std::int64_t order)
        : k_(n_labels), order_(order), allowed_(static_cast<std::size_t>(order * (n_labels + 1)), 1) {}

    bool allowed(std::int64_t lag, std::int64_t v) const { return allowed_[lag * (k_ + 1) + v] != 0; }
    std::int64_t size(std::int64_t lag) const {
        return std::count(allowed_.begin() + lag * (k_ + 1), allowed_.begin() + (lag + 1) * (k_ + 1), 1);
    }

    // The part where the label at `lag` is v or one of the others, and the rest.
    HistorySet only(std::int64_t lag, std::int32_t v, const std::vector<std::int32_t>& others) const {
        HistorySet part = without(lag, v, others);
        for (std::int64_t i = lag * (k_ + 1); i < (lag + 1) * (k_ + 1); ++i)
            part.allowed_[i] = allowed_[i] && !part.allowed_[i];
        return part;
    }
    HistorySet without(std::int64_t lag, std::int32_t v, const std::vector<std::int32_t>& others) const {
        HistorySet part = *this;
        part.allowed_[lag * (k_ + 1) + v] = 0;
        for (const std::int32_t u : others) part.allowed_[lag * (k_ + 1) + u] = 0;
        return part;
    }

    // The label that history h, made of m labels (most recent first, base K), has at a lag; K beyond them.
    std::int64_t label(std::int64_t h, std::int64_t m, std::int64_t lag) const {
        if (lag >= m) return k_;
        for (std::int64_t skip = m - 1 - lag; skip > 0; --skip) h /= k_;
        return h % k_;
    }

    // The histories of m labels that belong to the set, ascending.
    std::vector<std::int32_t> members(std::int64_t m) const {
        std::vector<std::int32_t> found;
        std::int64_t n = 1;
        for (std::int64_t i = 0; i < m; ++i) n *= k_;
        for (std::int64_t h = 0; h < n; ++h) {
            bool in = true;
            for (std::int64_t lag = 0; in && lag < order_; ++lag) in = allowed(lag, label(h, m, lag));
            if (in) found.push_back(static_cast<std::int32_t>(h));
        }
        return found;
    }

  private:
    std::int64_t k_, order_;
    std::vector<std::uint8_t> allowed_;
};

}  // namespace hedgerow
