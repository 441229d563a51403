// Floats kept in memory of 32-bit integers, without aliasing.
#pragma once

#include <cstdint>
#include <cstring>

namespace hedgerow {

inline float load_float(const std::int32_t* from) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

inline void store_float(std::int32_t* to, float value) {
    std::memcpy(to, &value, sizeof value);
}

}  // namespace hedgerow
