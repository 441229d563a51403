// Waking a thread takes longer than many jobs do, so a thread that waits looks for a while before it sleeps.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace hedgerow {

inline void pause_briefly() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
    asm volatile("yield");
#endif
}

// Returns when condition() holds, or after some 50 microseconds.
template <class Condition>
void look_for(Condition condition) {
    constexpr int kLooks = 2000;
    for (int i = 0; i < kLooks && !condition(); ++i) pause_briefly();
}

}  // namespace hedgerow
