// Sums in messages: residual, count and weight in as few bytes as the largest of a list needs. Most lists are
// those of small nodes, whose sums are small numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "trees/sums.hpp"
#include "util/exchange.hpp"

namespace hedgerow {

class CompactSums {
  public:
    explicit CompactSums(const Packing& packing) : packing_(packing) {}

    void write(const std::vector<Sums>& list, MessageWriter& to) {
        Fields all{};
        for (const Sums& sums : list) {
            const Fields own = fields_of(sums);
            for (std::size_t i = 0; i < all.size(); ++i) all[i] |= own[i];
        }
        std::array<std::uint8_t, 3> sizes{};
        std::size_t n_bytes = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            sizes[i] = static_cast<std::uint8_t>((64 - std::countl_zero(all[i]) + 7) / 8);
            n_bytes += sizes[i];
        }
        bytes_.resize(list.size() * n_bytes + kPadding);
        std::uint8_t* at = bytes_.data();
        for (const Sums& sums : list) {
            const Fields own = fields_of(sums);
            for (std::size_t i = 0; i < own.size(); ++i) {
                std::memcpy(at, &own[i], sizeof own[i]);  // the next field overwrites what is too much
                at += sizes[i];
            }
        }
        to.put(sizes);
        to.put(bytes_.data(), bytes_.size());
    }

    // add(i, sums) for each of n sums, in the order in which they were written.
    template <class Add>
    void read(std::size_t n, MessageReader& from, Add add) const {
        const auto sizes = from.get<std::array<std::uint8_t, 3>>();
        std::array<std::uint64_t, 3> masks{};
        std::size_t n_bytes = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            MessageReader::check(sizes[i] <= 8);
            masks[i] = sizes[i] == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * sizes[i])) - 1;
            n_bytes += sizes[i];
        }
        const std::uint8_t* at = from.skip(n * n_bytes + kPadding);
        for (std::size_t i = 0; i < n; ++i) {
            Fields own{};
            for (std::size_t j = 0; j < own.size(); ++j) {
                std::memcpy(&own[j], at, sizeof own[j]);
                own[j] &= masks[j];
                at += sizes[j];
            }
            add(i, sums_of(own));
        }
    }

  private:
    using Fields = std::array<std::uint64_t, 3>;
    static constexpr std::size_t kPadding =
        8;  // so that every field can be moved as a whole number of 8 bytes

    // Numbers of either sign as small whole numbers: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
    static std::uint64_t folded(std::int64_t x) {
        return (static_cast<std::uint64_t>(x) << 1) ^ static_cast<std::uint64_t>(x >> 63);
    }
    static std::int64_t unfolded(std::uint64_t x) {
        return static_cast<std::int64_t>((x >> 1) ^ (~(x & 1) + 1));
    }
    Fields fields_of(const Sums& sums) const {
        return {folded(sums.residual), folded(packing_.count(sums.packed)),
                static_cast<std::uint64_t>(packing_.raw_weight(sums.packed))};
    }
    Sums sums_of(const Fields& fields) const {
        const std::uint64_t count = static_cast<std::uint64_t>(unfolded(fields[1])) << packing_.count_shift;
        return {unfolded(fields[0]), static_cast<std::int64_t>(count + fields[2])};
    }

    Packing packing_;
    Message bytes_;  // memory of write()
};

}  // namespace hedgerow
