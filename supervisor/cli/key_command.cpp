// `paddock key new | rotate | show-id`.

#include <fmt/format.h>

#include "kernel/policy/names.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::Result;
using nlohmann::ordered_json;

std::string named(const std::string& tenant) {
  return tenant.empty() ? "the operator" : "tenant '" + tenant + "'";
}

Result<void> check_tenant_name(const std::string& tenant) {
  if (tenant.empty() || kernel::is_name(tenant)) return {};
  return kernel::fail(ErrorCode::invalid_request,
                      "'" + tenant + "' is not a tenant's name ([A-Za-z0-9_-]{1,64})");
}

struct MadeKey {
  std::string id;
  std::string key;
};

Result<int> make(const Options& options, bool rotate) {
  TRY_VOID(check_tenant_name(options.tenant));
  Client client = TRY(require_daemon(options.global, "key"));
  const ordered_json body = {{"tenant", options.tenant}, {"rotate", rotate}};
  const std::string answer = TRY(ask(client, "POST", "/v1/keys", body.dump()));
  const MadeKey made = TRY(render<MadeKey>(answer, [](const ordered_json& key) {
    return MadeKey{key.at("key_id").get<std::string>(), key.at("key").get<std::string>()};
  }));
  if (!print(options.json ? answer : made.key + "\n")) return exit_error;
  complain(fmt::format("this is the key {} of {}; it is not shown again", printable(made.id),
                       named(options.tenant)));
  return exit_success;
}

Result<int> show_id(const Options& options) {
  TRY_VOID(check_tenant_name(options.tenant));
  Client client = TRY(require_daemon(options.global, "key"));
  const std::string answer = TRY(ask(client, "GET", "/v1/keys?tenant=" + options.tenant));
  const std::string id = TRY(render<std::string>(answer, [](const ordered_json& key) {
    const ordered_json& key_id = key.at("key_id");
    return key_id.is_null() ? std::string() : key_id.get<std::string>();
  }));
  if (options.json && !print(answer)) return exit_error;
  if (id.empty())
    return kernel::fail(ErrorCode::not_found,
                        named(options.tenant) + " has no key; `paddock key new` makes one");
  if (!options.json && !print(printable(id) + "\n")) return exit_error;
  return exit_success;
}

}  // namespace

int key_new_command(const Options& options) {
  return end_with(make(options, /*rotate=*/false));
}

int key_rotate_command(const Options& options) {
  return end_with(make(options, /*rotate=*/true));
}

int key_show_id_command(const Options& options) {
  return end_with(show_id(options));
}

}  // namespace paddock::supervisor::cli
