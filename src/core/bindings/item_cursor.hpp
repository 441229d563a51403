// Steps through the items of Python lists or tuples, end to end. Runs no Python code.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "bindings/errors.hpp"

namespace hedgerow {

class ItemCursor {
  public:
    // `parts` outlives the cursor, and only the items of its lists may change.
    explicit ItemCursor(const nb::list& parts) : parts_(parts.ptr()), n_parts_(NB_LIST_GET_SIZE(parts_)) {}

    // The next item, borrowed; null at the end. A part that has become shorter ends early.
    PyObject* next() {
        for (; part_ < n_parts_; ++part_, at_ = 0) {
            PyObject* part = NB_LIST_GET_ITEM(parts_, part_);
            if (at_ < size_of(part)) return item_of(part, at_++);
        }
        return nullptr;
    }
    void skip(int64_t n) {
        for (; n > 0; --n) next();
    }

    // The part of the item that next() returned last, borrowed.
    PyObject* part() const { return NB_LIST_GET_ITEM(parts_, part_); }
    Py_ssize_t part_index() const { return part_; }

    static Py_ssize_t size_of(PyObject* part) {
        return PyList_Check(part) ? NB_LIST_GET_SIZE(part) : NB_TUPLE_GET_SIZE(part);
    }

  private:
    static PyObject* item_of(PyObject* part, Py_ssize_t at) {
        return PyList_Check(part) ? NB_LIST_GET_ITEM(part, at) : NB_TUPLE_GET_ITEM(part, at);
    }

    PyObject* parts_;
    Py_ssize_t n_parts_;
    Py_ssize_t part_ = 0, at_ = 0;
};

// The sizes of lists or tuples.
class PartSizes {
  public:
    explicit PartSizes(const nb::list& parts) {
        for (const nb::handle part : parts) {
            if (!PyList_Check(part.ptr()) && !PyTuple_Check(part.ptr()))
                refuse("the parts of X must be lists or tuples, but got %s", type_name(part.ptr()));
            sizes_.push_back(ItemCursor::size_of(part.ptr()));
            total_ += sizes_.back();
        }
    }

    int64_t total() const { return total_; }
    // Whether the part of the last item still has its size.
    bool holds_at(const ItemCursor& cursor) const {
        return ItemCursor::size_of(cursor.part()) == sizes_[static_cast<size_t>(cursor.part_index())];
    }

  private:
    std::vector<Py_ssize_t> sizes_;
    int64_t total_ = 0;
};

}  // namespace hedgerow
