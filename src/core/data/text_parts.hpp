// Parts of a text, such as its ending or its shape, on UTF-8. Lower case and classes of characters are those
// of Python's str; here they are known for ASCII only.
#pragma once

#include <cstdint>
#include <vector>

#include "data/alphabet.hpp"
#include "data/text_interner.hpp"

namespace hedgerow {

struct TextPart {
    enum class Kind { whole, text, lower, shape, outline, prefix, suffix, constant };
    Kind kind;
    int64_t n_letters = 0;  // of a prefix or a suffix: code points
};

enum class PartState {
    found,
    absent,    // the text has no such part
    undecided  // the text is not ASCII, and the part depends on classes of characters
};

// Whether the part of a text that begins with `outside` gets an apostrophe at its end, so that no text has
// the value of a position outside the sequence.
inline bool keeps_apart(TextPart part) {
    return part.kind == TextPart::Kind::text || part.kind == TextPart::Kind::lower;
}

// Writes the part of a text to `found`.
PartState read_part(TextPart part, Bytes text, Bytes outside, std::vector<uint8_t>& found);

// Adds the part of each text to `found`, which copies it; undecided parts are left out.
void collect_parts(TextPart part, Strings texts, Bytes outside, TextInterner& found);

}  // namespace hedgerow
