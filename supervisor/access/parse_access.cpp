#include "supervisor/access/parse_access.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>

#include "kernel/policy/names.hpp"
#include "kernel/policy/parse.hpp"
#include "kernel/policy/toml_reader.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Place;
using kernel::TomlReader;

// The largest is none: to chown(2) and setresuid(2) it means "leave it as it is".
constexpr std::uint64_t id_max = std::numeric_limits<uid_t>::max() - 1;

class Parser {
 public:
  Parser(TomlReader& reader, const AccessContext& context) : reader_(reader), context_(context) {}

  AccessRules parse() {
    AccessRules rules;
    read_socket_group(rules);
    const std::size_t count = reader_.tables("tenant");
    for (std::size_t i = 0; i < count; ++i)
      rules.tenants.push_back(read_tenant(fmt::format("tenant[{}]", i)));
    reader_.report_unknown_keys();
    return rules;
  }

 private:
  // Ids that are taken, and by which tenant.
  using Taken = std::map<std::uint64_t, std::string>;

  void report(const std::string& table, const char* key, std::string message) {
    reader_.report(reader_.place(table, key), std::move(message));
  }

  std::string with_nearest(std::string message, const std::string& name,
                           const std::vector<std::string>& known) {
    const std::string nearest = kernel::nearest_name(name, known);
    if (!nearest.empty()) return fmt::format("{}; did you mean '{}'?", message, nearest);
    return known.empty() ? fmt::format("{}; there is none", message)
                         : fmt::format("{}; known are {}", message, kernel::quoted_list(known));
  }

  void read_socket_group(AccessRules& rules) {
    const auto name = reader_.text("", "socket_group");
    if (!name) return;
    const auto gid = context_.gid_named(*name);
    if (!gid) return report("", "socket_group", gid.error().message);
    if (context_.host_uids.contains(*gid))
      return report("", "socket_group", fmt::format("group '{}' is one of those for runs", *name));
    if (!context_.may_give_to(*gid))
      return report("", "socket_group",
                    fmt::format("the daemon's user is no member of group '{}', and so cannot give "
                                "the sockets to it",
                                *name));
    rules.socket_group = *gid;
  }

  Tenant read_tenant(const std::string& table) {
    Tenant tenant;
    read_name(table, tenant);
    if (const auto text = reader_.text(table, "class")) {
      tenant.metrics_class = *text;
      if (!kernel::is_name(*text))
        report(table, "class",
               fmt::format("class '{}' is not of the form [A-Za-z0-9_-]{{1,64}}", *text));
    }
    read_ids(table, "uids", context_.uid_named, uids_, tenant.name, tenant.uids);
    read_ids(table, "gids", context_.gid_named, gids_, tenant.name, tenant.gids);
    if (!reader_.has(table, "uids") && !reader_.has(table, "gids"))
      report(table, "uids", "a tenant needs uids or gids: nobody is it otherwise");
    read_verbs(table, tenant);
    read_profiles(table, tenant);
    read_sees(table, tenant);
    tenant.alive_max = reader_.count(table, "runs_alive");
    tenant.queued_max = reader_.count(table, "runs_queued");
    tenant.queued_bytes_max = reader_.bytes(table, "queued_bytes");
    return tenant;
  }

  void read_name(const std::string& table, Tenant& tenant) {
    const bool present = reader_.has(table, "name");
    const auto name = reader_.text(table, "name");
    if (!present) report(table, "name", "name is missing");
    if (!name) return;
    tenant.name = *name;
    if (!kernel::is_name(*name))
      return report(table, "name",
                    fmt::format("name '{}' is not of the form [A-Za-z0-9_-]{{1,64}}", *name));
    const Place place = reader_.place(table, "name");
    const auto [first, added] = names_.emplace(*name, place.line);
    if (!added)
      report(table, "name",
             fmt::format("name '{}' is already used at line {}", *name, first->second));
  }

