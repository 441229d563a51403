// Asks the processor to load memory that will be read soon.
#pragma once

namespace hedgerow {

inline void prefetch(const void* where) {
#if defined(__GNUC__)
    __builtin_prefetch(where);
#else
    (void)where;
#endif
}

}  // namespace hedgerow
