// Maps Python strings to ids, by open addressing on the hash that every str caches. Objects are compared by
// address before they are compared by content.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "bindings/errors.hpp"
#include "data/alphabet.hpp"

namespace hedgerow {

// Whether two str have the same content. Runs no Python code, even for a subclass of str.
inline bool same_text(PyObject* a, PyObject* b) {
    if (a == b) return true;
    const Py_ssize_t length = PyUnicode_GET_LENGTH(a);
    if (length != PyUnicode_GET_LENGTH(b) || PyUnicode_KIND(a) != PyUnicode_KIND(b)) return false;
    return std::memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b),
                       static_cast<size_t>(length) * PyUnicode_KIND(a)) == 0;
}

inline void append_utf8(std::vector<uint8_t>& blob, PyObject* text) {
    if (PyUnicode_IS_COMPACT_ASCII(text)) {
        const auto* data = static_cast<const uint8_t*>(PyUnicode_DATA(text));
        blob.insert(blob.end(), data, data + PyUnicode_GET_LENGTH(text));
        return;
    }
    nb::object encoded = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
    if (!encoded.is_valid()) throw nb::python_error();
    const auto* data = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(encoded.ptr()));
    blob.insert(blob.end(), data, data + PyBytes_GET_SIZE(encoded.ptr()));
}

class Interner {
  public:
    Interner() : slots_(16, Slot{0, -1}) {}

    // The id of `text`: the number of distinct strings before its first occurrence. Keeps a reference to a
    // new string.
    int32_t intern(PyObject* text) {
        const uint64_t hash = hash_of(text);
        const auto tag = static_cast<uint32_t>(hash >> 32 ^ hash);
        const size_t mask = slots_.size() - 1;
        for (size_t i = hash & mask;; i = (i + 1) & mask) {
            const Slot slot = slots_[i];
            if (slot.id < 0) {
                slots_[i] = Slot{tag, size()};
                return add(text, hash);
            }
            if (slot.tag == tag && same_text(texts_[static_cast<size_t>(slot.id)].ptr(), text))
                return slot.id;
        }
    }

    int32_t size() const { return static_cast<int32_t>(texts_.size()); }
    PyObject* text(int32_t id) const { return texts_[static_cast<size_t>(id)].ptr(); }

    SortedStrings sorted() const {
        std::vector<uint8_t> blob;
        std::vector<int64_t> offsets{0};
        for (const nb::object& text : texts_) {
            append_utf8(blob, text.ptr());
            offsets.push_back(static_cast<int64_t>(blob.size()));
        }
        return sort_distinct({blob.data(), offsets.data(), size()});
    }

  private:
    struct Slot {
        uint32_t tag;
        int32_t id;  // -1: free
    };

    // The hash that the str caches. Ignores a subclass's __hash__.
    static uint64_t hash_of(PyObject* text) {
        const Py_hash_t cached = reinterpret_cast<PyASCIIObject*>(text)->hash;
        return static_cast<uint64_t>(cached != -1 ? cached : PyUnicode_Type.tp_hash(text));
    }

    int32_t add(PyObject* text, uint64_t hash) {
        if (size() == std::numeric_limits<int32_t>::max())
            refuse("a column holds at most 2147483647 distinct values");
        texts_.push_back(nb::borrow(text));
        hashes_.push_back(hash);
        if (2 * texts_.size() > slots_.size()) grow();
        return size() - 1;
    }

    void grow() {
        std::vector<Slot> slots(4 * slots_.size(), Slot{0, -1});
        const size_t mask = slots.size() - 1;
        for (size_t id = 0; id < hashes_.size(); ++id) {
            const uint64_t hash = hashes_[id];
            size_t i = hash & mask;
            while (slots[i].id >= 0) i = (i + 1) & mask;
            slots[i] = Slot{static_cast<uint32_t>(hash >> 32 ^ hash), static_cast<int32_t>(id)};
        }
        slots_.swap(slots);
    }

    std::vector<Slot> slots_;
    std::vector<nb::object> texts_;
    std::vector<uint64_t> hashes_;
};

}  // namespace hedgerow
