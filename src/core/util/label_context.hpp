// A label context, the last n labels, as a number in base K. The most recent label is the highest digit:
//
//     c_0 = 0,   c_n = c_(n-1) K + labels[t - n] = sum over i = 1..n of labels[t - i] K^(n - i)
#pragma once

#include <cstdint>

namespace hedgerow {

// Calls visit(n, c_n) for the contexts of the n = 0..longest labels before position t.
template <class Visit>
inline void for_each_label_context(const std::int32_t* labels, std::int64_t t, std::int64_t longest,
                                   std::int64_t n_labels, Visit visit) {
    std::int64_t context = 0;
    visit(std::int64_t{0}, context);
    for (std::int64_t n = 1; n <= longest; ++n) {
        context = context * n_labels + labels[t - n];
        visit(n, context);
    }
}

// The context of the n labels before position t.
inline std::int64_t label_context(const std::int32_t* labels, std::int64_t t, std::int64_t n,
                                  std::int64_t n_labels) {
    std::int64_t context = 0;
    for (std::int64_t i = 1; i <= n; ++i) context = context * n_labels + labels[t - i];
    return context;
}

}  // namespace hedgerow
