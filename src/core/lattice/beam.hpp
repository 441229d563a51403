// Pruning: of the new nodes of a position, the beam keeps the best.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace hedgerow {

// Of the nodes from `begin` on, keeps the `beam` nodes of highest value and the node whose state is `also`,
// in their order. Of equal values the first is kept.
template <class Node, class Semiring>
void prune(std::int64_t begin, std::int64_t beam, std::int64_t also, std::vector<Node>& nodes,
           Semiring& semiring) {
    const auto end = static_cast<std::int64_t>(nodes.size());
    if (beam == 0 || end - begin <= beam) return;
    std::vector<std::int64_t> kept(static_cast<std::size_t>(end - begin));
    std::iota(kept.begin(), kept.end(), begin);
    const auto better = [&](std::int64_t a, std::int64_t b) {
        return semiring.value(a) != semiring.value(b) ? semiring.value(a) > semiring.value(b) : a < b;
    };
    std::nth_element(kept.begin(), kept.begin() + beam - 1, kept.end(), better);
    const auto besides =
        std::find_if(kept.begin() + beam, kept.end(), [&](std::int64_t i) { return nodes[i].state == also; });
    const bool found = besides != kept.end();
    if (found) std::iter_swap(kept.begin() + beam, besides);
    kept.resize(static_cast<std::size_t>(beam + found));
    std::sort(kept.begin(), kept.end());
    std::int64_t to = begin;
    for (const std::int64_t from : kept) {
        nodes[to] = nodes[from];
        semiring.move(from, to++);
    }
    nodes.resize(to);
    semiring.resize(to);
}

}  // namespace hedgerow
