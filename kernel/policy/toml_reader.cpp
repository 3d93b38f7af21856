#include "kernel/policy/toml_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "kernel/policy/names.hpp"
#include "kernel/policy/toml_depth.hpp"
#include "kernel/policy/units.hpp"

namespace paddock::kernel {
namespace {

// For "not <this>" in a message.
std::string_view description_of(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a fraction";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

Place place_of(const toml::source_position& position) {
  return {position.line, position.column};
}
Place place_of(const toml::node& node) {
  return place_of(node.source().begin);
}

// "tenant" of "tenant[3]", one table of a list; all of any other name.
std::string_view list_of(std::string_view table) {
  return table.substr(0, table.find('['));
}
bool is_of_list(std::string_view table) {
  return list_of(table).size() < table.size();
}

std::string label_of(std::string_view table) {
  if (table.empty()) return "at the top level";
  return is_of_list(table) ? fmt::format("in [[{}]]", list_of(table))
                           : fmt::format("in [{}]", table);
}

}  // namespace

struct TomlReader::Document {
  toml::table root;
  std::string file;
  std::vector<Diagnostic>& diagnostics;
  // The keys that were asked for, by table: what the file may hold.
  std::map<std::string, std::vector<std::string>, std::less<>> known;

  const toml::table* table(std::string_view name) const {
    if (name.empty()) return &root;
    if (!is_of_list(name)) return root[name].as_table();
    const toml::array* list = root[list_of(name)].as_array();
    std::size_t index = 0;
    std::from_chars(name.data() + list_of(name).size() + 1, name.data() + name.size(), index);
    const toml::node* entry = list == nullptr ? nullptr : list->get(index);
    return entry == nullptr ? nullptr : entry->as_table();
  }

  const toml::node* find(std::string_view table_name, std::string_view key) const {
    const toml::table* in = table(table_name);
    return in == nullptr ? nullptr : in->get(key);
  }

  const toml::node* take(std::string_view table_name, std::string_view key) {
    std::vector<std::string>& keys = known[std::string(table_name)];
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.emplace_back(key);
    return find(table_name, key);
  }

  void report(Place place, std::string message) {
    diagnostics.push_back({file, place.line, place.column, std::move(message)});
  }

  void report_type(const toml::node& node, std::string_view what, std::string_view wanted) {
    report(place_of(node),
           fmt::format("{} must be {}, not {}", what, wanted, description_of(node.type())));
  }

  // TOML strings can hold "\u0000", which no argv, path or environment can.
  std::optional<std::string> text(const toml::node& node, std::string_view what) {
    const auto* value = node.as_string();
    if (value == nullptr) {
      report_type(node, what, "a string");
      return std::nullopt;
    }
    if (value->get().find('\0') != std::string::npos) {
      report(place_of(node), fmt::format("{} contains a NUL character", what));
      return std::nullopt;
    }
    return value->get();
  }

  std::optional<std::uint64_t> at_least(const toml::node& node, std::string_view key,
                                        std::int64_t value, std::uint64_t least) {
    if (value >= 0 && static_cast<std::uint64_t>(value) >= least) {
      return static_cast<std::uint64_t>(value);
    }
    report(place_of(node), least == 0
                               ? fmt::format("{} is {}: it cannot be negative", key, value)
                               : fmt::format("{} is {}, at least {}; leave it out for the default",
                                             key, value, least));
    return std::nullopt;
  }

  std::optional<std::chrono::milliseconds> seconds(const toml::node& node, std::string_view key,
                                                   double value) {
    // Written so that a NaN fails it too.
    if (!(value >= 0.001 && value <= std::chrono::duration<double>(duration_max).count())) {
      report(place_of(node),
             fmt::format("{} is {} seconds, at least 0.001 and at most 366 days", key, value));
      return std::nullopt;
    }
    return std::chrono::milliseconds(std::llround(value * 1000));
  }

