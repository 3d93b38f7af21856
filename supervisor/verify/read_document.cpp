#include "supervisor/verify/read_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>
#include <vector>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::json;

// nlohmann's lexer makes a double of each integer beyond 64 bits, and fails where that is infinite:
// very long ones are taken out before, and a number that nobody writes stands for each.
class LongIntegers {
 public:
  // The text to parse in place of `body`.
  std::string_view take_from(std::string_view body) {
    std::size_t done = 0;
    for (std::size_t i = 0; i < body.size();) {
      if (body[i] == '"') {
        i = end_of_string(body, i);
        continue;
      }
      const std::size_t end = std::min(body.find_first_not_of("0123456789", i), body.size());
      if (end - i > digits_max && body[i] != '0' && !continues(body, i) && !goes_on(body, end)) {
        text_ += body.substr(done, i - done);
        text_ += fmt::format("{}{:010}", prefix, digits_.size());
        digits_.emplace_back(body.substr(i, end - i));
        done = end;
      }
      i = std::max(end, i + 1);
    }
    if (digits_.empty()) return body;
    text_ += body.substr(done);
    return text_;
  }

  // What `number` stands for; empty: for itself.
  std::string digits_of(std::string_view number) const {
    const bool is_negative = number.starts_with('-');
    if (is_negative) number.remove_prefix(1);
    if (!number.starts_with(prefix)) return {};
    number.remove_prefix(prefix.size());
    std::size_t index = digits_.size();
    std::from_chars(number.data(), number.data() + number.size(), index);
    if (number.size() != index_digits || index >= digits_.size()) return {};
    return (is_negative ? "-" : "") + digits_[index];
  }

 private:
  static constexpr std::size_t digits_max = 300;
  static constexpr std::string_view prefix = "0e-";
  static constexpr std::size_t index_digits = 10;

  static std::size_t end_of_string(std::string_view body, std::size_t begin) {
    std::size_t i = begin + 1;
    while (i < body.size() && body[i] != '"') i += body[i] == '\\' ? 2 : 1;
    return i + 1;
  }
  // Of a fraction or an exponent, whose sign it may have.
  static bool continues(std::string_view body, std::size_t begin) {
    std::size_t at = begin;
    if (at > 0 && (body[at - 1] == '+' || body[at - 1] == '-')) --at;
    return at > 0 && std::string_view(".eE").find(body[at - 1]) != std::string_view::npos;
  }
  static bool goes_on(std::string_view body, std::size_t end) {
    return end < body.size() && std::string_view(".eE").find(body[end]) != std::string_view::npos;
  }

  std::string text_;
  std::vector<std::string> digits_;
};

// Builds the values, as nlohmann's own builder does, and keeps an eye on what it does not: depth,
// keys that are given twice (there the last one would win in silence), integers that would become
// floats, and in which item all that is.
class Reader final : public nlohmann::json_sax<json> {
 public:
  explicit Reader(const LongIntegers& long_integers) : long_integers_(long_integers) {}

  Document document;
  std::string problem;  // of all of it; empty: none

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string& text) override {
    std::string digits = long_integers_.digits_of(text);
    if (digits.empty() && text.find_first_of(".eE") == std::string::npos) digits = text;
    if (digits.empty()) return put(value);
    return put(json::binary({digits.begin(), digits.end()}));
  }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(json::binary_t&) override { return false; }  // JSON text has none

  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    if (skipped_levels_ > 0) return true;
    Level& level = levels_.back();
    if (!level.keys.insert(name).second) return complain("the key '" + name + "' is given twice");
    if (levels_.size() == 1) is_in_items_ = name == "items";
    level.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const json::exception& error) override {
    constexpr int out_of_range = 406;
    if (!problem.empty()) return false;
    problem = error.id == out_of_range
                  ? fmt::format("a number near byte {} is out of range", position)
                  : fmt::format("the body is not valid JSON: near byte {}", position);
    return false;
  }

 private:
  struct Level {
    json* container;
    std::string key{};
    std::set<std::string> keys{};
  };

  bool is_in_item() const { return is_in_items_ && levels_.size() >= 2; }

  // Within an item the rest of the request is not concerned.
  bool complain(std::string why) {
    if (!is_in_item()) {
      problem = std::move(why);
      return false;
    }
    document.bad_items.emplace(item_, std::move(why));
    return true;
  }

  // Null: it is left out, below what is too deep.
  json* place(json value) {
    if (levels_.empty()) {
      document.root = std::move(value);
      return &document.root;
    }
    Level& level = levels_.back();
    if (levels_.size() == 2 && is_in_items_) item_ = level.container->size();
    if (level.container->is_array()) {
      level.container->push_back(std::move(value));
      return &level.container->back();
    }
    return &((*level.container)[level.key] = std::move(value));
  }

  bool count() {
    if (++values_ <= document_values_max) return true;
    problem = fmt::format("the body has more than {} values", document_values_max);
    return false;
  }

  bool put(json value) {
    if (!count()) return false;
    if (skipped_levels_ == 0) place(std::move(value));
    return true;
  }

  bool open(json container) {
    if (!count()) return false;
    if (skipped_levels_ > 0 || levels_.size() == document_nesting_max) {
      ++skipped_levels_;
      return complain("it is nested too deeply");
    }
    levels_.push_back({place(std::move(container))});
    return true;
  }

  bool close() {
    if (skipped_levels_ > 0) {
      --skipped_levels_;
    } else {
      levels_.pop_back();
    }
    return true;
  }

  const LongIntegers& long_integers_;
  std::vector<Level> levels_;
  std::size_t skipped_levels_ = 0;
  bool is_in_items_ = false;
  std::size_t item_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

Result<Document> read_document(std::string_view body) {
  LongIntegers long_integers;
  const std::string_view text = long_integers.take_from(body);
  Reader reader(long_integers);
  if (!json::sax_parse(text, &reader))
    return fail(ErrorCode::invalid_request,
                reader.problem.empty() ? "the body is not valid JSON" : reader.problem);
  if (!reader.document.root.is_object())
    return fail(ErrorCode::invalid_request, "the body must be a JSON object");
  return std::move(reader.document);
}

}  // namespace paddock::supervisor
