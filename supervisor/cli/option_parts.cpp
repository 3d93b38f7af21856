#include "supervisor/cli/option_parts.hpp"

#include <charconv>

#include <fmt/format.h>

#include "supervisor/config/not_empty.hpp"

namespace paddock::supervisor::cli {

CLI::ValidationError mistake(const std::string& option, const std::string& message) {
  return CLI::ValidationError(option, message);
}

CLI::Option* add_list(CLI::App* app, const std::string& name, std::vector<std::string>& words,
                      const std::string& help, const std::string& type) {
  return app->add_option(name, words, help)
      ->allow_extra_args(false)
      ->type_name(type)
      ->check(not_empty());
}

CLI::Option* add_text(CLI::App* app, const std::string& name, std::string& text,
                      const std::string& help, const std::string& type) {
  return app->add_option(name, text, help)->type_name(type)->check(not_empty());
}

CLI::Option* add_count(CLI::App* app, const std::string& name, std::optional<std::uint64_t>& count,
                       const std::string& help, const std::string& type, std::uint64_t least) {
  const auto set = [&count, name, least](const std::string& text) {
    std::uint64_t value = 0;
    const auto end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end || value < least)
      throw mistake(name, fmt::format("'{}' is not a whole number of {} or more", text, least));
    count = value;
  };
  return app->add_option_function<std::string>(name, set, help)->type_name(type);
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& footer) {
  CLI::App* const command = parent.add_subcommand(name, description);
  command->footer(footer);
  command->fallthrough();  // global options may follow the command
  return command;
}

}  // namespace paddock::supervisor::cli
