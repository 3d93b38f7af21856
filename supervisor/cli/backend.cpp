#include "supervisor/cli/backend.hpp"

#include "kernel/policy/policy.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/embedded.hpp"
#include "supervisor/cli/json_text.hpp"
#include "supervisor/cli/remote.hpp"
#include "supervisor/cli/request.hpp"

namespace paddock::supervisor::cli {

using kernel::Result;

Result<std::unique_ptr<Backend>> open_backend(const GlobalOptions& options) {
  if (!options.embedded) {
    auto daemon = TRY(find_daemon(options));
    if (daemon)
      return std::make_unique<RemoteBackend>(std::move(*daemon), daemon_address(options).socket);
  }
  return std::make_unique<EmbeddedBackend>(TRY(EmbeddedBackend::open(options)));
}

Result<kernel::Request> make_request(Backend& backend, const RequestOptions& options) {
  kernel::Request request = request_of(options);
  std::string agents_profile;
  if (!options.agent.empty()) {
    const std::string agent = TRY(backend.agent(options.agent));
    agents_profile = TRY(text_at(agent, {"profile"}));
  }
  const std::string profile =
      TRY(backend.profile(kernel::profile_name_of(options.profile, agents_profile)));
  const bool uses_bubblewrap = TRY(flag_at(profile, {"isolation", "use_bubblewrap"}));
  const bool needs_directory = !uses_bubblewrap && options.workdir.empty();
  set_start_directory(
      request, options, uses_bubblewrap,
      needs_directory ? start_directory_for(backend.runs_have_own_user()) : std::string());
  TRY_VOID(kernel::check_request(request));
  return request;
}

}  // namespace paddock::supervisor::cli
