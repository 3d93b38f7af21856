// `paddock doctor`: what this host has, and which profiles it can give. Each profile is tried with
// a run of `true`, because what a host seems to have and what it enforces are two things.

#include <algorithm>

#include <fmt/format.h>

#include "supervisor/cli/backend.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/doctor_text.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/run_json.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Error;
using kernel::Result;
using nlohmann::ordered_json;

Result<std::vector<std::string>> profile_names(Backend& backend) {
  using Names = std::vector<std::string>;
  return render<Names>(TRY(backend.profiles()), [](const ordered_json& json) {
    Names names;
    for (const ordered_json& profile : json.at("profiles"))
      names.push_back(profile.at("name").get<std::string>());
    return names;
  });
}

// A run of `true`. Its cause says whether the confinement was made and seen; how `true` itself
// fares under the profile's limits is the profile's affair.
ProfileHealth try_profile(Backend& backend, const std::string& name) {
  ProfileHealth health{.name = name, .available = false, .problem = "", .degraded = {}};
  kernel::Request request;
  request.profile = name;
  request.argv = {"true"};
  const auto answer = backend.run(request);
  const auto run = answer ? run_from_json(*answer) : tl::unexpected<Error>(answer.error());
  if (!run) {
    health.problem = run.error().message;
    return health;
  }
  health.degraded = run->degraded;
  if (!run->result) {
    health.problem = "the run has no result";
  } else if (run->result->cause != kernel::Cause::exited) {
    health.problem =
        fmt::format("{}: {}", kernel::name_of(run->result->cause), run->result->detail);
  } else {
    health.available = true;
  }
  return health;
}

Result<int> doctor(const Options& options) {
  const auto backend = TRY(open_backend(options.global));
  const std::string host = TRY(backend->host());
  const std::vector<std::string> names = TRY(profile_names(*backend));
  std::vector<ProfileHealth> profiles;
  profiles.reserve(names.size());
  for (const std::string& name : names) profiles.push_back(try_profile(*backend, name));

  const std::string text = TRY(options.json ? doctor_json(host, backend->name(), profiles)
                                            : doctor_text(host, backend->name(), profiles));
  if (!print(text)) return exit_error;
  const auto asked = std::find_if(profiles.begin(), profiles.end(), [&](const ProfileHealth& one) {
    return one.name == options.profile;
  });
  // For the message: it knows the nearest name.
  if (asked == profiles.end()) {
    TRY(backend->profile(options.profile));
    return exit_error;
  }
  return asked->available ? exit_success : exit_cannot_isolate;
}

}  // namespace

int doctor_command(const Options& options) {
  const auto exit_code = doctor(options);
  return exit_code ? *exit_code : complain_and_exit_code(exit_code.error());
}

}  // namespace paddock::supervisor::cli
