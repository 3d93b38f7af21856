#include "supervisor/runtimes/parse_runtime.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/policy/names.hpp"
#include "kernel/policy/parse.hpp"
#include "kernel/policy/request.hpp"
#include "kernel/policy/toml_directory.hpp"
#include "kernel/policy/toml_reader.hpp"
#include "kernel/policy/units.hpp"
#include "supervisor/runtimes/step.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Diagnostic;
using kernel::Place;
using kernel::TomlReader;

struct Parsed {
  Runtime runtime;  // to be used only if `valid`; its name may be known even if it is not
  Place name_place;
  Place profile_place;
  std::vector<Place> alias_places;
  bool valid = false;
};

// Also "c++" and "c#".
bool is_alias(std::string_view text) {
  return !text.empty() && text.size() <= kernel::name_bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("_-+#.").find(c) != std::string_view::npos;
         });
}

void read_aliases(TomlReader& reader, Parsed& parsed) {
  Runtime& runtime = parsed.runtime;
  runtime.aliases = reader.text_list("", "aliases").value_or(std::vector<std::string>{});
  if (runtime.aliases.size() > aliases_max)
    reader.report(reader.place("", "aliases"), fmt::format("aliases has {} entries, at most {}",
                                                           runtime.aliases.size(), aliases_max));
  for (std::size_t i = 0; i < runtime.aliases.size(); ++i) {
    parsed.alias_places.push_back(reader.place_of_entry("", "aliases", i));
    const std::string& alias = runtime.aliases[i];
    if (!is_alias(alias))
      reader.report(parsed.alias_places.back(),
                    fmt::format("alias '{}' is not of the form [A-Za-z0-9_+#.-]{{1,64}}", alias));
    else if (alias == runtime.name ||
             std::count(runtime.aliases.begin(), runtime.aliases.end(), alias) > 1)
      reader.report(parsed.alias_places.back(), fmt::format("alias '{}' is there twice", alias));
  }
}

// What is there in place of its table, if anything is, report_unknown_keys tells.
void report_missing(TomlReader& reader, std::string_view table, std::string_view key,
                    std::string message) {
  if (!table.empty() && reader.has("", table) && !reader.is_table(table)) return;
  reader.report(reader.place(table, key), std::move(message));
}

std::string read_file_name(TomlReader& reader, std::string_view table, std::string_view key,
                           std::string_view missing) {
  const bool present = reader.has(table, key);
  const auto name = reader.text(table, key);
  if (!present) report_missing(reader, table, key, std::string(missing));
  if (!name) return {};
  if (const auto checked = check_file_name(*name); !checked)
    reader.report(reader.place(table, key), fmt::format("{}: {}", key, checked.error().message));
  return *name;
}

std::vector<std::string> read_command(TomlReader& reader, std::string_view table) {
  const bool present = reader.has(table, "command");
  const auto read = reader.text_list(table, "command");
  if (!present)
    report_missing(
        reader, table, "command",
        fmt::format("[{}] command is missing: write [\"program\", \"argument\"]", table));
  if (!read) return {};
  const Place place = reader.place(table, "command");
  if (read->empty() || read->front().empty()) reader.report(place, "command names no program");
  if (read->size() >= kernel::argv_entries_max)
    reader.report(place, fmt::format("command has {} entries, at most {}", read->size(),
                                     kernel::argv_entries_max - 1));
  for (const std::string& word : *read)
    if (word.find('\0') != std::string::npos) reader.report(place, "command has a NUL in it");
  return *read;
}

CompileStep read_compile(TomlReader& reader, const std::string& source) {
  CompileStep compile;
  compile.command = read_command(reader, "compile");
  compile.artifact = read_file_name(reader, "compile", "artifact",
                                    "[compile] artifact is missing: the file that is the result");
  compile.wall_clock = reader.duration("compile", "wall_seconds");
  if (!compile.artifact.empty() && compile.artifact == source)
    reader.report(reader.place("compile", "artifact"),
                  fmt::format("artifact '{}' is the source itself", source));
  return compile;
}

void read_profile_name(TomlReader& reader, Parsed& parsed) {
  const auto profile = reader.text("", "profile");
  if (!profile) return;
  parsed.runtime.profile = *profile;
  parsed.profile_place = reader.place("", "profile");
  if (!kernel::is_name(*profile))
    reader.report(parsed.profile_place,
                  fmt::format("profile '{}' is not of the form [A-Za-z0-9_-]{{1,64}}", *profile));
}

