#include "supervisor/cli/remote.hpp"

#include <unistd.h>

#include "kernel/policy/names.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/request.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;

// A name that is none could mean another path.
Result<std::string> target_for(const std::string& kind, const std::string& name) {
  if (kernel::is_name(name)) return "/v1/" + kind + "s/" + name;
  return kernel::fail(kernel::ErrorCode::invalid_request,
                      kind + " '" + name + "' is not of the form [A-Za-z0-9_-]{1,64}");
}

}  // namespace

Result<std::string> RemoteBackend::profiles() {
  return ask(client_, "GET", "/v1/profiles");
}

Result<std::string> RemoteBackend::profile(const std::string& name) {
  return ask(client_, "GET", TRY(target_for("profile", name)));
}

Result<std::string> RemoteBackend::agent(const std::string& name) {
  return ask(client_, "GET", TRY(target_for("agent", name)));
}

Result<std::string> RemoteBackend::host() {
  return ask(client_, "GET", "/v1/host");
}

Result<std::string> RemoteBackend::plan(const kernel::Request& request) {
  return ask(client_, "POST", "/v1/plan", TRY(request_to_json({.request = request, .parent = {}})));
}

Result<std::string> RemoteBackend::doctor() {
  return ask(client_, "GET", "/v1/doctor");
}

bool RemoteBackend::runs_have_own_user() const {
  return client_.daemon_uid() == 0 || client_.daemon_uid() != ::geteuid();
}

}  // namespace paddock::supervisor::cli
