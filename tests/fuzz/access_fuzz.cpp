// Goal: access.toml becomes rules under which nobody has more than it says, or what is wrong with
// it is said. Method: what is accepted is looked at, printed as TOML and must be read as the same
// rules again.

#include <algorithm>
#include <array>
#include <utility>

#include "fuzz/property.hpp"
#include "fuzz/toml_text.hpp"
#include "kernel/policy/names.hpp"
#include "supervisor/access/parse_access.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using fuzz::must_hold;
using fuzz::quoted;

namespace {

constexpr uid_t daemon_uid = 990;
constexpr gid_t foreign_gid = 2002;  // the daemon cannot give a file to it

// The user database, and the group database, but for one name that nobody can tell anything about.
constexpr std::array<std::pair<std::string_view, uid_t>, 3> ids = {
    {{"alice", 1001}, {"rl", 2001}, {"strangers", foreign_gid}}};
constexpr std::string_view unreachable = "far";

kernel::Result<uid_t> id_named(const std::string& name) {
  for (const auto& [known, id] : ids)
    if (name == known) return id;
  if (name == unreachable) return kernel::fail(kernel::ErrorCode::io, "nobody can tell");
  return kernel::fail(kernel::ErrorCode::not_found, "there is no '" + name + "'");
}

AccessContext context() {
  return {.daemon_uid = daemon_uid,
          .host_uids = {},
          .profiles = std::set<std::string>{"DEFAULT", "STRICT", "SEALED"},
          .uid_named = id_named,
          .gid_named = id_named,
          .may_give_to = [](gid_t gid) { return gid != foreign_gid; }};
}

template <class Id>
std::string printed(const char* key, const std::set<Id>& all) {
  if (all.empty()) return "";
  std::string text = std::string(key) + " = [";
  for (const Id id : all) text += std::to_string(id) + ", ";
  return text + "]\n";
}

std::string printed(const char* key, const std::optional<std::size_t>& count) {
  return count ? std::string(key) + " = " + std::to_string(*count) + "\n" : "";
}

std::string printed(const Tenant& tenant) {
  std::vector<std::string> verbs;
  for (const Verb verb : tenant.verbs) verbs.emplace_back(name_of(verb));
  std::string text = "[[tenant]]\nname = " + quoted(tenant.name) +
                     "\nclass = " + quoted(tenant.metrics_class) + "\nverbs = " + quoted(verbs) +
                     "\nsees = " + quoted(tenant.sees == Sees::all ? "all" : "own") + "\n" +
                     printed("uids", tenant.uids) + printed("gids", tenant.gids) +
                     printed("runs_alive", tenant.alive_max) +
                     printed("runs_queued", tenant.queued_max) +
                     printed("queued_bytes", tenant.queued_bytes_max);
  if (tenant.profiles)
    text += "profiles = " +
            quoted(std::vector<std::string>(tenant.profiles->begin(), tenant.profiles->end())) +
            "\n";
  return text;
}

std::string printed(const AccessRules& rules) {
  std::string text;
  for (const auto& [name, id] : ids)
    if (rules.socket_group == id) text = "socket_group = " + quoted(name) + "\n";
  for (const Tenant& tenant : rules.tenants) text += printed(tenant);
  return text;
}

void check_tenant(const Tenant& tenant, const AccessContext& known) {
  must_hold(kernel::is_name(tenant.name), "a tenant has a name", tenant.name);
  must_hold(kernel::is_name(tenant.metrics_class), "a label in metrics is a name");
  must_hold(!tenant.uids.empty() || !tenant.gids.empty(), "somebody is the tenant", tenant.name);
  for (const uid_t uid : tenant.uids)
    must_hold(uid != 0 && uid != daemon_uid && uid != ~uid_t{0} && !known.host_uids.contains(uid),
              "a tenant's uid is neither the operator's nor a run's nor none");
  for (const gid_t gid : tenant.gids)
    must_hold(gid != ~gid_t{0} && !known.host_uids.contains(gid),
              "a tenant's gid is neither a run's nor none");
  for (const auto& count : {tenant.alive_max, tenant.queued_max, tenant.queued_bytes_max})
    must_hold(!count || *count >= 1, "every limit is at least 1");
  if (!tenant.profiles) return;
  for (const std::string& profile : *tenant.profiles)
    must_hold(known.profiles->contains(profile), "a tenant's profiles are known", profile);
}

void check_rules(const AccessRules& rules, const AccessContext& known) {
  must_hold(!rules.socket_group || known.may_give_to(*rules.socket_group),
            "the daemon can give its socket to the group");
  std::set<std::string> names;
  std::set<uid_t> uids;
  std::set<gid_t> gids;
  for (const Tenant& tenant : rules.tenants) {
    check_tenant(tenant, known);
    must_hold(names.insert(tenant.name).second, "no two tenants have one name", tenant.name);
    for (const uid_t uid : tenant.uids)
      must_hold(uids.insert(uid).second, "nobody is two tenants by uid");
    for (const gid_t gid : tenant.gids)
      must_hold(gids.insert(gid).second, "nobody is two tenants by one group");
  }
}

void check_diagnostics(std::string_view text, const std::vector<kernel::Diagnostic>& diagnostics) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  std::uint32_t line = 0;
  for (const kernel::Diagnostic& diagnostic : diagnostics) {
    must_hold(diagnostic.file == "fuzz.toml", "a mistake names its file");
    must_hold(!diagnostic.message.empty(), "a mistake has a reason");
    must_hold(diagnostic.line >= 1 && diagnostic.line <= lines, "a mistake is in the file",
              to_string(diagnostic));
    must_hold(diagnostic.line >= line, "mistakes are in the order of the file");
    line = diagnostic.line;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const AccessContext known = context();
  std::vector<kernel::Diagnostic> diagnostics;
  const AccessRules rules = parse_access(text, "fuzz.toml", known, diagnostics);
  check_diagnostics(text, diagnostics);
  if (!diagnostics.empty()) return 0;
  check_rules(rules, known);
  const std::string toml = printed(rules);
  const AccessRules again = parse_access(toml, "fuzz.toml", known, diagnostics);
  must_hold(diagnostics.empty(), "printed rules are rules",
            diagnostics.empty() ? toml : to_string(diagnostics[0]) + "\n" + toml);
  must_hold(again == rules, "printed rules are read as themselves", toml);
  return 0;
}
