// `paddock drain`: lets the daemon's runs finish, or takes runs again.

#include <fmt/format.h>

#include "kernel/policy/units.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;
using nlohmann::ordered_json;

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} run{} {}", count, count == 1 ? "" : "s", what);
}

struct Drained {
  std::string text;
  bool cancelled = false;
};

Result<Drained> drained_from(std::string_view answer) {
  return render<Drained>(answer, [](const ordered_json& json) {
    Drained drained;
    drained.cancelled = json.at("cancelled").get<bool>();
    drained.text =
        fmt::format("{}: {}, {}, {}\n", drained.cancelled ? "cancelled" : "drained",
                    counted(json.at("finished").get<std::size_t>(), "finished"),
                    counted(json.at("killed").get<std::size_t>(), "killed"),
                    counted(json.at("never_started").get<std::size_t>(), "never started"));
    return drained;
  });
}

std::string body_of(const Options& options) {
  if (!options.deadline) return "{}";
  return fmt::format("{{\"deadline_seconds\":{:.3f}}}", kernel::seconds_in(*options.deadline));
}

Result<int> drain(const Options& options) {
  Client client = TRY(require_daemon(options.global, "drain"));
  if (options.cancel) {
    TRY(ask(client, "DELETE", "/v1/drain"));
    return print("runs are taken again\n") ? exit_success : exit_error;
  }
  // It takes as long as the runs take.
  const HttpResponse response =
      TRY(client.request("POST", "/v1/drain", body_of(options), std::nullopt));
  if (!response.ok()) return tl::unexpected<kernel::Error>(error_of(response));
  const Drained drained = TRY(drained_from(response.body));
  if (!print(drained.text)) return exit_error;
  return drained.cancelled ? exit_error : exit_success;
}

}  // namespace

int drain_command(const Options& options) {
  return end_with(drain(options));
}

}  // namespace paddock::supervisor::cli
