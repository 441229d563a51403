// Arrays in and out of Python, and the check that raises ValueError.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstddef>
#include <new>

namespace hedgerow {

// A read-only, C-contiguous array on the CPU; nanobind refuses anything else.
template <class T, std::size_t Dims>
using Input = nanobind::ndarray<const T, nanobind::ndim<Dims>, nanobind::c_contig, nanobind::device::cpu>;

inline void require(bool holds, const char* rule) {
    if (!holds) throw nanobind::value_error(rule);
}

// Memory for a result; array() hands it to Python.
template <class T, std::size_t Dims>
class Output {
  public:
    using Array = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<Dims>, nanobind::c_contig>;

    explicit Output(const std::array<std::size_t, Dims>& shape) : shape_(shape) {
        std::size_t size = 1;
        for (const std::size_t n : shape) size *= n;
        data_ = new T[size];
        owner_ = nanobind::capsule(data_, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    }
    T* data() const { return data_; }
    Array array() const { return Array(data_, Dims, shape_.data(), owner_); }

  private:
    std::array<std::size_t, Dims> shape_;
    T* data_;
    nanobind::capsule owner_;
};

}  // namespace hedgerow
