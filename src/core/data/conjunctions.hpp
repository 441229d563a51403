// Conjunctions: sets of attributes. A conjunction holds at a position that has all its members.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hedgerow {

// Finds the conjunctions that hold at a position. Each conjunction is filed under its rarest member, the one
// that the fewest conjunctions share, and tested only where that member is present. Members get small numbers
// of their own, so the memory of a search does not grow with the number of attributes.
class Conjunctions {
  public:
    // Conjunction c has the members starts[c]..starts[c + 1], rising, at least one.
    Conjunctions(const std::int64_t* starts, const std::int32_t* members, std::int64_t n)
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

    std::int64_t n() const { return static_cast<std::int64_t>(filed_.size()); }
    // All members are below this number.
    std::int64_t n_ids() const { return static_cast<std::int64_t>(number_.size()); }

    // Working memory of find(); one per thread.
    struct Scratch {
        std::vector<std::int32_t> members;
        std::vector<char> present;  // by member
    };

    // Appends the conjunctions whose members are all among `ids` to `found`, in rising order.
    void find(const std::vector<std::int32_t>& ids, Scratch& scratch,
              std::vector<std::int32_t>& found) const {
        scratch.present.resize(static_cast<std::size_t>(n_members_), 0);
        scratch.members.clear();
        for (const std::int32_t id : ids) {
            const std::int32_t member = id < n_ids() ? number_[id] : -1;
            if (member < 0 || scratch.present[member]) continue;
            scratch.present[member] = 1;
            scratch.members.push_back(member);
        }
        const auto before = static_cast<std::ptrdiff_t>(found.size());
        for (const std::int32_t member : scratch.members)
            for (std::int64_t w = first_[member]; w < first_[member + 1]; ++w)
                if (scratch.present[filed_[w].next] && holds(filed_[w].conjunction, scratch.present))
                    found.push_back(filed_[w].conjunction);
        for (const std::int32_t member : scratch.members) scratch.present[member] = 0;
        std::sort(found.begin() + before, found.end());
    }

  private:
    void number_members() {
        const auto last = std::max_element(members_.begin(), members_.end());
        number_.assign(last == members_.end() ? 0 : static_cast<std::size_t>(*last) + 1, -1);
        for (std::int32_t& m : members_) {
            if (number_[m] < 0) number_[m] = n_members_++;
            m = number_[m];
        }
    }
    bool holds(std::int32_t c, const std::vector<char>& present) const {
        return std::all_of(members_.begin() + starts_[c], members_.begin() + starts_[c + 1],
                           [&](std::int32_t m) { return present[m] != 0; });
    }

    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> members_;  // numbers of members, the rarest first within a conjunction
    std::vector<std::int32_t> number_;   // number of each attribute, -1 if it is not a member
    std::int32_t n_members_ = 0;
    struct Filed {
        std::int32_t conjunction;
        // The second member, or the only one. Testing it here saves most reads of members_.
        std::int32_t next;
    };
    std::vector<std::int64_t> first_;  // index in filed_ of the conjunctions filed under each member
    std::vector<Filed> filed_;
};

}  // namespace hedgerow
