#include "data/conjunctions.hpp"

#include <algorithm>

namespace hedgerow {

Conjunctions::Conjunctions(const std::int64_t* starts, const std::int32_t* members, std::int64_t n)
    : starts_(starts, starts + n + 1), members_(members, members + starts[n]) {
    number_members();
    std::vector<std::int64_t> uses(static_cast<std::size_t>(n_members_), 0);
    for (const std::int32_t m : members_) ++uses[m];
    first_.assign(static_cast<std::size_t>(n_members_) + 1, 0);
    for (std::int64_t c = 0; c < n; ++c) {
        const auto begin = members_.begin() + starts_[c], end = members_.begin() + starts_[c + 1];
        std::sort(begin, end, [&](std::int32_t a, std::int32_t b) {
            return uses[a] != uses[b] ? uses[a] < uses[b] : a < b;
        });
        ++first_[*begin + 1];
    }
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    filed_.resize(static_cast<std::size_t>(n));
    std::vector<std::int64_t> at = first_;
    for (std::int64_t c = 0; c < n; ++c) {
        const std::int32_t* m = members_.data() + starts_[c];
        filed_[at[m[0]]++] = {static_cast<std::int32_t>(c), m[starts_[c + 1] - starts_[c] > 1]};
    }
}

void Conjunctions::number_members() {
    const auto last = std::max_element(members_.begin(), members_.end());
    number_.assign(last == members_.end() ? 0 : static_cast<std::size_t>(*last) + 1, -1);
    for (std::int32_t& m : members_) {
        if (number_[m] < 0) number_[m] = n_members_++;
        m = number_[m];
    }
}

Conjunctions::Found Conjunctions::find(const AttributeView& attributes) const {
    Found found;
    found.starts.push_back(0);
    Present present;
    present.is_present.resize(static_cast<std::size_t>(n_members_), 0);
    attributes.for_each_position(
        0, attributes.n_positions(), [&](std::int64_t t, std::int64_t begin, std::int64_t end) {
            for_each_id(attributes.slots, t, begin, end, [&](std::int32_t id, float) { add(id, present); });
            append_found(present, found.conjunctions);
            found.starts.push_back(static_cast<std::int64_t>(found.conjunctions.size()));
            for (const std::int32_t member : present.members) present.is_present[member] = 0;
            present.members.clear();
        });
    return found;
}

void Conjunctions::add(std::int32_t id, Present& present) const {
    const std::int32_t member = id < n_ids() ? number_[id] : -1;
    if (member < 0 || present.is_present[member]) return;
    present.is_present[member] = 1;
    present.members.push_back(member);
}

void Conjunctions::append_found(const Present& present, std::vector<std::int32_t>& found) const {
    const auto before = static_cast<std::ptrdiff_t>(found.size());
    for (const std::int32_t member : present.members)
        for (std::int64_t i = first_[member]; i < first_[member + 1]; ++i)
            if (present.is_present[filed_[i].next] && holds(filed_[i].conjunction, present))
                found.push_back(filed_[i].conjunction);
    std::sort(found.begin() + before, found.end());
}

bool Conjunctions::holds(std::int32_t c, const Present& present) const {
    return std::all_of(members_.begin() + starts_[c], members_.begin() + starts_[c + 1],
                       [&](std::int32_t m) { return present.is_present[m] != 0; });
}

}  // namespace hedgerow
