#include "kernel/policy/request.hpp"

#include <string_view>

#include <fmt/format.h>

#include "kernel/policy/names.hpp"
#include "kernel/policy/units.hpp"

namespace paddock::kernel {
namespace {

// The message is the whole sentence: "argv[3] contains a NUL byte".
tl::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::invalid_request, std::move(message));
}

bool has_nul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

Result<void> check_at_least_one(std::string_view field, const std::optional<std::uint64_t>& value) {
  if (value && *value < 1) return invalid(fmt::format("{} is 0, at least 1", field));
  return {};
}

Result<void> check_limits(const Request& request) {
  TRY_VOID(check_at_least_one("cpu_seconds", request.cpu_seconds));
  TRY_VOID(check_at_least_one("memory_bytes", request.memory_bytes));
  TRY_VOID(check_at_least_one("fsize_bytes", request.fsize_bytes));
  TRY_VOID(check_at_least_one("nproc", request.nproc));
  TRY_VOID(check_at_least_one("nofile", request.nofile));
  TRY_VOID(check_at_least_one("output_bytes", request.output_bytes));
  TRY_VOID(check_at_least_one("output_stop_bytes", request.output_stop_bytes));
  if (!request.wall_clock) return {};
  if (request.wall_clock->count() < 1) return invalid("wall_seconds is below 1ms");
  if (*request.wall_clock > duration_max) return invalid("wall_seconds is above 366 days");
  return {};
}

Result<void> check_names(const Request& request) {
  const std::string rule = "is not of the form [A-Za-z0-9_-]{1,64}";
  if (!request.profile.empty() && !is_name(request.profile)) return invalid("profile " + rule);
  if (!request.agent.empty() && !is_name(request.agent)) return invalid("agent " + rule);
  if (!request.tenant.empty() && !is_name(request.tenant)) return invalid("tenant " + rule);
  return {};
}

// Counts the NUL that ends each string, as execve(2) does.
Result<std::size_t> check_argv(const std::vector<std::string>& argv) {
  if (argv.size() > argv_entries_max) {
    return invalid(fmt::format("argv has {} entries, at most {}", argv.size(), argv_entries_max));
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (has_nul(argv[i])) return invalid(fmt::format("argv[{}] contains a NUL byte", i));
    if (argv[i].size() > argument_bytes_max) {
      return invalid(
          fmt::format("argv[{}] is {} bytes, at most {}", i, argv[i].size(), argument_bytes_max));
    }
    bytes += argv[i].size() + 1;
  }
  if (bytes > argv_and_environment_bytes_max) {
    return invalid(
        fmt::format("argv is {} bytes, at most {}", bytes, argv_and_environment_bytes_max));
  }
  return bytes;
}

Result<void> check_variable(const std::string& name, const std::string& value) {
  // Only the form is judged here. Whether a name is allowed is the policy's question, so that the
  // error says sandbox_policy_error and not invalid_request.
  if (name.empty()) return invalid("environment has an empty name");
  if (has_nul(name)) return invalid("environment has a name that contains a NUL byte");
  if (name.find('=') != std::string::npos) {
    return invalid(fmt::format("environment has the name '{}', which contains '='", name));
  }
  if (has_nul(value)) return invalid(fmt::format("environment.{} contains a NUL byte", name));
  const std::size_t bytes = name.size() + 1 + value.size();
  if (bytes > argument_bytes_max) {
    return invalid(fmt::format("an environment variable is {} bytes with its name, at most {}",
                               bytes, argument_bytes_max));
  }
  return {};
}

Result<std::size_t> check_environment(const std::map<std::string, std::string>& environment) {
  if (environment.size() > environment_entries_max) {
    return invalid(fmt::format("environment has {} entries, at most {}", environment.size(),
                               environment_entries_max));
  }
  // The sum first: of ten megabytes the size is the news, not the form of one name.
  std::size_t bytes = 0;
  for (const auto& [name, value] : environment) bytes += name.size() + 1 + value.size() + 1;
  if (bytes > argv_and_environment_bytes_max) {
    return invalid(
        fmt::format("environment is {} bytes, at most {}", bytes, argv_and_environment_bytes_max));
  }
  for (const auto& [name, value] : environment) TRY_VOID(check_variable(name, value));
  return bytes;
}

Result<void> check_path(std::string_view field, std::string_view path) {
  if (has_nul(path)) return invalid(fmt::format("{} contains a NUL byte", field));
  if (path.size() > path_bytes_max) {
    return invalid(fmt::format("{} is {} bytes, at most {}", field, path.size(), path_bytes_max));
  }
  if (!path.starts_with('/')) {
    return invalid(fmt::format("{} '{}' is not an absolute path", field, path));
  }
  return {};
}

Result<void> check_binds(std::string_view field, const std::vector<std::string>& binds) {
  for (std::size_t i = 0; i < binds.size(); ++i) {
    TRY_VOID(check_path(fmt::format("{}[{}]", field, i), binds[i]));
  }
  return {};
}

Result<void> check_paths(const Request& request) {
  const std::size_t binds = request.bind_ro.size() + request.bind_rw.size();
  if (binds > binds_max) {
    return invalid(
        fmt::format("bind_ro and bind_rw have {} entries, at most {}", binds, binds_max));
  }
  TRY_VOID(check_binds("bind_ro", request.bind_ro));
  TRY_VOID(check_binds("bind_rw", request.bind_rw));
  if (!request.workdir.empty()) TRY_VOID(check_path("workdir", request.workdir));
  if (!request.cwd.empty()) TRY_VOID(check_path("cwd", request.cwd));
  return {};
}

}  // namespace

Result<void> check_request(const Request& request) {
  if (request.agent.empty()) {
    if (request.argv.empty()) return invalid("argv is empty and no agent is named: nothing to run");
    if (request.argv.front().empty()) return invalid("argv[0] is empty");
  }
  TRY_VOID(check_names(request));
  const std::size_t argv_bytes = TRY(check_argv(request.argv));
  const std::size_t environment_bytes = TRY(check_environment(request.environment));
  if (argv_bytes + environment_bytes > argv_and_environment_bytes_max) {
    return invalid(fmt::format("argv and environment are {} bytes together, at most {}",
                               argv_bytes + environment_bytes, argv_and_environment_bytes_max));
  }
  if (request.stdin_bytes.size() > stdin_bytes_max) {
    return invalid(
        fmt::format("stdin is {} bytes, at most {}", request.stdin_bytes.size(), stdin_bytes_max));
  }
  TRY_VOID(check_limits(request));
  return check_paths(request);
}

}  // namespace paddock::kernel
