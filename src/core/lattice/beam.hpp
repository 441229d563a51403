// Pruning: of the new nodes of a position, the beam keeps the best.
//
// With a bound the best are those of the largest beliefs. The belief of a node is its share of the sum of
// exp(value) over the position: the value is the logarithm of the forward message, or the score of the best
// path (Pal, Sutton & McCallum 2006). A distribution that is cut off and scaled up diverges from the whole by
// -log of the mass that is kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lattice/fast_lane.hpp"
#include "lattice/views.hpp"

namespace hedgerow {

// `kept` <- the indices, counted from `begin`, of the nodes that a beam of fixed size keeps, in their order.
// Of equal values the first is kept.
template <class Node, class Semiring>
void choose_best(std::int64_t begin, std::int64_t size, std::int64_t also, const std::vector<Node>& nodes,
                 const Semiring& semiring, std::vector<std::int32_t>& kept) {
    kept.resize(nodes.size() - static_cast<std::size_t>(begin));
    std::iota(kept.begin(), kept.end(), 0);
    const auto better = [&](std::int32_t a, std::int32_t b) {
        const double of_a = semiring.value(begin + a), of_b = semiring.value(begin + b);
        return of_a != of_b ? of_a > of_b : a < b;
    };
    std::nth_element(kept.begin(), kept.begin() + size - 1, kept.end(), better);
    const auto besides = std::find_if(kept.begin() + size, kept.end(),
                                      [&](std::int32_t i) { return nodes[begin + i].state == also; });
    const bool found = besides != kept.end();
    if (found) std::iter_swap(kept.begin() + size, besides);
    kept.resize(static_cast<std::size_t>(size + found));
    std::sort(kept.begin(), kept.end());
}

// The same for a beam with a bound.
template <class Node, class Semiring>
void choose_mass(std::int64_t begin, double allowance, std::int64_t also, const std::vector<Node>& nodes,
                 const Semiring& semiring, std::vector<std::int32_t>& kept) {
    const auto n = static_cast<std::int64_t>(nodes.size()) - begin;
    std::vector<double> logs(static_cast<std::size_t>(n + kPadding));
    std::vector<std::int32_t> heap(static_cast<std::size_t>(n));
    std::int64_t besides = -1;
    for (std::int64_t i = 0; i < n; ++i) {
        logs[i] = semiring.value(begin + i);
        if (nodes[begin + i].state == also) besides = i;
    }
    kept.resize(static_cast<std::size_t>(n));
    kept.resize(static_cast<std::size_t>(
        fast_lane<double>().keep_mass(logs.data(), n, allowance, besides, kept.data(), heap.data())));
}

// Of the nodes from `begin` on, keeps those that the beam chooses and the node whose state is `also`, in
// their order.
template <class Node, class Semiring>
void prune(std::int64_t begin, const Beam& beam, std::int64_t also, std::vector<Node>& nodes,
           Semiring& semiring) {
    const auto n = static_cast<std::int64_t>(nodes.size()) - begin;
    if (n == 0 || beam.keeps_all() || (beam.bound == 0 && n <= beam.size)) return;
    std::vector<std::int32_t> kept;
    if (beam.bound > 0) {
        choose_mass(begin, beam.allowance(), also, nodes, semiring, kept);
    } else {
        choose_best(begin, beam.size, also, nodes, semiring, kept);
    }
    std::int64_t to = begin;
    for (const std::int32_t from : kept) {
        nodes[to] = nodes[begin + from];
        semiring.move(begin + from, to++);
    }
    nodes.resize(to);
    semiring.resize(to);
}

}  // namespace hedgerow
