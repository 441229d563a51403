#include "trees/entry_slices.hpp"

#include <algorithm>
#include <bit>

namespace hedgerow {
namespace {

constexpr std::int32_t kWordBits = 64;

constexpr std::int64_t kLongCount = 255;

enum class Form : std::int32_t { list, bitmap };

std::size_t words_of(std::int32_t n_places) {
    return static_cast<std::size_t>((n_places + kWordBits - 1) / kWordBits);
}

std::vector<std::int32_t> read_places(MessageReader& from, std::int32_t n) {
    std::vector<std::int32_t> places;
    if (from.get<Form>() == Form::list) {
        places = from.get_list<std::int32_t>();
        for (const std::int32_t place : places) MessageReader::check(place >= 0 && place < n);
        return places;
    }
    std::vector<std::uint64_t> bits(words_of(n));
    from.get(bits.data(), bits.size());
    std::size_t n_places = 0;
    for (const std::uint64_t word : bits) n_places += static_cast<std::size_t>(std::popcount(word));
    places.reserve(n_places);
    for (std::size_t w = 0; w < bits.size(); ++w) {
        for (std::uint64_t word = bits[w]; word != 0; word &= word - 1)
            places.push_back(static_cast<std::int32_t>(w) * kWordBits + std::countr_zero(word));
    }
    MessageReader::check(places.empty() || places.back() < n);
    return places;
}

}  // namespace

EntrySlices::EntrySlices(const TreeData& data, std::int64_t n_members) {
    std::size_t slot = 0;
    for (std::int64_t member = 0; member < n_members; ++member) {
        slots_.push_back(slot);
        const std::int64_t end = std::int64_t{data.n_entries} * (member + 1) / n_members;
        while (slot < data.slots.size() && (data.slots[slot].first_entry + data.slots[slot].end()) / 2 < end)
            ++slot;
    }
    slots_.push_back(data.slots.size());
    for (const std::size_t s : slots_)
        entries_.push_back(s < data.slots.size() ? data.slots[s].first_entry : data.n_entries);
}

// Finds the places that are not empty, and writes them: either a list or a bit for each place, whichever is
// shorter.
void PlacesWriter::write_places(const Histogram& histogram, bool marked, std::int32_t first, std::int32_t end,
                                MessageWriter& to) {
    places_.clear();
    sums_.clear();
    histogram.each(marked, first, end, [&](std::int32_t e) {
        if (histogram.entries[e].is_zero()) return;
        places_.push_back(e - first);
        sums_.push_back(histogram.entries[e]);
    });
    const std::size_t words = words_of(end - first);
    const Form form =
        places_.size() * sizeof(std::int32_t) < words * sizeof(std::uint64_t) ? Form::list : Form::bitmap;
    to.put(form);
    if (form == Form::list) return to.put_list(places_);
    bits_.assign(words, 0);
    for (const std::int32_t place : places_)
        bits_[place / kWordBits] |= std::uint64_t{1} << (place % kWordBits);
    to.put(bits_.data(), bits_.size());
}

void PlacesWriter::write(const Histogram& histogram, bool marked, std::int32_t first, std::int32_t end,
                         Message& to) {
    MessageWriter writer(to);
    write_places(histogram, marked, first, end, writer);
    compact_.write(sums_, writer);
}

// A count below 255 takes a byte.
void PlacesWriter::write_counts(const Histogram& histogram, bool marked, std::int32_t first, std::int32_t end,
                                Message& to) {
    MessageWriter writer(to);
    write_places(histogram, marked, first, end, writer);
    for (const Sums& sums : sums_) {
        const std::int64_t count = packing_.count(sums.packed);
        writer.put(static_cast<std::uint8_t>(std::min<std::int64_t>(count, kLongCount)));
        if (count >= kLongCount) writer.put(count);
    }
}

void add_places(MessageReader& from, std::int32_t n, const Packing& packing, Histogram& to, bool marking) {
    const std::vector<std::int32_t> places = read_places(from, n);
    CompactSums(packing).read(places.size(), from, [&](std::size_t i, const Sums& sums) {
        to.entries[places[i]] += sums;
        if (marking) to.mark(places[i]);
    });
}

void add_counts(MessageReader& from, std::int32_t n, std::vector<std::int64_t>& to) {
    for (const std::int32_t place : read_places(from, n)) {
        const std::int64_t count = from.get<std::uint8_t>();
        to[place] += count < kLongCount ? count : from.get<std::int64_t>();
    }
}

}  // namespace hedgerow