std::string read_install(TomlReader& reader) {
  constexpr std::size_t install_bytes_max = 256;
  const auto install = reader.text("", "install");
  if (!install) return {};
  const bool is_line =
      std::none_of(install->begin(), install->end(), [](char c) { return c >= 0 && c < ' '; });
  if (install->empty() || install->size() > install_bytes_max || !is_line)
    reader.report(reader.place("", "install"),
                  fmt::format("install must be one line of 1 to {} bytes", install_bytes_max));
  return *install;
}

// A dotted name, as an import statement has it.
bool is_module(std::string_view text) {
  constexpr std::size_t module_bytes_max = 256;
  if (text.empty() || text.size() > module_bytes_max) return false;
  bool begins_part = true;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (c == '.' ? begins_part : !(is_letter || (is_digit && !begins_part))) return false;
    begins_part = c == '.';
  }
  return !begins_part;
}

std::vector<std::string> read_interpreter(TomlReader& reader) {
  const bool present = reader.has("warm", "interpreter");
  const auto read = reader.text_list("warm", "interpreter");
  const Place place = reader.place("warm", "interpreter");
  if (!present)
    report_missing(reader, "warm", "interpreter",
                   "[warm] interpreter is missing: write the words before -c");
  if (!read) return {};
  if (read->empty() || read->front().empty()) reader.report(place, "interpreter names no program");
  if (read->size() >= kernel::argv_entries_max)
    reader.report(place, fmt::format("interpreter has {} entries, at most {}", read->size(),
                                     kernel::argv_entries_max - 1));
  for (const std::string& word : *read) {
    if (word.find('\0') != std::string::npos) reader.report(place, "interpreter has a NUL in it");
    if (word == "-c")
      reader.report(place, "interpreter has a -c, which comes with the code of each run");
  }
  return *read;
}

std::vector<std::string> read_modules(TomlReader& reader) {
  const auto modules = reader.text_list("warm", "modules");
  if (!modules) return default_warm_modules();
  if (modules->size() > warm_modules_max)
    reader.report(reader.place("warm", "modules"), fmt::format("modules has {} entries, at most {}",
                                                               modules->size(), warm_modules_max));
  for (std::size_t i = 0; i < modules->size(); ++i)
    if (!is_module((*modules)[i]))
      reader.report(reader.place_of_entry("warm", "modules", i),
                    fmt::format("'{}' is not the name of a module", (*modules)[i]));
  return *modules;
}

std::uint64_t read_at_most(TomlReader& reader, const char* key, std::uint64_t otherwise,
                           std::uint64_t least, std::uint64_t most) {
  const auto number = reader.count("warm", key, least);
  if (number && *number > most)
    reader.report(reader.place("warm", key),
                  fmt::format("{} {} is more than {}", key, *number, most));
  return number.value_or(otherwise);
}

std::shared_ptr<const WarmWish> read_warm(TomlReader& reader, const std::string& runtime) {
  WarmWish warm;
  warm.runtime = runtime;
  warm.program.interpreter = read_interpreter(reader);
  warm.program.modules = read_modules(reader);
  ZygoteLimits& limits = warm.limits;
  limits.zygotes = read_at_most(reader, "zygotes", limits.zygotes, 0, warm_zygotes_max);
  limits.runs = read_at_most(reader, "runs", limits.runs, 1, warm_runs_max);
  limits.idle = reader.duration("warm", "idle").value_or(limits.idle);
  limits.memory_bytes = reader.bytes("warm", "memory").value_or(limits.memory_bytes);
  if (limits.memory_bytes < warm_memory_bytes_min)
    reader.report(
        reader.place("warm", "memory"),
        fmt::format("memory must be {} or more", kernel::format_bytes(warm_memory_bytes_min)));
  return std::make_shared<const WarmWish>(std::move(warm));
}

Parsed read_runtime(std::string_view text, const std::string& file,
                    std::vector<Diagnostic>& diagnostics) {
  Parsed parsed;
  const std::size_t begin = diagnostics.size();
  auto reader = TomlReader::parse(text, file, diagnostics);
  if (!reader) return parsed;
  Runtime& runtime = parsed.runtime;
  runtime.file = file;
  runtime.name = kernel::read_name(*reader);
  read_aliases(*reader, parsed);
  runtime.source = read_file_name(*reader, "", "source",
                                  "source is missing: what the code is called in the workspace");
  if (reader->has("", "compile")) runtime.compile = read_compile(*reader, runtime.source);
  runtime.run = read_command(*reader, "run");
  if (reader->has("", "version")) runtime.version = read_command(*reader, "version");
  read_profile_name(*reader, parsed);
  runtime.install = read_install(*reader);
  if (reader->has("", "warm")) runtime.warm = read_warm(*reader, runtime.name);
  reader->report_unknown_keys();
  parsed.name_place = reader->place("", "name");
  parsed.valid = diagnostics.size() == begin;
  kernel::sort_by_place(diagnostics, begin);
  return parsed;
}

