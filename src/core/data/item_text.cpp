#include "data/item_text.hpp"

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <locale>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "util/interrupt.hpp"

namespace hedgerow {

namespace {

constexpr std::string_view kWeight = "@weight";

// A number that fills the whole text and fits a 32-bit float; independent of the locale.
std::optional<double> to_number(std::string_view text) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    double number = 0;
#ifdef __cpp_lib_to_chars
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && stop == text.data() + text.size();
#else
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    stream >> std::noskipws >> number;
    const bool whole = !stream.fail() && stream.eof();
#endif
    return whole && std::fabs(number) <= FLT_MAX ? std::optional(number) : std::nullopt;
}

class ItemReader {
  public:
    ItemReader(Bytes text, bool labelled) : text_(text), labelled_(labelled) {}

    ItemText read() {
        const uint8_t* nul = find_byte(text_.data, text_.data + text_.size, '\0');
        const bool holds_nul = nul != text_.data + text_.size;
        Lines lines(text_);
        for (Bytes line; result_.fault.kind == TextFault::none && lines.read(line);) {
            if (++result_.n_lines % kPollInterval == 0) poll_interrupt();
            if (holds_nul && nul < lines.next())
                fail(TextFault::nul, 0);
            else if (is_blank(line))
                end_sequence();
            else
                read_item(line);
        }
        end_sequence();
        return std::move(result_);
    }

  private:
    // Tabs separate fields, any number of them.
    void read_item(Bytes line) {
        const uint8_t *p = line.data, *end = line.data + line.size;
        for (int64_t field = 0; p < end;) {
            const uint8_t* stop = find_byte(p, end, '\t');
            if (stop > p) {
                if (field == 0 && read_weight({p, stop - p})) return;
                read_field({p, stop - p}, field++);
            }
            p = stop == end ? end : stop + 1;
        }
        result_.lines.push_back(result_.n_lines);
        result_.item_ends.push_back(static_cast<int64_t>(result_.ids.size()));
    }

    // "@weight:2" before the items of a sequence is the weight of the sequence.
    bool read_weight(Bytes field) {
        const Split split = split_at_colon(field);
        if (as_view(split.name) != kWeight) return false;
        const std::optional<double> number = to_number(as_view(split.value));
        if (!number || *number < 0) fail(TextFault::number, 0);
        weight_ = number.value_or(1);
        return true;
    }

    void read_field(Bytes field, int64_t index) {
        const Split split = split_at_colon(field);
        const bool label = labelled_ && index == 0;
        TextInterner& values = label ? result_.label_values : result_.attribute_values;
        const int32_t n_before = values.size(), id = values.intern(split.name);
        if (split.escaped && id != n_before) result_.unescaped.pop_back();
        if (id == n_before) {  // every distinct value is checked once
            if (!is_strict_utf8(split.name)) fail(TextFault::encoding, index);
            if (holds(split.name, '\r')) fail(TextFault::carriage_return, index);
        }
        if (label) {  // CRFsuite ignores what follows a colon in the label
            if (!is_strict_utf8(split.value)) fail(TextFault::encoding, index);
            result_.labels.push_back(id);
            return;
        }
        const std::optional<double> weight = split.value.size == 0 ? 1.0 : to_number(as_view(split.value));
        if (!weight) fail(TextFault::number, index);
        result_.ids.push_back(id);
        result_.weights.push_back(weight.value_or(1));
    }

    struct Split {
        Bytes name, value;
        bool escaped;  // the name is the last text of `unescaped`
    };

    // The parts before and behind the first colon without a backslash before it; \: and \\ of the name
    // replaced.
    Split split_at_colon(Bytes field) {
        const uint8_t *p = field.data, *end = field.data + field.size;
        bool escaped = false;
        for (; p < end && *p != ':'; ++p)
            if (*p == '\\' && p + 1 < end && (p[1] == ':' || p[1] == '\\')) {
                escaped = true;
                ++p;
            }
        const Bytes name{field.data, p - field.data}, value{p < end ? p + 1 : end, p < end ? end - p - 1 : 0};
        return {escaped ? unescape(name) : name, value, escaped};
    }

    Bytes unescape(Bytes name) {
        std::string& text = result_.unescaped.emplace_back();
        for (int64_t i = 0; i < name.size; ++i) {
            const bool skip = name.data[i] == '\\' && i + 1 < name.size &&
                              (name.data[i + 1] == ':' || name.data[i + 1] == '\\');
            if (skip) ++i;
            text.push_back(static_cast<char>(name.data[i]));
        }
        return {reinterpret_cast<const uint8_t*>(text.data()), static_cast<int64_t>(text.size())};
    }

    static std::string_view as_view(Bytes text) {
        return {reinterpret_cast<const char*>(text.data), static_cast<size_t>(text.size)};
    }

    void end_sequence() {
        const auto n = static_cast<int64_t>(result_.lines.size());
        if (n == result_.starts.back()) return;
        result_.starts.push_back(n);
        result_.sequence_weights.push_back(weight_);
        weight_ = 1;
    }

    void fail(TextFault::Kind kind, int64_t column) {
        if (result_.fault.kind == TextFault::none) result_.fault = {kind, result_.n_lines, column};
    }

    Bytes text_;
    bool labelled_;
    double weight_ = 1;
    ItemText result_;
};

}  // namespace

Items sort_items(const ItemText& text, const std::vector<int32_t>& rank) {
    Items items;
    std::vector<std::pair<int32_t, double>> item;
    for (size_t i = 1; i < text.item_ends.size(); ++i) {
        item.clear();
        for (auto j = static_cast<size_t>(text.item_ends[i - 1]); j < static_cast<size_t>(text.item_ends[i]);
             ++j)
            item.emplace_back(rank[static_cast<size_t>(text.ids[j])], text.weights[j]);
        std::stable_sort(item.begin(), item.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (size_t j = 0; j < item.size();) {
            const int32_t id = item[j].first;
            double sum = 0;
            for (; j < item.size() && item[j].first == id; ++j) sum += item[j].second;
            const auto weight = static_cast<float>(std::clamp(sum, -double{FLT_MAX}, double{FLT_MAX}));
            items.ids.push_back(id);
            items.weights.push_back(weight);
            items.weighted |= weight != 1;
        }
        items.starts.push_back(static_cast<int64_t>(items.ids.size()));
    }
    return items;
}

ItemText read_item_text(Bytes text, bool labelled) {
    return ItemReader(text, labelled).read();
}

}  // namespace hedgerow
