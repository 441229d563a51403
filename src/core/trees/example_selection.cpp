#include "trees/example_selection.hpp"

#include <cstdlib>
#include <vector>

#include "trees/examples.hpp"
#include "util/random.hpp"

namespace hedgerow {
namespace {

constexpr std::uint64_t kOfSamples =
    0xD1B54A32D192ED03u;  // so that samples and tests are drawn independently

// The draw of an example: a hash of the key of its position and of its label context as a number in [0, 1).
class PositionDraws {
  public:
    PositionDraws(std::uint64_t seed, std::int64_t position)
        : key_(mix_bits((seed ^ kOfSamples) + kGoldenRatio64 * (static_cast<std::uint64_t>(position) + 1))) {}

    bool draws(std::int64_t context, double share) const {
        const std::uint64_t hash =
            mix_bits(key_ + kGoldenRatio64 * (static_cast<std::uint64_t>(context) + 1));
        return static_cast<double>(hash >> 11) < share * 0x1p53;
    }

  private:
    std::uint64_t key_;
};

}  // namespace

void leave_out_examples(const TreeData& data, const GrowthRules& rules, std::int64_t n_labels,
                        std::int64_t width, std::int64_t first_position, std::uint64_t seed,
                        std::int32_t* residuals) {
    if (!rules.leaves_out_examples()) return;
    const std::int64_t trim = rules.trims_examples() ? units_of_residual(rules.influence_trim) : 0;
    const double share = rules.example_share;
    std::vector<std::int64_t> n_contexts{1};  // by depth
    for (std::int64_t m = 0; m < data.order; ++m) n_contexts.push_back(n_contexts.back() * n_labels);
    for (std::int64_t t = 0; t < data.n_positions; ++t) {
        const PositionDraws position(seed, first_position + t);
        std::int32_t* row = residuals + data.cell[t] * width;
        for (std::int64_t h = 0; h < n_contexts[data.depth[t]]; ++h) {
            const bool kept =
                std::abs(std::int64_t{row[h]}) >= trim && (share >= 1 || position.draws(h, share));
            if (!kept) row[h] = kLeftOut;
        }
    }
}

}  // namespace hedgerow