  void report_unknown_key(std::string_view table_name, const toml::key& key, bool is_table);
  void report_unknown_keys(const toml::table& in, std::string_view table_name);
};

std::optional<TomlReader> TomlReader::parse(std::string_view text, const std::string& file,
                                            std::vector<Diagnostic>& diagnostics) {
  if (const auto line = line_with_too_many_dots(text)) {
    diagnostics.push_back(
        {file, static_cast<std::uint32_t>(*line), 1, "more dotted keys than a profile can need"});
    return std::nullopt;
  }
  try {
    return TomlReader(
        std::make_unique<Document>(Document{toml::parse(text), file, diagnostics, {}}));
  } catch (const toml::parse_error& error) {
    const Place place = place_of(error.source().begin);
    diagnostics.push_back({file, place.line, place.column, std::string(error.description())});
    return std::nullopt;
  }
}

TomlReader::TomlReader(std::unique_ptr<Document> document) : document_(std::move(document)) {}
TomlReader::TomlReader(TomlReader&&) noexcept = default;
TomlReader::~TomlReader() = default;

std::size_t TomlReader::tables(std::string_view key) {
  const toml::node* node = document_->take("", key);
  if (node == nullptr) return 0;
  const toml::array* array = node->as_array();
  if (array != nullptr && (array->empty() || array->is_array_of_tables())) return array->size();
  document_->report_type(*node, key, fmt::format("a list of tables, [[{}]]", key));
  return 0;
}

std::optional<std::string> TomlReader::text(std::string_view table, std::string_view key) {
  const toml::node* node = document_->take(table, key);
  return node == nullptr ? std::nullopt : document_->text(*node, key);
}

std::optional<bool> TomlReader::boolean(std::string_view table, std::string_view key) {
  const toml::node* node = document_->take(table, key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_boolean()) return value->get();
  document_->report_type(*node, key, "true or false");
  return std::nullopt;
}

std::optional<std::uint64_t> TomlReader::count(std::string_view table, std::string_view key,
                                               std::uint64_t least) {
  const toml::node* node = document_->take(table, key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_integer()) {
    return document_->at_least(*node, key, value->get(), least);
  }
  document_->report_type(*node, key, "an integer");
  return std::nullopt;
}

std::optional<std::uint64_t> TomlReader::bytes(std::string_view table, std::string_view key,
                                               std::uint64_t least) {
  const toml::node* node = document_->take(table, key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_integer()) {
    return document_->at_least(*node, key, value->get(), least);
  }
  if (const auto* value = node->as_string()) {
    const auto bytes = parse_bytes(value->get());
    if (bytes && *bytes >= least) return *bytes;
    document_->report(place_of(*node),
                      bytes ? fmt::format("{} is {}, at least {}; leave it out for the default",
                                          key, *bytes, least)
                            : fmt::format("{}: {}", key, bytes.error().message));
    return std::nullopt;
  }
  document_->report_type(*node, key, "a size such as 4096 or \"512MiB\"");
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> TomlReader::duration(std::string_view table,
                                                              std::string_view key,
                                                              std::string_view or_word) {
  const toml::node* node = document_->take(table, key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_integer()) {
    return document_->seconds(*node, key, static_cast<double>(value->get()));
  }
  if (const auto* value = node->as_floating_point()) {
    return document_->seconds(*node, key, value->get());
  }
  if (const auto* value = node->as_string()) {
    const auto duration = parse_duration(value->get());
    if (duration) return *duration;
    document_->report(place_of(*node),
                      fmt::format("{}: {}{}", key, duration.error().message,
                                  or_word.empty() ? "" : fmt::format(", or \"{}\"", or_word)));
    return std::nullopt;
  }
  document_->report_type(*node, key, "a time such as 30, 1.5 or \"1.5s\"");
  return std::nullopt;
}

std::optional<std::uint64_t> TomlReader::whole_seconds(std::string_view table, std::string_view key,
                                                       std::string_view or_word) {
  const auto value = duration(table, key, or_word);
  if (!value) return std::nullopt;
  const auto ms = static_cast<std::uint64_t>(value->count());
  if (ms % 1000 == 0) return ms / 1000;
  report(place(table, key), fmt::format("{} must be whole seconds: the kernel counts it so", key));
  return std::nullopt;
}

std::optional<double> TomlReader::number(std::string_view table, std::string_view key) {
  const toml::node* node = document_->take(table, key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_floating_point()) return value->get();
  if (const auto* value = node->as_integer()) return static_cast<double>(value->get());
  document_->report_type(*node, key, "a number");
  return std::nullopt;
}

std::optional<std::vector<std::string>> TomlReader::text_list(std::string_view table,
                                                              std::string_view key) {
  const toml::node* node = document_->take(table, key);
  if (node == nullptr) return std::nullopt;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    document_->report_type(*node, key, "a list of strings");
    return std::nullopt;
  }
  std::vector<std::string> values;
  for (std::size_t i = 0; i < array->size(); ++i) {
    auto value = document_->text(*array->get(i), fmt::format("{}[{}]", key, i));
    if (value) values.push_back(std::move(*value));
  }
  // Without the wrong entries the others would have new indexes, and then wrong places.
  if (values.size() != array->size()) return std::nullopt;
  return values;
}

std::optional<std::vector<TomlReader::NumberOrName>> TomlReader::id_list(std::string_view table,
                                                                         std::string_view key) {
  const toml::node* node = document_->take(table, key);
  if (node == nullptr) return std::nullopt;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    document_->report_type(*node, key, "a list of numbers and names");
    return std::nullopt;
  }
  std::vector<NumberOrName> values;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const toml::node& entry = *array->get(i);
    const std::string what = fmt::format("{}[{}]", key, i);
    if (const auto* number = entry.as_integer(); number != nullptr && number->get() >= 0) {
      values.emplace_back(static_cast<std::uint64_t>(number->get()));
    } else if (entry.is_integer()) {
      document_->report(place_of(entry), fmt::format("{} is negative", what));
    } else if (!entry.is_string()) {
      document_->report_type(entry, what, "a number or a name");
    } else if (auto name = document_->text(entry, what)) {
      values.emplace_back(std::move(*name));
    }
  }
  if (values.size() != array->size()) return std::nullopt;  // as text_list
  return values;
}

