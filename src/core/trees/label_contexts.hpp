// Sets of label contexts as products: for each lag a set of labels, `start` among them. A split on a previous
// label divides one factor, so every node of a tree has such a product.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

// Which labels lag j = 1..order may hold: allowed(j - 1, v), where v = K stands for `start`.
class LabelContextSet {
  public:
    LabelContextSet(std::int64_t n_labels, std::int64_t order)
        : k_(n_labels), order_(order), allowed_(static_cast<std::size_t>(order * (n_labels + 1)), 1) {}

    bool allowed(std::int64_t lag, std::int64_t v) const { return allowed_[lag * (k_ + 1) + v] != 0; }
    std::int64_t size(std::int64_t lag) const;

    // The contexts whose label at `lag` is v or one of `others`; and the contexts whose label is not.
    LabelContextSet only(std::int64_t lag, std::int32_t v, const std::vector<std::int32_t>& others) const;
    LabelContextSet without(std::int64_t lag, std::int32_t v, const std::vector<std::int32_t>& others) const;

    // The label at a lag of context h, a number of m digits in base K with the most recent label first; K
    // (start) beyond them.
    std::int64_t label(std::int64_t h, std::int64_t m, std::int64_t lag) const;

    // The contexts of m labels that belong to the set, ascending.
    std::vector<std::int32_t> members(std::int64_t m) const;

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

    NodeContexts(const LabelContextSet& contexts, std::int64_t order, bool newton);
};

}  // namespace hedgerow
