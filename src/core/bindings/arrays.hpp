// Arrays in and out of Python, never copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace hedgerow {

namespace nb = nanobind;

// A read-only, C-contiguous array on the CPU; nanobind refuses anything else.
template <class T, std::size_t Dims>
using Input = nb::ndarray<const T, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;

// The same, to be written to.
template <class T, std::size_t Dims>
using InOut = nb::ndarray<T, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;

template <class T, std::size_t Dims>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<Dims>, nb::c_contig>;

// Memory for a result; array() hands it to Python.
template <class T, std::size_t Dims>
class Output {
  public:
    explicit Output(const std::array<std::size_t, Dims>& shape) : shape_(shape) {
        std::size_t size = 1;
        for (const std::size_t n : shape) {
            // Also what is no overflow here can be one where a kernel counts in signed numbers.
            if (n != 0 && size > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T) / n)
                throw std::bad_alloc();
            size *= n;
        }
        std::unique_ptr<T[]> data(new T[size]);
        owner_ = nb::capsule(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
        data_ = data.release();
    }
    T* data() const { return data_; }
    Array<T, Dims> array() const { return Array<T, Dims>(data_, Dims, shape_.data(), owner_); }

  private:
    std::array<std::size_t, Dims> shape_;
    T* data_;
    nb::capsule owner_;
};

// A vector becomes an array.
template <class T>
Array<T, 1> to_array(std::vector<T>&& values) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    std::vector<T>& owned = *kept.release();
    return Array<T, 1>(owned.data(), {owned.size()}, owner);
}

}  // namespace hedgerow
