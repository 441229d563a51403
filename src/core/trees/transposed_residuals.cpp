#include "trees/transposed_residuals.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "trees/growth_kernels.hpp"
#include "util/parallel.hpp"
#include "util/small_constant.hpp"

namespace hedgerow {

constexpr std::int64_t kTile = 256;  // positions that a thread transposes at a time

TransposedResiduals::TransposedResiduals(const TreeData& data, std::int64_t n_labels)
    : data_(data), k_(n_labels), n_contexts_of_{1} {
    for (std::int64_t m = 0; m < data.order; ++m) n_contexts_of_.push_back(n_contexts_of_.back() * n_labels);
    n_contexts_ = n_contexts_of_.back();
    width_ = n_contexts_ <= 2 ? n_contexts_ : n_contexts_ <= 4 ? 4 : (n_contexts_ + 7) / 8 * 8;
}

// visit(first position, last position)
template <class Visit>
void TransposedResiduals::by_tiles(std::int64_t n_threads, Visit visit) const {
    const std::int64_t n_tiles = (data_.n_positions + kTile - 1) / kTile;
    parallel_for(n_tiles, n_threads, [&] {
        return [&](std::int64_t i) { visit(i * kTile, std::min((i + 1) * kTile, data_.n_positions)); };
    });
}

void TransposedResiduals::load(const float* marginals, const std::int32_t* gold,
                               std::vector<std::int64_t> labels, std::int64_t n_threads) {
    labels_ = std::move(labels);
    const auto n_labels = static_cast<std::int64_t>(labels_.size());
    residuals_.resize(static_cast<std::size_t>(n_labels * size_of_label()));
    std::vector<std::int64_t> place_of(static_cast<std::size_t>(k_), -1);
    for (std::int64_t i = 0; i < n_labels; ++i) place_of[labels_[i]] = i;
    by_tiles(n_threads, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t size = n_contexts_ * k_;
        std::vector<std::int32_t> tile(static_cast<std::size_t>((end - begin) * size));
        growth_kernels().negate(marginals + begin * size, (end - begin) * size, tile.data());
        transpose(tile, begin, end);
        for (std::int64_t t = begin; t < end; ++t) {
            const std::int64_t i = place_of[gold[t]];
            if (i < 0) continue;
            std::int64_t context = 0;  // the gold labels before t, the most recent first
            for (std::int64_t back = 1; back <= data_.depth[t]; ++back)
                context = context * k_ + gold[t - back];
            of_label(i)[data_.cell[t] * width_ + context] += 1 << 30;
        }
    });
}

// tile: (positions from `begin` on, label contexts, labels). Contexts that a position does not have are 0.
void TransposedResiduals::transpose(const std::vector<std::int32_t>& tile, std::int64_t begin,
                                    std::int64_t end) {
    with_small_constant(n_contexts_, [&](auto n_contexts) {
        for (std::int64_t t = begin; t < end; ++t) {
            const std::int32_t* from = tile.data() + (t - begin) * n_contexts * k_;
            std::int32_t* to = residuals_.data() + data_.cell[t] * width_;
            const std::int64_t n = n_contexts_of_[data_.depth[t]];
            for (const std::int64_t label : labels_) {
                for (std::int64_t h = 0; h < n_contexts; ++h) to[h] = h < n ? from[h * k_ + label] : 0;
                for (std::int64_t h = n_contexts; h < width_; ++h) to[h] = 0;
                to += size_of_label();
            }
        }
    });
}

void TransposedResiduals::add_to(float* scores, std::int64_t n_threads) const {
    by_tiles(n_threads, [&](std::int64_t begin, std::int64_t end) {
        with_small_constant(n_contexts_, [&](auto n_contexts) {
            for (std::int64_t t = begin; t < end; ++t) {
                const std::int32_t* from = residuals_.data() + data_.cell[t] * width_;
                float* to = scores + t * n_contexts * k_;
                for (const std::int64_t label : labels_) {
                    for (std::int64_t h = 0; h < n_contexts; ++h)
                        to[h * k_ + label] += std::bit_cast<float>(from[h]);
                    from += size_of_label();
                }
            }
        });
    });
}

}  // namespace hedgerow
