#include "data/sequence_digests.hpp"

#include <cstring>

#include "util/parallel.hpp"
#include "util/random.hpp"

namespace hedgerow {

namespace {

constexpr std::int64_t kChunkPositions = 1024;  // positions that a thread takes at a time

// digest <- random bits seeded by digest xor the bits of the value.
template <class T>
void mix_in(const T& value, std::uint64_t& digest) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    digest = Random(digest ^ bits).bits();
}

}  // namespace

std::vector<std::uint64_t> sequence_digests(const AttributeView& attributes, const std::int32_t* gold,
                                            const double* weights, std::int64_t n_threads) {
    std::vector<std::uint64_t> digests(static_cast<std::size_t>(attributes.n_sequences), 0);
    const auto digest = [&](std::int64_t i) {
        std::uint64_t found = 0;
        mix_in(weights[i], found);
        const std::int64_t begin = attributes.starts[i], end = attributes.starts[i + 1];
        for (std::int64_t t = begin; t < end; ++t) {
            mix_in(gold[t], found);
            for_each_id(attributes.slots, t, begin, end, [&](std::int32_t id, float value) {
                mix_in(id, found);
                mix_in(value, found);
            });
        }
        return found;
    };
    const std::vector<std::int64_t> cuts = chunks(attributes.starts, attributes.n_sequences, kChunkPositions);
    parallel_for(static_cast<std::int64_t>(cuts.size()) - 1, n_threads, [&] {
        return [&](std::int64_t c) {
            for (std::int64_t i = cuts[c]; i < cuts[c + 1]; ++i) digests[i] = digest(i);
        };
    });
    return digests;
}

}  // namespace hedgerow