  template <class Id>
  void read_ids(const std::string& table, const char* key,
                const std::function<kernel::Result<Id>(const std::string&)>& look_up, Taken& taken,
                const std::string& tenant, std::set<Id>& ids) {
    const auto list = reader_.id_list(table, key);
    if (!list) return;
    if (list->empty()) report(table, key, fmt::format("{} is empty; leave it out", key));
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Place place = reader_.place_of_entry(table, key, i);
      const auto id = id_of<Id>((*list)[i], key, look_up, place);
      if (!id) continue;
      if (const std::string mistake = id_mistake(*id, key, taken, tenant); !mistake.empty()) {
        reader_.report(place, mistake);
        continue;
      }
      taken.emplace(*id, tenant);
      ids.insert(*id);
    }
  }

  template <class Id>
  std::optional<Id> id_of(const TomlReader::NumberOrName& entry, const char* key,
                          const std::function<kernel::Result<Id>(const std::string&)>& look_up,
                          Place place) {
    if (const auto* name = std::get_if<std::string>(&entry)) {
      const auto id = look_up(*name);
      if (id) return *id;
      reader_.report(place, id.error().message);
      return std::nullopt;
    }
    const std::uint64_t number = std::get<std::uint64_t>(entry);
    if (number <= id_max) return static_cast<Id>(number);
    reader_.report(place, fmt::format("{}: {} is more than {}", key, number, id_max));
    return std::nullopt;
  }

  // Empty if `id` may be this tenant's.
  std::string id_mistake(std::uint64_t id, std::string_view key, const Taken& taken,
                         const std::string& tenant) const {
    const char* kind = key == "uids" ? "uid" : "gid";
    if (context_.host_uids.contains(static_cast<uid_t>(id)))
      return fmt::format("{} {} is one of those for runs ({}-{}): no run may ask for anything",
                         kind, id, context_.host_uids.first,
                         context_.host_uids.first + context_.host_uids.count - 1);
    if (key == "uids" && (id == 0 || id == context_.daemon_uid))
      return fmt::format("uid {} is the operator's, who may do everything already", id);
    if (const auto other = taken.find(id); other != taken.end())
      return fmt::format("{} {} is already {} tenant '{}'", kind, id,
                         other->second == tenant ? "listed for" : "of", other->second);
    return {};
  }

  void read_verbs(const std::string& table, Tenant& tenant) {
    const bool present = reader_.has(table, "verbs");
    const auto list = reader_.text_list(table, "verbs");
    if (!present)
      report(table, "verbs",
             fmt::format("verbs is missing: what the tenant may do, of {}",
                         kernel::quoted_list(verb_names())));
    if (!list) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (const auto verb = verb_named((*list)[i])) {
        tenant.verbs.insert(*verb);
      } else {
        reader_.report(
            reader_.place_of_entry(table, "verbs", i),
            with_nearest(fmt::format("unknown verb '{}'", (*list)[i]), (*list)[i], verb_names()));
      }
    }
  }

  void read_profiles(const std::string& table, Tenant& tenant) {
    const auto list = reader_.text_list(table, "profiles");
    if (!list) return;
    tenant.profiles.emplace(list->begin(), list->end());
    if (!context_.profiles) return;
    const std::vector<std::string> known(context_.profiles->begin(), context_.profiles->end());
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (context_.profiles->contains((*list)[i])) continue;
      reader_.report(
          reader_.place_of_entry(table, "profiles", i),
          with_nearest(fmt::format("unknown profile '{}'", (*list)[i]), (*list)[i], known));
    }
  }

  void read_sees(const std::string& table, Tenant& tenant) {
    const auto text = reader_.text(table, "sees");
    if (!text) return;
    if (*text == "all") {
      tenant.sees = Sees::all;
    } else if (*text != "own") {
      report(table, "sees", fmt::format("sees is '{}'; known are 'own', 'all'", *text));
    }
  }

  TomlReader& reader_;
  const AccessContext& context_;
  std::map<std::string, std::uint32_t> names_;  // and the line
  Taken uids_;
  Taken gids_;
};

}  // namespace

AccessRules parse_access(std::string_view text, const std::string& file,
                         const AccessContext& context,
                         std::vector<kernel::Diagnostic>& diagnostics) {
  const std::size_t begin = diagnostics.size();
  auto reader = TomlReader::parse(text, file, diagnostics);
  if (!reader) return {};
  AccessRules rules = Parser(*reader, context).parse();
  kernel::sort_by_place(diagnostics, begin);
  return rules;
}

}  // namespace paddock::supervisor
