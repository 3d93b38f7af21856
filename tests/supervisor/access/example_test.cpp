// The example that is shipped must be right.

#include "kernel/base/fd.hpp"
#include "supervisor/access/parse_access.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

TEST_CASE("the shipped example of access.toml is free of mistakes and uses every key") {
  const auto text = kernel::read_file(PADDOCK_ACCESS_EXAMPLE, 1u << 20);
  REQUIRE(text);
  AccessContext context;
  context.daemon_uid = 0;
  uid_t next = 1000;
  context.profiles = std::set<std::string>{"STRICT", "SEALED"};
  context.uid_named = [&](const std::string&) { return kernel::Result<uid_t>(++next); };
  context.gid_named = [&](const std::string&) { return kernel::Result<gid_t>(++next); };
  context.may_give_to = [](gid_t) { return true; };
  std::vector<kernel::Diagnostic> diagnostics;
  const AccessRules rules = parse_access(*text, PADDOCK_ACCESS_EXAMPLE, context, diagnostics);
  for (const auto& diagnostic : diagnostics) UNSCOPED_INFO(kernel::to_string(diagnostic));
  CHECK(diagnostics.empty());
  CHECK(rules.socket_group);
  CHECK(rules.tenants.size() == 3);
  for (const char* key : {"class", "uids", "gids", "verbs", "profiles", "sees", "runs_alive",
                          "runs_queued", "queued_bytes"})
    CHECK(text->find(std::string("\n") + key + " ") != std::string::npos);
}
