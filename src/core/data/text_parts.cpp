#include "data/text_parts.hpp"

#include <algorithm>
#include <cstring>

namespace hedgerow {

namespace {

bool is_ascii(Bytes text) {
    return std::none_of(text.data, text.data + text.size, [](uint8_t c) { return c >= 0x80; });
}

bool begins_character(uint8_t byte) {
    return (byte & 0xC0) != 0x80;
}

// The number of bytes of the first n characters; -1 if there are fewer.
int64_t bytes_of_first(Bytes text, int64_t n) {
    int64_t at = 0;
    for (; n > 0; --n) {
        if (at == text.size) return -1;
        for (++at; at < text.size && !begins_character(text.data[at]);) ++at;
    }
    return at;
}

int64_t bytes_of_last(Bytes text, int64_t n) {
    int64_t at = text.size;
    for (; n > 0; --n) {
        if (at == 0) return -1;
        for (--at; at > 0 && !begins_character(text.data[at]);) --at;
    }
    return text.size - at;
}

uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? static_cast<uint8_t>(c + ('a' - 'A')) : c;
}

uint8_t character_class(uint8_t c) {
    if (c >= 'A' && c <= 'Z') return 'X';
    if (c >= 'a' && c <= 'z') return 'x';
    return c >= '0' && c <= '9' ? uint8_t{'d'} : c;
}

bool begins_with(const std::vector<uint8_t>& text, Bytes start) {
    return static_cast<int64_t>(text.size()) >= start.size &&
           std::memcmp(text.data(), start.data, static_cast<size_t>(start.size)) == 0;
}

PartState read_affix(TextPart part, Bytes text, std::vector<uint8_t>& found) {
    const bool first = part.kind == TextPart::Kind::prefix;
    const int64_t size = first ? bytes_of_first(text, part.n_letters) : bytes_of_last(text, part.n_letters);
    if (size < 0) return PartState::absent;
    const uint8_t* from = first ? text.data : text.data + text.size - size;
    found.assign(from, from + size);
    return PartState::found;
}

}  // namespace

PartState read_part(TextPart part, Bytes text, Bytes outside, std::vector<uint8_t>& found) {
    using Kind = TextPart::Kind;
    if (part.kind == Kind::prefix || part.kind == Kind::suffix) return read_affix(part, text, found);
    const bool by_class = part.kind == Kind::lower || part.kind == Kind::shape || part.kind == Kind::outline;
    if (by_class && !is_ascii(text)) return PartState::undecided;
    found.assign(text.data, text.data + text.size);
    if (part.kind == Kind::constant) found.clear();
    if (part.kind == Kind::lower) std::transform(found.begin(), found.end(), found.begin(), lower);
    if (part.kind == Kind::shape || part.kind == Kind::outline)
        std::transform(found.begin(), found.end(), found.begin(), character_class);
    if (part.kind == Kind::outline) found.erase(std::unique(found.begin(), found.end()), found.end());
    if (keeps_apart(part) && begins_with(found, outside)) found.push_back('\'');
    return PartState::found;
}

void collect_parts(TextPart part, Strings texts, Bytes outside, TextInterner& found) {
    std::vector<uint8_t> text;
    for (int64_t i = 0; i < texts.size; ++i)
        if (read_part(part, texts[i], outside, text) == PartState::found)
            found.intern({text.data(), static_cast<int64_t>(text.size())});
}

}  // namespace hedgerow
