#include "data/sequence_digests.hpp"

#include <cstring>

#include "util/random.hpp"

namespace hedgerow {

namespace {

// digest <- random bits seeded by digest xor the bits of the value.
template <class T>
void mix_in(const T& value, std::uint64_t& digest) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    digest = Random(digest ^ bits).bits();
}

}  // namespace

std::vector<std::uint64_t> sequence_digests(const AttributeView& attributes, const std::int32_t* gold,
                                            const double* weights) {
    std::vector<std::uint64_t> digests(static_cast<std::size_t>(attributes.n_sequences), 0);
    for (std::size_t i = 0; i < digests.size(); ++i) {
        mix_in(weights[i], digests[i]);
        const std::int64_t begin = attributes.starts[i], end = attributes.starts[i + 1];
        for (std::int64_t t = begin; t < end; ++t) {
            mix_in(gold[t], digests[i]);
            for_each_id(attributes.slots, t, begin, end, [&](std::int32_t id, float value) {
                mix_in(id, digests[i]);
                mix_in(value, digests[i]);
            });
        }
    }
    return digests;
}

}  // namespace hedgerow
