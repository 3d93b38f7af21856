#include "supervisor/cli/daemon.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernel/policy/names.hpp"
#include "supervisor/config/paths.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Error;
using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::size_t shown_body_bytes_max = 200;

ErrorCode code_named(std::string_view name) {
  for (const ErrorCode code : {ErrorCode::invalid_request, ErrorCode::sandbox_policy_error,
                               ErrorCode::sandbox_not_available, ErrorCode::unknown_profile,
                               ErrorCode::unknown_agent, ErrorCode::not_found, ErrorCode::too_busy,
                               ErrorCode::draining, ErrorCode::not_recorded, ErrorCode::io}) {
    if (kernel::name_of(code) == name) return code;
  }
  return ErrorCode::internal;
}

// Whoever owns the directory reads all that is sent to the socket in it.
Result<void> check_default_directory(const std::string& directory) {
  struct stat status {};
  if (::geteuid() == 0 || ::lstat(directory.c_str(), &status) != 0) return {};
  if (S_ISDIR(status.st_mode) && (status.st_uid == ::geteuid() || status.st_uid == 0)) return {};
  return fail(ErrorCode::io,
              fmt::format("'{}' belongs to uid {}: not connecting to a socket in it; name another "
                          "with --socket, or use --embedded",
                          directory, status.st_uid));
}

// What says how to run without a daemon would have no effect on one, and its runs be others than
// asked for.
Result<void> check_nothing_is_for_embedded(const GlobalOptions& options,
                                           const std::string& socket) {
  const auto refuse = [&](std::string_view option, std::string_view key) {
    return fail(ErrorCode::invalid_request,
                fmt::format("{} is for runs without a daemon, and one answers at '{}'; add "
                            "--embedded, or set {} in the daemon's configuration",
                            option, socket, key));
  };
  if (!options.cgroup_base.empty()) return refuse("--cgroup-base", "cgroup_base");
  if (!options.profiles.empty()) return refuse("--profiles", "profiles");
  if (!options.agents.empty()) return refuse("--agents", "agents");
  return {};
}

}  // namespace

DaemonAddress daemon_address(const GlobalOptions& options) {
  if (!options.socket.empty()) return {options.socket, "--socket"};
  const char* variable = std::getenv("PADDOCK_SOCKET");
  if (variable != nullptr && variable[0] != '\0') return {variable, "PADDOCK_SOCKET"};
  return {main_socket_path(default_runtime_directory()), ""};
}

Result<std::optional<Client>> find_daemon(const GlobalOptions& options) {
  const DaemonAddress address = daemon_address(options);
  const bool is_default = address.named_by.empty();
  if (is_default) TRY_VOID(check_default_directory(default_runtime_directory()));
  auto client = Client::connect(address.socket);
  if (client) TRY_VOID(check_nothing_is_for_embedded(options, address.socket));
  if (client) return std::optional<Client>(std::move(*client));
  if (is_default && client.error().code == ErrorCode::not_found) return std::nullopt;
  return fail(ErrorCode::io,
              client.error().message + (is_default ? "" : " (named by " + address.named_by + ")"));
}

Result<Client> require_daemon(const GlobalOptions& options, const std::string& command) {
  if (options.embedded)
    return fail(ErrorCode::invalid_request,
                fmt::format("{} needs a daemon, and --embedded says to use none", command));
  auto daemon = TRY(find_daemon(options));
  if (daemon) return std::move(*daemon);
  return fail(ErrorCode::io,
              fmt::format("{} needs a daemon, and none runs at '{}'; start paddockd, or name its "
                          "socket with --socket",
                          command, daemon_address(options).socket));
}

Result<void> check_agent_name(const std::string& agent) {
  if (kernel::is_name(agent)) return {};
  return fail(ErrorCode::invalid_request,
              "'" + agent + "' is not an agent's name ([A-Za-z0-9_-]{1,64})");
}

Error error_of(const HttpResponse& response) {
  const auto body = nlohmann::json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  if (body.is_object() && body.contains("error") && body["error"].is_object()) {
    const nlohmann::json& error = body["error"];
    const auto text = [&](const char* key) {
      return error.contains(key) && error[key].is_string() ? error[key].get<std::string>() : "";
    };
    return {code_named(text("code")), text("message")};
  }
  return {ErrorCode::internal, fmt::format("the daemon answered {}: {}", response.status,
                                           response.body.substr(0, shown_body_bytes_max))};
}

Result<std::string> ask(Client& client, std::string_view method, std::string_view target,
                        std::string_view body) {
  HttpResponse response = TRY(client.request(method, target, body));
  if (!response.ok()) return tl::unexpected<Error>(error_of(response));
  return std::move(response.body);
}

}  // namespace paddock::supervisor::cli
