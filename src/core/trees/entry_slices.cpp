#include "trees/entry_slices.hpp"

#include <bit>

namespace hedgerow {
namespace {

constexpr std::int32_t kWordBits = 64;

std::size_t words_of(std::int32_t n_places) {
    return static_cast<std::size_t>((n_places + kWordBits - 1) / kWordBits);
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

// Either a list of places or a bit for each place, whichever is shorter; then the sums.
void EntrySlices::write(const Histogram& histogram, bool marked, std::int64_t member, Message& to) {
    const std::int32_t first = first_entry(member);
    places_.clear();
    sums_.clear();
    histogram.each(marked, first, end_entry(member), [&](std::int32_t e) {
        if (histogram.entries[e].is_zero()) return;
        places_.push_back(e - first);
        sums_.push_back(histogram.entries[e]);
    });
    MessageWriter writer(to);
    const std::size_t words = words_of(size(member));
    const Form form =
        places_.size() * sizeof(std::int32_t) < words * sizeof(std::uint64_t) ? Form::list : Form::bitmap;
    writer.put(form);
    if (form == Form::list) {
        writer.put_list(places_);
    } else {
        bits_.assign(words, 0);
        for (const std::int32_t place : places_)
            bits_[place / kWordBits] |= std::uint64_t{1} << (place % kWordBits);
        writer.put(bits_.data(), bits_.size());
    }
    writer.put(sums_.data(), sums_.size());
}

void EntrySlices::add(MessageReader& from, std::int64_t member, Histogram& slice, bool marking) const {
    const std::int32_t n = size(member);
    const auto form = from.get<Form>();
    std::vector<std::int32_t> places;
    if (form == Form::list) {
        places = from.get_list<std::int32_t>();
    } else {
        std::vector<std::uint64_t> bits(words_of(n));
        from.get(bits.data(), bits.size());
        for (std::size_t w = 0; w < bits.size(); ++w) {
            for (std::uint64_t word = bits[w]; word != 0; word &= word - 1)
                places.push_back(static_cast<std::int32_t>(w) * kWordBits + std::countr_zero(word));
        }
    }
    for (const std::int32_t place : places) {
        MessageReader::check(place >= 0 && place < n);
        slice.entries[place] += from.get<Sums>();
        if (marking) slice.mark(place);
    }
}

}  // namespace hedgerow
