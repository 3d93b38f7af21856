// `paddock profile list | show | check`.

#include <sys/stat.h>

#include <fmt/format.h>

#include "kernel/base/fd.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/policy/toml_directory.hpp"
#include "supervisor/cli/backend.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/embedded.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/profile_text.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Diagnostic;
using kernel::Result;

Result<std::string> list_profiles(const Options& options) {
  const auto backend = TRY(open_backend(options.global));
  std::string answer = TRY(backend->profiles());
  return options.json ? answer : profile_list_text(answer);
}

Result<std::string> show_profile(const Options& options) {
  const auto backend = TRY(open_backend(options.global));
  std::string answer = TRY(backend->profile(options.profile));
  return options.json ? answer : profile_show_text(answer);
}

void check_file(const std::string& path, std::vector<Diagnostic>& diagnostics) {
  const auto text = kernel::read_file(path, kernel::toml_file_bytes_max);
  if (text) {
    kernel::parse_profile(*text, path, diagnostics);
  } else {
    diagnostics.push_back({path, 0, 0, text.error().message});
  }
}

void check_path(const std::string& path, std::vector<Diagnostic>& diagnostics) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return check_file(path, diagnostics);
  const kernel::LoadResult loaded = kernel::load_catalog({path}, {});
  diagnostics.insert(diagnostics.end(), loaded.diagnostics.begin(), loaded.diagnostics.end());
}

}  // namespace

int profile_list_command(const Options& options) {
  return end_with(list_profiles(options));
}

int profile_show_command(const Options& options) {
  return end_with(show_profile(options));
}

// Files as they are here, whatever a daemon has loaded.
int profile_check_command(const Options& options) {
  std::vector<Diagnostic> diagnostics;
  for (const std::string& path : options.paths) check_path(path, diagnostics);
  if (options.paths.empty()) {
    diagnostics =
        kernel::load_catalog(profile_directories(options.global), agent_directories(options.global))
            .diagnostics;
  }
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += kernel::to_string(diagnostic) + "\n";
  if (!print(diagnostics.empty() ? "ok\n" : text)) return exit_error;
  return diagnostics.empty() ? exit_success : exit_error;
}

}  // namespace paddock::supervisor::cli