class Loader {
 public:
  explicit Loader(std::vector<Diagnostic>& diagnostics) : diagnostics_(diagnostics) {}

  void load(const std::string& directory) {
    std::map<std::string, std::string> seen;  // name -> where
    for (const kernel::TomlFile& file : kernel::read_toml_directory(directory, diagnostics_)) {
      Parsed parsed = read_runtime(file.text, file.path, diagnostics_);
      const std::string name = parsed.runtime.name;
      if (!kernel::is_name(name)) continue;
      const auto [first, added] =
          seen.emplace(name, fmt::format("{}:{}", file.path, parsed.name_place.line));
      if (!added)
        report(parsed, parsed.name_place,
               fmt::format("name '{}' is already used at {}", name, first->second));
      parsed_.insert_or_assign(name, std::move(parsed));
    }
  }

  void check_words() {
    std::map<std::string, std::string> users;  // name or alias -> name
    for (const auto& [name, parsed] : parsed_) users.emplace(name, name);
    for (const auto& [name, parsed] : parsed_) {
      for (std::size_t i = 0; i < parsed.alias_places.size(); ++i) {
        const std::string& alias = parsed.runtime.aliases[i];
        const auto [user, added] = users.emplace(alias, name);
        if (!added && user->second != name)
          report(parsed, parsed.alias_places[i],
                 fmt::format("alias '{}' is that of runtime '{}'", alias, user->second));
      }
    }
  }

  void check_profiles(const std::map<std::string, kernel::Profile>& profiles) {
    std::vector<std::string> known;
    for (const auto& [name, profile] : profiles) known.push_back(name);
    for (const auto& [name, parsed] : parsed_) {
      const std::string& profile = parsed.runtime.profile;
      if (!kernel::is_name(profile) || profiles.contains(profile)) continue;
      const std::string nearest = kernel::nearest_name(profile, known);
      report(parsed, parsed.profile_place,
             fmt::format("unknown profile '{}'; {}", profile,
                         nearest.empty() ? "known are " + kernel::quoted_list(known)
                                         : "did you mean '" + nearest + "'?"));
    }
  }

  Runtimes take() && {
    Runtimes runtimes;
    for (auto& [name, parsed] : parsed_)
      if (parsed.valid) runtimes.emplace(name, std::move(parsed.runtime));
    return runtimes;
  }

 private:
  void report(const Parsed& parsed, Place place, std::string message) {
    diagnostics_.push_back({parsed.runtime.file, place.line, place.column, std::move(message)});
  }

  std::vector<Diagnostic>& diagnostics_;
  std::map<std::string, Parsed> parsed_;
};

}  // namespace

const std::vector<std::string>& default_warm_modules() {
  static const std::vector<std::string> modules = {
      "abc",        "array",     "bisect",      "collections", "collections.abc",
      "contextlib", "copy",      "dataclasses", "datetime",    "decimal",
      "enum",       "fractions", "functools",   "hashlib",     "heapq",
      "io",         "itertools", "json",        "math",        "numbers",
      "operator",   "random",    "re",          "statistics",  "string",
      "textwrap",   "time",      "traceback",   "types",       "typing"};
  return modules;
}

std::optional<Runtime> parse_runtime(std::string_view text, const std::string& file,
                                     std::vector<Diagnostic>& diagnostics) {
  Parsed parsed = read_runtime(text, file, diagnostics);
  if (!parsed.valid) return std::nullopt;
  return std::move(parsed.runtime);
}

Runtimes load_runtimes(const std::vector<std::string>& directories,
                       const std::map<std::string, kernel::Profile>* profiles,
                       std::vector<Diagnostic>& diagnostics) {
  Loader loader(diagnostics);
  for (const std::string& directory : directories) loader.load(directory);
  loader.check_words();
  if (profiles != nullptr) loader.check_profiles(*profiles);
  return std::move(loader).take();
}

}  // namespace paddock::supervisor
