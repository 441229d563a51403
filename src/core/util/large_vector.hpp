// Vectors for arrays of many megabytes. Their memory is in huge pages where the system has them: the first
// use of every small page costs as long as writing it several times.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace hedgerow {

template <class T>
struct HugePageAllocator {
    using value_type = T;
    static constexpr std::size_t kPage = std::size_t{1} << 21;
    static constexpr std::size_t kLeast = 2 * kPage;  // bytes for which rounding up to pages costs little

    HugePageAllocator() = default;
    template <class U>
    HugePageAllocator(const HugePageAllocator<U>&) {}

    T* allocate(std::size_t n) {
#ifdef MADV_HUGEPAGE
        if (is_large(n)) {
            const std::size_t bytes = (n * sizeof(T) + kPage - 1) / kPage * kPage;
            void* items = std::aligned_alloc(kPage, bytes);
            if (!items) throw std::bad_alloc();
            madvise(items, bytes, MADV_HUGEPAGE);  // it may fail: then pages are small
            return static_cast<T*>(items);
        }
#endif
        return static_cast<T*>(::operator new(n * sizeof(T)));
    }
    void deallocate(T* items, std::size_t n) {
#ifdef MADV_HUGEPAGE
        if (is_large(n)) return std::free(items);
#endif
        ::operator delete(items);
    }
    bool operator==(const HugePageAllocator&) const = default;

  private:
    static bool is_large(std::size_t n) { return n >= kLeast / sizeof(T); }
};

template <class T>
using LargeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace hedgerow
