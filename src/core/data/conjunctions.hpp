// Conjunctions: sets of attributes. A conjunction holds at a position that has all its members.
#pragma once

#include <cstdint>
#include <vector>

#include "data/attribute_reader.hpp"

namespace hedgerow {

// Finds the conjunctions that hold at a position. Each conjunction is filed under its rarest member, the one
// that the fewest conjunctions share, and tested only where that member is present. Members get small numbers
// of their own, so the memory of a search does not grow with the number of attributes.
class Conjunctions {
  public:
    // Conjunction c has the members starts[c]..starts[c + 1], rising, at least one.
    Conjunctions(const std::int64_t* starts, const std::int32_t* members, std::int64_t n);

    std::int64_t n() const { return static_cast<std::int64_t>(filed_.size()); }
    // All members are below this number.
    std::int64_t n_ids() const { return static_cast<std::int64_t>(number_.size()); }

    // The conjunctions that hold at each position, as a bag column: rising within a position.
    struct Found {
        std::vector<std::int64_t> starts;
        std::vector<std::int32_t> conjunctions;
    };
    Found find(const AttributeView& attributes) const;

  private:
    // Members that a position has.
    struct Present {
        std::vector<std::int32_t> members;
        std::vector<char> is_present;  // by member
    };
    struct Filed {
        std::int32_t conjunction;
        // The second member, or the only one. Testing it here saves most reads of members_.
        std::int32_t next;
    };

    void number_members();
    void add(std::int32_t id, Present& present) const;
    void append_found(const Present& present, std::vector<std::int32_t>& found) const;
    bool holds(std::int32_t c, const Present& present) const;

    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> members_;  // numbers of members, the rarest first within a conjunction
    std::vector<std::int32_t> number_;   // number of each attribute, -1 if it is not a member
    std::int32_t n_members_ = 0;
    std::vector<std::int64_t> first_;  // index in filed_ of the conjunctions filed under each member
    std::vector<Filed> filed_;
};

}  // namespace hedgerow
