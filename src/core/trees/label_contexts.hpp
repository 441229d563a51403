// Sets of label contexts as products: for each lag a set of labels, `start` among them. A split on a previous
// label divides one factor, so every node of a tree has such a product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hedgerow {

// Which labels lag j = 1..order may hold: allowed(j - 1, v), where v = K stands for `start`.
class LabelContextSet {
  public:
    LabelContextSet(std::int64_t n_labels, std::int64_t order)
        : k_(n_labels), order_(order), allowed_(static_cast<std::size_t>(order * (n_labels + 1)), 1) {}

    bool allowed(std::int64_t lag, std::int64_t v) const { return allowed_[lag * (k_ + 1) + v] != 0; }
    std::int64_t size(std::int64_t lag) const {
        return std::count(allowed_.begin() + lag * (k_ + 1), allowed_.begin() + (lag + 1) * (k_ + 1), 1);
    }

    // The contexts whose label at `lag` is v or one of `others`; and the contexts whose label is not.
    LabelContextSet only(std::int64_t lag, std::int32_t v, const std::vector<std::int32_t>& others) const {
        LabelContextSet part = without(lag, v, others);
        for (std::int64_t i = lag * (k_ + 1); i < (lag + 1) * (k_ + 1); ++i)
            part.allowed_[i] = allowed_[i] && !part.allowed_[i];
        return part;
    }
    LabelContextSet without(std::int64_t lag, std::int32_t v, const std::vector<std::int32_t>& others) const {
        LabelContextSet part = *this;
        part.allowed_[lag * (k_ + 1) + v] = 0;
        for (const std::int32_t u : others) part.allowed_[lag * (k_ + 1) + u] = 0;
        return part;
    }

    // The label at a lag of context h, a number of m digits in base K with the most recent label first; K
    // (start) beyond them.
    std::int64_t label(std::int64_t h, std::int64_t m, std::int64_t lag) const {
        if (lag >= m) return k_;
        for (std::int64_t skip = m - 1 - lag; skip > 0; --skip) h /= k_;
        return h % k_;
    }

    // The contexts of m labels that belong to the set, ascending.
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

// The label contexts of a node, listed for growing.
struct NodeContexts {
    LabelContextSet set;
    std::vector<std::vector<std::int32_t>> members;  // by depth: the contexts of so many labels
    std::vector<std::uint8_t> has;                   // by depth: whether there are any
    std::vector<double> n_examples;                  // by depth: examples of a position; 1 in Newton mode
    bool divisible = false;                          // whether a test of a previous label can divide them

    NodeContexts(const LabelContextSet& contexts, std::int64_t order, bool newton) : set(contexts) {
        for (std::int64_t m = 0; m <= order; ++m) {
            members.push_back(contexts.members(m));
            has.push_back(!members.back().empty());
            n_examples.push_back(newton ? 1.0 : static_cast<double>(members.back().size()));
        }
        for (std::int64_t lag = 0; lag < order; ++lag) divisible |= contexts.size(lag) > 1;
    }
};

}  // namespace hedgerow
