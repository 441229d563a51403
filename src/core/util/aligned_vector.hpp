// Vectors that begin where a cache line does, so that no load or store of a wide register touches two lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace hedgerow {

template <class T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}

    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
    void deallocate(T* items, std::size_t) { ::operator delete(items, kLine); }
    bool operator==(const LineAllocator&) const { return true; }
    bool operator!=(const LineAllocator&) const { return false; }
};

template <class T>
using Lines = std::vector<T, LineAllocator<T>>;

}  // namespace hedgerow
