#include "kernel/confine/launch_spec.hpp"

#include <cassert>
#include <cstring>

namespace paddock::kernel {
namespace {

template <class T>
void append_bytes(std::string& out, const T& value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

void append_string(std::string& out, const std::string& value) {
  assert(value.find('\0') == std::string::npos);
  out += value;
  out += '\0';
}

std::vector<std::string> strings(char** list, std::size_t count) {
  return {list, list + count};
}

}  // namespace

std::string encode(const LaunchSpec& spec) {
  const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  std::string out;
  append_bytes(out, SpecHeader{.rlimit_count = count(spec.rlimits),
                               .wrapper_count = count(spec.wrapper),
                               .argv_count = count(spec.argv),
                               .environment_count = count(spec.environment),
                               .new_session = spec.new_session ? 1u : 0u,
                               .own_user_namespace = spec.own_user_namespace ? 1u : 0u,
                               .landlock_rule_count = count(spec.landlock.allowed),
                               .filter_length = static_cast<std::uint32_t>(
                                   spec.filter.size() / filter_instruction_bytes),
                               .landlock_handled_file = spec.landlock.handled_file,
                               .landlock_scoped = spec.landlock.scoped,
                               .host_uid = spec.host_uid.value_or(0),
                               .channel = spec.channel ? 1u : 0u,
                               .user_namespaces_closed = spec.user_namespaces_closed ? 1u : 0u,
                               .mount_count = count(spec.mounts),
                               .watch_sockets = spec.watch_sockets ? 1u : 0u,
                               .prepared_program = spec.prepared_program});
  for (const Rlimit& limit : spec.rlimits)
    append_bytes(out, WireRlimit{static_cast<std::uint64_t>(limit.resource), limit.value});
  for (const LandlockRule& rule : spec.landlock.allowed) append_bytes(out, rule.access);
  out += spec.filter;
  append_string(out, spec.workdir);
  for (const LandlockRule& rule : spec.landlock.allowed) append_string(out, rule.path);
  for (const auto* list : {&spec.wrapper, &spec.argv, &spec.environment})
    for (const std::string& word : *list) append_string(out, word);
  for (const FreshMount& mount : spec.mounts)
    for (const auto* word : {&mount.type, &mount.target, &mount.options}) append_string(out, *word);
  return out;
}

std::optional<LaunchSpec> decode_launch_spec(std::string_view bytes) {
  // A copy that is aligned for the rlimits and may be pointed into.
  std::vector<std::uint64_t> aligned(bytes.size() / sizeof(std::uint64_t) + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  SpecView view;
  if (!parse_spec(reinterpret_cast<char*>(aligned.data()), bytes.size(), view)) return std::nullopt;
  LaunchSpec spec{.wrapper = strings(view.wrapper, view.wrapper_count),
                  .argv = strings(view.argv, view.argv_count),
                  .environment = strings(view.environment, view.environment_count),
                  .workdir = view.workdir,
                  .rlimits = {},
                  .landlock = {.abi = 0,  // not part of the wire: only people need it
                               .handled_file = view.landlock_handled_file,
                               .scoped = view.landlock_scoped,
                               .allowed = {}},
                  .filter = {view.filter, view.filter_length * filter_instruction_bytes},
                  .new_session = view.new_session,
                  .own_user_namespace = view.own_user_namespace,
                  .host_uid = std::nullopt,
                  .channel = view.channel,
                  .user_namespaces_closed = view.user_namespaces_closed,
                  .mounts = {},
                  .watch_sockets = view.watch_sockets,
                  .prepared_program = view.prepared_program};
  if (view.host_uid != 0) spec.host_uid = static_cast<uid_t>(view.host_uid);
  for (std::size_t i = 0; i < view.rlimit_count; ++i)
    spec.rlimits.push_back({static_cast<int>(view.rlimits[i].resource), view.rlimits[i].value});
  for (std::size_t i = 0; i < view.landlock_rule_count; ++i)
    spec.landlock.allowed.push_back({view.landlock_paths[i], view.landlock_access[i]});
  for (std::size_t i = 0; i < view.mount_count; ++i) {
    const MountView mount = view.mount(i);
    spec.mounts.push_back({mount.type, mount.target, mount.options});
  }
  return spec;
}

}  // namespace paddock::kernel
