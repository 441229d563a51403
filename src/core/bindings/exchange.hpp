// A group of processes that work together, as an object of Python: attributes `rank` and `size`, and a call
// exchange(outgoing), which sends one array of bytes to each member and returns what came from each.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "util/exchange.hpp"
#include "util/require.hpp"

namespace hedgerow {

class PythonExchange : public Exchange {
  public:
    explicit PythonExchange(nb::object object)
        : Exchange(nb::cast<std::int64_t>(object.attr("rank")), nb::cast<std::int64_t>(object.attr("size"))),
          object_(std::move(object)) {
        require(size() >= 1 && rank() >= 0 && rank() < size(),
                "the rank of a member is below the group's size");
    }

    // Called without Python's lock, on the thread that entered the core. The own message does not pass
    // through Python.
    std::vector<Received> all_to_all(std::vector<Message>& outgoing) override {
        const nb::gil_scoped_acquire acquire;
        nb::list arrays;
        for (std::size_t j = 0; j < outgoing.size(); ++j)
            arrays.append(to_array(is_own(j) ? Message() : std::move(outgoing[j])));
        const nb::object answer = object_(arrays);
        std::vector<Received> incoming;
        for (nb::handle one : answer)
            incoming.push_back(is_own(incoming.size()) ? Received::in_place(outgoing[incoming.size()])
                                                       : received(one));
        require(static_cast<std::int64_t>(incoming.size()) == size(),
                "an exchange returns one message of each member");
        return incoming;
    }

  private:
    bool is_own(std::size_t member) const { return static_cast<std::int64_t>(member) == rank(); }

    static Received received(nb::handle object) {
        if (nb::isinstance<nb::bytes>(object)) {
            const auto bytes = nb::borrow<nb::bytes>(object);
            return {reinterpret_cast<const std::uint8_t*>(bytes.c_str()), bytes.size(), kept(bytes)};
        }
        const auto array = nb::cast<Input<std::uint8_t, 1>>(object);
        return {array.data(), array.shape(0), kept(array)};
    }

    // Keeps an object alive, and releases it with Python's lock.
    template <class Object>
    static std::shared_ptr<const void> kept(Object object) {
        return {new Object(std::move(object)), [](Object* own) {
                    const nb::gil_scoped_acquire acquire;
                    delete own;
                }};
    }

    nb::object object_;
};

// The group, or null if `object` is None or a group of one.
inline std::shared_ptr<Exchange> exchange_of(const nb::object& object) {
    if (object.is_none()) return nullptr;
    auto exchange = std::make_shared<PythonExchange>(object);
    return exchange->size() > 1 ? exchange : nullptr;
}

}  // namespace hedgerow
