#include "supervisor/cli/request.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "kernel/policy/units.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {

kernel::Request request_of(const RequestOptions& options) {
  kernel::Request request;
  request.profile = options.profile;
  request.agent = options.agent;
  request.argv = options.argv;
  request.environment = options.environment;
  request.tenant = options.tenant;
  request.wall_clock = options.wall_clock;
  request.cpu_seconds = options.cpu_seconds;
  request.memory_bytes = options.memory_bytes;
  request.nproc = options.max_procs;
  request.bind_ro = options.bind_ro;
  request.bind_rw = options.bind_rw;
  request.network = options.network;
  request.allow_degraded = options.allow_degraded;
  return request;
}

void set_start_directory(kernel::Request& request, const RequestOptions& options,
                         bool uses_bubblewrap, const std::string& current_directory) {
  if (uses_bubblewrap) {
    request.workdir = options.workdir;
  } else {
    request.cwd = options.workdir.empty() ? current_directory : options.host_workdir;
  }
}

bool can_be_entered_by_others(const std::string& path) {
  std::filesystem::path at;
  for (const std::filesystem::path& component : std::filesystem::path(path)) {
    at /= component;
    struct stat status {};
    if (::stat(at.c_str(), &status) != 0 || (status.st_mode & S_IXOTH) == 0) return false;
  }
  return true;
}

std::string start_directory_for(bool runs_have_own_user) {
  std::error_code error;
  std::string directory = std::filesystem::current_path(error).string();
  if (error) {
    complain("the current directory is gone; starting in a fresh workspace");
    return {};
  }
  if (runs_have_own_user && !can_be_entered_by_others(directory)) {
    complain(directory + " is not accessible to the run's user; starting in a fresh workspace");
    return {};
  }
  return directory;
}

void grant(kernel::Profile& profile, const kernel::Request& request) {
  kernel::RequestRights& rights = profile.requests;
  rights.bind_ro.insert(rights.bind_ro.end(), request.bind_ro.begin(), request.bind_ro.end());
  rights.bind_rw.insert(rights.bind_rw.end(), request.bind_rw.begin(), request.bind_rw.end());
  rights.network = rights.network || request.network;
  for (const auto& [name, value] : request.environment) profile.allow_environment.push_back(name);
}

kernel::Result<std::string> request_to_json(const RunRequest& run) {
  const kernel::Request& request = run.request;
  nlohmann::ordered_json body = nlohmann::ordered_json::object();
  if (!request.profile.empty()) body["profile"] = request.profile;
  if (!request.agent.empty()) body["agent"] = request.agent;
  if (!request.argv.empty()) body["argv"] = request.argv;
  if (!request.stdin_bytes.empty()) body["stdin"] = request.stdin_bytes;
  if (!request.environment.empty()) body["env"] = request.environment;
  if (!request.tenant.empty()) body["tenant"] = request.tenant;

  auto& limits = body["limits"] = nlohmann::ordered_json::object();
  if (request.wall_clock) limits["wall_seconds"] = kernel::seconds_in(*request.wall_clock);
  const auto limit = [&](const char* key, const std::optional<std::uint64_t>& value) {
    if (value) limits[key] = *value;
  };
  limit("cpu_seconds", request.cpu_seconds);
  limit("memory_bytes", request.memory_bytes);
  limit("fsize_bytes", request.fsize_bytes);
  limit("nproc", request.nproc);
  limit("nofile", request.nofile);
  limit("output_bytes", request.output_bytes);
  limit("output_stop_bytes", request.output_stop_bytes);

  if (!request.bind_ro.empty()) body["bind_ro"] = request.bind_ro;
  if (!request.bind_rw.empty()) body["bind_rw"] = request.bind_rw;
  if (request.network) body["network"] = true;
  if (!request.workdir.empty()) body["workdir"] = request.workdir;
  if (!request.cwd.empty()) body["cwd"] = request.cwd;
  if (request.allow_degraded) body["allow_degraded"] = true;
  if (run.detach) body["detach"] = true;
  if (run.stream) body["stream"] = true;
  if (run.stdin_open) body["stdin_open"] = true;
  if (run.warm) body["warm"] = true;
  try {
    return body.dump();
  } catch (const nlohmann::json::exception&) {
    return kernel::fail(kernel::ErrorCode::invalid_request,
                        "an argument or variable is not valid UTF-8, which the daemon's API cannot "
                        "carry; --embedded can");
  }
}

}  // namespace paddock::supervisor::cli