std::map<std::string, std::string> TomlReader::text_map(std::string_view table,
                                                        std::string_view key) {
  const toml::node* node = document_->take(table, key);
  if (node == nullptr) return {};
  const toml::table* entries = node->as_table();
  if (entries == nullptr) {
    document_->report_type(*node, key, "a table of strings, {NAME = \"value\"}");
    return {};
  }
  std::map<std::string, std::string> values;
  for (const auto& [name, entry] : *entries) {
    const auto value = document_->text(entry, fmt::format("{}.{}", key, name.str()));
    if (value) values.emplace(name.str(), *value);
  }
  return values;
}

bool TomlReader::has(std::string_view table, std::string_view key) const {
  return document_->find(table, key) != nullptr;
}

bool TomlReader::is_table(std::string_view name) const {
  return document_->table(name) != nullptr;
}

bool TomlReader::is_word(std::string_view table, std::string_view key,
                         std::string_view word) const {
  const toml::node* node = document_->find(table, key);
  const auto* value = node == nullptr ? nullptr : node->as_string();
  return value != nullptr && value->get() == word;
}

std::vector<std::string> TomlReader::keys(std::string_view table) {
  std::vector<std::string> names;
  if (const toml::table* in = document_->table(table))
    for (const auto& [key, node] : *in) names.emplace_back(key.str());
  document_->known[std::string(table)] = names;
  return names;
}

Place TomlReader::place(std::string_view table, std::string_view key) const {
  if (const toml::node* node = document_->find(table, key)) return place_of(*node);
  const toml::table* in = document_->table(table);
  return in == nullptr || table.empty() ? Place{1, 1} : place_of(*in);
}

Place TomlReader::place_of_entry(std::string_view table, std::string_view key,
                                 std::size_t index) const {
  const toml::node* node = document_->find(table, key);
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr || index >= array->size()) return place(table, key);
  return place_of(*array->get(index));
}

Place TomlReader::place_of_entry(std::string_view table, std::string_view key,
                                 std::string_view name) const {
  const toml::node* node = document_->find(table, key);
  const toml::table* entries = node == nullptr ? nullptr : node->as_table();
  const toml::node* entry = entries == nullptr ? nullptr : entries->get(name);
  return entry == nullptr ? place(table, key) : place_of(*entry);
}

void TomlReader::report(Place place, std::string message) {
  document_->report(place, std::move(message));
}

void TomlReader::Document::report_unknown_key(std::string_view table_name, const toml::key& key,
                                              bool is_table) {
  const std::string message = fmt::format("unknown {} '{}' {}", is_table ? "table" : "key",
                                          key.str(), label_of(table_name));
  const Place place = place_of(key.source().begin);
  // A right key in the wrong table is the commonest slip: a line moved below the next header.
  for (const auto& [other, keys] : known) {
    if (other == table_name || std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
      continue;
    }
    report(place, fmt::format("{}; it belongs {}", message, label_of(other)));
    return;
  }
  std::vector<std::string> candidates = known[std::string(table_name)];
  if (table_name.empty()) {
    for (const auto& [name, keys] : known) {
      if (!name.empty() && !is_of_list(name)) candidates.push_back(name);
    }
  }
  const std::string nearest = nearest_name(key.str(), candidates);
  report(place, nearest.empty() ? fmt::format("{}; known are {}", message, quoted_list(candidates))
                                : fmt::format("{}; did you mean '{}'?", message, nearest));
}

void TomlReader::Document::report_unknown_keys(const toml::table& in, std::string_view table_name) {
  for (const auto& [key, node] : in) {
    const std::vector<std::string>& keys = known[std::string(table_name)];
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
    const bool is_known_table =
        table_name.empty() && !is_of_list(key.str()) && known.count(key.str()) != 0;
    if (!is_known_table) {
      report_unknown_key(table_name, key, node.is_table());
    } else if (const toml::table* below = node.as_table()) {
      report_unknown_keys(*below, key.str());
    } else {
      report_type(node, key.str(), "a table");
    }
  }
}

void TomlReader::report_unknown_keys() {
  document_->report_unknown_keys(document_->root, "");
  std::vector<std::string> of_lists;
  for (const auto& [name, keys] : document_->known)
    if (is_of_list(name)) of_lists.push_back(name);
  for (const std::string& name : of_lists) {
    if (const toml::table* table = document_->table(name))
      document_->report_unknown_keys(*table, name);
  }
}

}  // namespace paddock::kernel
