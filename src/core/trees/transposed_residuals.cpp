#include "trees/transposed_residuals.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "trees/growth_kernels.hpp"
#include "util/parallel.hpp"
#include "util/small_constant.hpp"

namespace hedgerow {

constexpr std::int64_t kTile = 256;  // positions that a thread transposes at a time

constexpr std::int64_t width_of(std::int64_t n_contexts) {
    return n_contexts <= 2 ? n_contexts : n_contexts <= 4 ? 4 : (n_contexts + 7) / 8 * 8;
}

TransposedResiduals::TransposedResiduals(const TreeData& data, std::int64_t n_labels)
    : data_(data), k_(n_labels), n_contexts_of_{1} {
    for (std::int64_t m = 0; m < data.order; ++m) n_contexts_of_.push_back(n_contexts_of_.back() * n_labels);
    n_contexts_ = n_contexts_of_.back();
    width_ = width_of(n_contexts_);
}

// Threads call make_visit() once each, then visit(first position, last position).
template <class MakeVisit>
void TransposedResiduals::by_tiles(std::int64_t n_threads, MakeVisit make_visit) const {
    const std::int64_t n_tiles = (data_.n_positions + kTile - 1) / kTile;
    parallel_for(n_tiles, n_threads, [&] {
        return [&, visit = make_visit()](std::int64_t i) mutable {
            visit(i * kTile, std::min((i + 1) * kTile, data_.n_positions));
        };
    });
}

// visit(label contexts, labels): constants of the compiler for trees of order 0, and of order 1 with few
// labels.
template <class Visit>
void TransposedResiduals::with_sizes(Visit visit) const {
    if (n_contexts_ == 1) return visit(std::integral_constant<std::int64_t, 1>{}, k_);
    if (n_contexts_ != k_) return visit(n_contexts_, k_);
    with_small_constant(k_, [&](auto k) { visit(k, k); });
}

void TransposedResiduals::load(const float* marginals, const std::int32_t* gold,
                               std::vector<std::int64_t> labels, std::int64_t n_threads) {
    labels_ = std::move(labels);
    const auto n_labels = static_cast<std::int64_t>(labels_.size());
    residuals_.resize(static_cast<std::size_t>(n_labels * size_of_label()));
    place_of_.assign(static_cast<std::size_t>(k_), -1);
    for (std::int64_t i = 0; i < n_labels; ++i) place_of_[labels_[i]] = i;
    const std::int64_t size = n_contexts_ * k_;
    by_tiles(n_threads, [&] {
        return [&, tile = std::vector<std::int32_t>(static_cast<std::size_t>(kTile * size))](
                   std::int64_t begin, std::int64_t end) mutable {
            growth_kernels().negate(marginals + begin * size, (end - begin) * size, tile.data());
            transpose(tile.data(), begin, end);
            add_gold(gold, begin, end);
        };
    });
}

// tile: (positions from `begin` on, label contexts, labels). Contexts that a position does not have are 0.
void TransposedResiduals::transpose(const std::int32_t* tile, std::int64_t begin, std::int64_t end) {
    const auto n_labels = static_cast<std::int64_t>(labels_.size());
    with_sizes([&, labels = labels_.data(), to_next = size_of_label()](auto n_contexts, auto k) {
        const std::int64_t width = width_of(n_contexts);
        for (std::int64_t t = begin; t < end; ++t) {
            const std::int32_t* from = tile + (t - begin) * n_contexts * k;
            std::int32_t* to = residuals_.data() + data_.cell[t] * width;
            const std::int64_t n = n_contexts_of_[data_.depth[t]];
            for (std::int64_t i = 0; i < n_labels; ++i, to += to_next) {
                for (std::int64_t h = 0; h < n_contexts; ++h) to[h] = h < n ? from[h * k + labels[i]] : 0;
                for (std::int64_t h = n_contexts; h < width; ++h) to[h] = 0;
            }
        }
    });
}

// Adds 1 where label and label context are gold.
void TransposedResiduals::add_gold(const std::int32_t* gold, std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
        const std::int64_t i = place_of_[gold[t]];
        if (i < 0) continue;
        std::int64_t context = 0;  // the gold labels before t, the most recent first
        for (std::int64_t back = 1; back <= data_.depth[t]; ++back) context = context * k_ + gold[t - back];
        of_label(i)[data_.cell[t] * width_ + context] += 1 << 30;
    }
}

void TransposedResiduals::add_to(float* scores, std::int64_t n_threads) const {
    const auto n_labels = static_cast<std::int64_t>(labels_.size());
    const auto add = [&](std::int64_t begin, std::int64_t end) {
        with_sizes([&, labels = labels_.data(), to_next = size_of_label()](auto n_contexts, auto k) {
            for (std::int64_t t = begin; t < end; ++t) {
                const std::int32_t* from = residuals_.data() + data_.cell[t] * width_of(n_contexts);
                float* to = scores + t * n_contexts * k;
                for (std::int64_t i = 0; i < n_labels; ++i, from += to_next) {
                    for (std::int64_t h = 0; h < n_contexts; ++h)
                        to[h * k + labels[i]] += std::bit_cast<float>(from[h]);
                }
            }
        });
    };
    by_tiles(n_threads, [&] { return add; });
}

}  // namespace hedgerow
