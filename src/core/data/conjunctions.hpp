// Conjunctions: sets of attributes that a position shows together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hedgerow {

// Finds which conjunctions hold at a position. Each waits at one of its members, the one that the fewest
// have, and the others are looked at only where that is there. Attributes that are members are counted anew,
// so that what a search needs is small however many attributes there are.
class Conjunctions {
  public:
    // Conjunction c has the members[starts[c]] to members[starts[c + 1]], rising, at least one.
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
        waiting_.resize(static_cast<std::size_t>(n));
        std::vector<std::int64_t> at = first_;
        for (std::int64_t c = 0; c < n; ++c) {
            const std::int32_t* m = members_.data() + starts_[c];
            waiting_[at[m[0]]++] = {static_cast<std::int32_t>(c), m[starts_[c + 1] - starts_[c] > 1]};
        }
    }

    std::int64_t n() const { return static_cast<std::int64_t>(waiting_.size()); }
    // Members are below this.
    std::int64_t n_ids() const { return static_cast<std::int64_t>(number_.size()); }

    // What a search writes on; one for each thread.
    struct Scratch {
        std::vector<std::int32_t> shown;
        std::vector<char> there;
    };

    // found += the conjunctions that hold where `ids` are shown, rising.
    void find(const std::vector<std::int32_t>& ids, Scratch& scratch,
              std::vector<std::int32_t>& found) const {
        scratch.there.resize(static_cast<std::size_t>(n_members_), 0);
        scratch.shown.clear();
        for (const std::int32_t id : ids) {
            const std::int32_t member = id < n_ids() ? number_[id] : -1;
            if (member < 0 || scratch.there[member]) continue;
            scratch.there[member] = 1;
            scratch.shown.push_back(member);
        }
        const auto before = static_cast<std::ptrdiff_t>(found.size());
        for (const std::int32_t member : scratch.shown)
            for (std::int64_t w = first_[member]; w < first_[member + 1]; ++w)
                if (scratch.there[waiting_[w].next] && holds(waiting_[w].conjunction, scratch.there))
                    found.push_back(waiting_[w].conjunction);
        for (const std::int32_t member : scratch.shown) scratch.there[member] = 0;
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
    bool holds(std::int32_t c, const std::vector<char>& there) const {
        return std::all_of(members_.begin() + starts_[c], members_.begin() + starts_[c + 1],
                           [&](std::int32_t m) { return there[m] != 0; });
    }

    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> members_;  // by their numbers, those first that few conjunctions have
    std::vector<std::int32_t> number_;   // of an attribute, -1 if it is no member
    std::int32_t n_members_ = 0;
    struct Waiting {
        std::int32_t conjunction;
        std::int32_t next;  // the member to look at first, kept here so that most looks are at one place
    };
    std::vector<std::int64_t> first_;  // of those that wait at each member
    std::vector<Waiting> waiting_;
};

}  // namespace hedgerow
