// Linear scores: score(t, y) = sum over the attributes a of position t of value(t, a) weight(a, y).
#pragma once

#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/features.hpp"
#include "linear/linear_kernels.hpp"
#include "util/append_buffer.hpp"

namespace hedgerow {

// The weights of features, laid out for scoring. Each attribute has an entry. An attribute with one weight
// stores the weight in its entry, an attribute with few weights stores them next to each other, and any other
// attribute has a row of weights for all outputs.
class Scorer {
  public:
    Scorer(const Features& features, const float* weights);
    // All weights are 0 and can be changed by set_weights().
    explicit Scorer(const Features& features);

    // weights: of the features of the attribute, all of them. Only for a scorer of the second kind.
    void set_weights(std::int64_t attribute, const Features& features, const float* weights);

    // OUT: scores (positions first..last, width). A position with fewer than `skip` positions before it in
    // its sequence gets 0.
    void score(const AttributeView& attributes, std::int64_t first, std::int64_t last, std::int64_t skip,
               float* scores, std::int64_t n_threads) const;
    // The same on this thread; never polls for interrupts.
    void score_range(const AttributeView& attributes, std::int64_t first, std::int64_t last,
                     std::int64_t skip, float* scores) const;

  private:
    static constexpr std::int32_t kNone = -1, kRow = -2;  // kRow - n: n weights in few_
    struct Entry {
        std::int32_t output;  // or one of the constants above
        union {
            float weight;      // of the only output
            std::uint32_t at;  // number of the row, or first index in few_
        };
    };
    struct Read {
        std::int32_t id;  // -1: no attribute
        float value;
    };
    struct Tile;

    template <class IsStored>
    void lay_out(const Features& features, IsStored is_stored);
    void score_tile(Tile& tile, float* scores) const;
    void gather(Tile& tile, std::int64_t p, float* scores) const;
    void add_read(const Read& read, AppendBuffer<WeightedRow>& rows, float* scores) const;

    std::int64_t width_;
    std::vector<Entry> entries_;  // by attribute
    std::vector<Entry> few_;
    std::vector<float> rows_;
};

}  // namespace hedgerow
