#pragma once
// TomlReader: typed reading of one TOML file. Every mistake becomes a Diagnostic with its place and
// reading goes on, so that one look at the output mends the whole file.
//
// toml++ and its exceptions stay in toml_reader.cpp. A key counts as known once it has been asked
// for: report_unknown_keys() comes last.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernel/policy/load.hpp"

namespace paddock::kernel {

struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

class TomlReader {
 public:
  // Nothing, and one diagnostic, if the text is not TOML.
  static std::optional<TomlReader> parse(std::string_view text, const std::string& file,
                                         std::vector<Diagnostic>& diagnostics);
  TomlReader(TomlReader&&) noexcept;
  TomlReader& operator=(TomlReader&&) = delete;
  ~TomlReader();

  // How many tables the list [[key]] has. Each is then a table of its own name: "key[0]", "key[1]".
  std::size_t tables(std::string_view key);

  // Each reads `key` of `table` ("" is the top level) and yields nothing if it is absent or, with a
  // diagnostic, of the wrong type or form.
  std::optional<std::string> text(std::string_view table, std::string_view key);
  std::optional<bool> boolean(std::string_view table, std::string_view key);
  std::optional<std::uint64_t> count(std::string_view table, std::string_view key,
                                     std::uint64_t least = 1);
  // An integer, or "512MiB".
  std::optional<std::uint64_t> bytes(std::string_view table, std::string_view key,
                                     std::uint64_t least = 1);
  // An integer or a fraction of seconds, or "1.5s".
  // `or_word`: what may stand in place of a time, for what is told of a mistake.
  std::optional<std::chrono::milliseconds> duration(std::string_view table, std::string_view key,
                                                    std::string_view or_word = {});
  std::optional<std::uint64_t> whole_seconds(std::string_view table, std::string_view key,
                                             std::string_view or_word = {});
  std::optional<double> number(std::string_view table, std::string_view key);
  std::optional<std::vector<std::string>> text_list(std::string_view table, std::string_view key);
  // Whole numbers and names, mixed.
  using NumberOrName = std::variant<std::uint64_t, std::string>;
  std::optional<std::vector<NumberOrName>> id_list(std::string_view table, std::string_view key);
  // Entries of the wrong type are left out.
  std::map<std::string, std::string> text_map(std::string_view table, std::string_view key);

  bool has(std::string_view table, std::string_view key) const;
  bool is_table(std::string_view name) const;
  // True if the value is this very string: for a word that may stand where a number does.
  bool is_word(std::string_view table, std::string_view key, std::string_view word) const;
  // Of a table whose keys the operator chooses; empty if it is absent. Whoever asks answers for
  // each of them: they all count as known.
  std::vector<std::string> keys(std::string_view table);
  // Of the value, or of the table's header if the key is absent, or of the file's first line.
  Place place(std::string_view table, std::string_view key) const;
  Place place_of_entry(std::string_view table, std::string_view key, std::size_t index) const;
  Place place_of_entry(std::string_view table, std::string_view key, std::string_view name) const;

  void report(Place place, std::string message);
  void report_unknown_keys();

 private:
  struct Document;  // holds the toml++ tree
  explicit TomlReader(std::unique_ptr<Document> document);

  std::unique_ptr<Document> document_;
};

// What a file does not say stays as it is.
template <class T>
void assign(T& field, std::optional<T> value) {
  if (value) field = std::move(*value);
}

}  // namespace paddock::kernel
