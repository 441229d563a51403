#include "trees/label_contexts.hpp"

#include <algorithm>

namespace hedgerow {

std::int64_t LabelContextSet::size(std::int64_t lag) const {
    return std::count(allowed_.begin() + lag * (k_ + 1), allowed_.begin() + (lag + 1) * (k_ + 1), 1);
}

LabelContextSet LabelContextSet::only(std::int64_t lag, std::int32_t v,
                                      const std::vector<std::int32_t>& others) const {
    LabelContextSet part = without(lag, v, others);
    for (std::int64_t i = lag * (k_ + 1); i < (lag + 1) * (k_ + 1); ++i)
        part.allowed_[i] = allowed_[i] && !part.allowed_[i];
    return part;
}

LabelContextSet LabelContextSet::without(std::int64_t lag, std::int32_t v,
                                         const std::vector<std::int32_t>& others) const {
    LabelContextSet part = *this;
    part.allowed_[lag * (k_ + 1) + v] = 0;
    for (const std::int32_t u : others) part.allowed_[lag * (k_ + 1) + u] = 0;
    return part;
}

std::int64_t LabelContextSet::label(std::int64_t h, std::int64_t m, std::int64_t lag) const {
    if (lag >= m) return k_;
    for (std::int64_t skip = m - 1 - lag; skip > 0; --skip) h /= k_;
    return h % k_;
}

std::vector<std::int32_t> LabelContextSet::members(std::int64_t m) const {
    std::vector<std::int32_t> found;
    std::int64_t n = 1;
    for (std::int64_t i = 0; i < m; ++i) n *= k_;
    for (std::int64_t h = 0; h < n; ++h) {
        bool in = true;
        for (std::int64_t lag = 0; in && lag < order_; ++lag) in = allowed(lag, label(h, m, lag));
        if (in) found.push_back(static_cast<std::int32_t>(h));
    }
    return found;
}

NodeContexts::NodeContexts(const LabelContextSet& contexts, std::int64_t order, bool newton) : set(contexts) {
    for (std::int64_t m = 0; m <= order; ++m) {
        members.push_back(contexts.members(m));
        has.push_back(!members.back().empty());
        n_examples.push_back(newton ? 1.0 : static_cast<double>(members.back().size()));
    }
    for (std::int64_t lag = 0; lag < order; ++lag) divisible |= contexts.size(lag) > 1;
}

}  // namespace hedgerow
