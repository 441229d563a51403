// Rules for arguments.
#pragma once

#include <stdexcept>

namespace hedgerow {

// Python sees a ValueError, for the caller in hedgerow to say it in the user's terms.
inline void require(bool holds, const char* rule) {
    if (!holds) throw std::invalid_argument(rule);
}

}  // namespace hedgerow
