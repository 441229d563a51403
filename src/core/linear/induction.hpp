// Feature induction (McCallum 2003): the conjunctions of attributes that raise the likelihood of a linear
// model most. A candidate is an attribute of a column, alone or in conjunction with a partner, an attribute
// (possibly itself a conjunction) that has features in the model. See feature_gain.hpp for the gain.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "data/attribute_reader.hpp"
#include "linear/features.hpp"

namespace hedgerow {

struct Candidate {
    std::int32_t attribute;
    std::int32_t partner;  // -1: none
    std::int32_t label;
    double gain;
    double weight;  // where the gain is largest

    // Higher gain first, then lower numbers first.
    bool operator<(const Candidate& other) const {
        return std::make_tuple(-gain, attribute, partner, label) <
               std::make_tuple(-other.gain, other.attribute, other.partner, other.label);
    }
};

// The conjunctions that the model already has: conjunction c is attribute n_ids - n + c and has the members
// starts[c]..starts[c + 1], attributes of columns in rising order.
struct ConjunctionLists {
    std::int64_t n;
    const std::int64_t* starts;
    const std::int32_t* members;
};

// The positions that gains are summed over.
struct InductionSample {
    std::int64_t n, n_labels;
    const std::int64_t* positions;  // rising
    const double* probabilities;    // (n, labels)
    const std::int32_t* gold;
    const double* weights;
};

struct InductionRules {
    double l2;
    std::int64_t min_count;  // fewest positions with the candidate
    bool observed_only;      // min_count counts only the positions whose gold label is the candidate's
};

// The n_wanted candidates with the largest gains, best first. Does not depend on n_threads.
std::vector<Candidate> induce(const AttributeView& attributes, const Features& features,
                              const ConjunctionLists& conjunctions, const InductionSample& sample,
                              const InductionRules& rules, std::int64_t n_wanted, std::int64_t n_threads);

}  // namespace hedgerow
