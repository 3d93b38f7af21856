#include "supervisor/verify/read_document.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::json;

// Builds the values, as nlohmann's own builder does, and keeps an eye on what it does not: depth,
// keys that are given twice (there the last one would win in silence), integers that would become
// floats, and in which item all that is.
class Reader final : public nlohmann::json_sax<json> {
 public:
  Document document;
  std::string problem;  // of all of it; empty: none

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string& text) override {
    if (text.find_first_of(".eE") != std::string::npos) return put(value);
    return put(json::binary({text.begin(), text.end()}));
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

  std::vector<Level> levels_;
  std::size_t skipped_levels_ = 0;
  bool is_in_items_ = false;
  std::size_t item_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

Result<Document> read_document(std::string_view body) {
  Reader reader;
  if (!json::sax_parse(body, &reader))
    return fail(ErrorCode::invalid_request,
                reader.problem.empty() ? "the body is not valid JSON" : reader.problem);
  if (!reader.document.root.is_object())
    return fail(ErrorCode::invalid_request, "the body must be a JSON object");
  return std::move(reader.document);
}

}  // namespace paddock::supervisor
