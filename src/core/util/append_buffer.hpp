// A vector that is filled field by field and cleared without freeing memory. push() returns a reference to a
// new item: building a struct first and copying it would stall until all its fields are stored.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

template <class T>
class AppendBuffer {
  public:
    T& push() {
        if (n_ == items_.size()) items_.resize(2 * n_ + 16);
        return items_[n_++];
    }
    void clear() { n_ = 0; }
    std::int64_t size() const { return static_cast<std::int64_t>(n_); }
    T& operator[](std::int64_t i) { return items_[static_cast<std::size_t>(i)]; }
    const T* begin() const { return items_.data(); }
    const T* end() const { return items_.data() + n_; }

  private:
    std::vector<T> items_;
    std::size_t n_ = 0;
};

}  // namespace hedgerow
