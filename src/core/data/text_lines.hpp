// What readers of text files share: lines, blank lines, and the first fault that they find.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "data/alphabet.hpp"

namespace hedgerow {

constexpr int64_t kPollInterval = 1 << 20;  // lines between two polls for interrupts

// The first broken rule of a text.
struct TextFault {
    enum Kind { none, columns, encoding, nul, carriage_return, number, wide };
    Kind kind = none;
    int64_t line = 0;    // counted from 1
    int64_t column = 0;  // counted from 0; for `columns`, the number of columns of the line
};

inline const uint8_t* find_byte(const uint8_t* begin, const uint8_t* end, char byte) {
    const void* found = begin == end ? nullptr : std::memchr(begin, byte, static_cast<size_t>(end - begin));
    return found ? static_cast<const uint8_t*>(found) : end;
}

inline bool holds(Bytes text, char byte) {
    return find_byte(text.data, text.data + text.size, byte) != text.data + text.size;
}

inline bool is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\r';
}

inline bool is_blank(Bytes line) {
    return std::all_of(line.data, line.data + line.size, [](uint8_t byte) { return is_blank(byte); });
}

// Goes through the lines of a text.
class Lines {
  public:
    explicit Lines(Bytes text) : next_(text.data), end_(text.data + text.size) {}

    // Moves to the next line, without \n and without \r before it; false behind the last.
    bool read(Bytes& line) {
        if (next_ == end_) return false;
        const uint8_t *begin = next_, *stop = find_byte(begin, end_, '\n');
        next_ = stop == end_ ? end_ : stop + 1;
        while (stop > begin && stop[-1] == '\r') --stop;
        line = {begin, stop - begin};
        return true;
    }

    const uint8_t* next() const { return next_; }

  private:
    const uint8_t* next_;
    const uint8_t* end_;
};

}  // namespace hedgerow
