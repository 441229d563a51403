// The growth policy: which node is split next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hedgerow {

// Splits the node with the greatest gain, of equals the first, until the tree has max_leaves leaves or no
// split gains anything. split(parent, is_last) returns the two children of a node that is no longer in
// `nodes`.
template <class Node, class Split>
void split_best_first(std::vector<Node>& nodes, std::int64_t max_leaves, Split split) {
    for (std::int64_t leaves = 1; leaves < max_leaves; ++leaves) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < nodes.size(); ++i) {
            if (nodes[i].gain > nodes[best].gain) best = i;
        }
        if (!(nodes[best].gain > 0)) break;
        Node parent = std::move(nodes[best]);
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(best));
        auto [yes, no] = split(parent, leaves + 1 == max_leaves);
        nodes.push_back(std::move(yes));
        nodes.push_back(std::move(no));
    }
}

}  // namespace hedgerow
