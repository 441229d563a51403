// Vectors aligned to cache lines, so that no load or store of a wide register touches two lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace hedgerow {

template <class T>
struct CacheLineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    CacheLineAllocator() = default;
    template <class U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}

    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
    void deallocate(T* items, std::size_t) { ::operator delete(items, kLine); }
    bool operator==(const CacheLineAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace hedgerow
