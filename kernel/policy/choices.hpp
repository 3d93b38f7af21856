#pragma once
// The words that TOML, JSON and `paddock policy` use for a profile's choices.

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "kernel/policy/agent_template.hpp"
#include "kernel/policy/profile.hpp"

namespace paddock::kernel {

template <class Choice>
struct Named {
  Choice choice;
  std::string_view name;
};

constexpr std::array<Named<CgroupUse>, 3> cgroup_uses = {{{CgroupUse::never, "never"},
                                                          {CgroupUse::if_delegated, "if_delegated"},
                                                          {CgroupUse::required, "required"}}};

constexpr std::array<Named<LandlockUse>, 3> landlock_uses = {
    {{LandlockUse::never, "never"},
     {LandlockUse::if_supported, "if_supported"},
     {LandlockUse::required, "required"}}};

constexpr std::array<Named<SeccompUse>, 3> seccomp_uses = {{{SeccompUse::off, "off"},
                                                            {SeccompUse::default_list, "default"},
                                                            {SeccompUse::strict, "strict"}}};

constexpr std::array<Named<AgentProtocol>, 2> agent_protocols = {
    {{AgentProtocol::plain, "plain"}, {AgentProtocol::jsonl, "jsonl"}}};

constexpr std::array<Named<WorkspaceUse>, 2> workspace_uses = {
    {{WorkspaceUse::persistent, "persistent"}, {WorkspaceUse::private_per_run, "private"}}};

constexpr std::array<Named<RestartPolicy>, 3> restart_policies = {
    {{RestartPolicy::never, "never"},
     {RestartPolicy::on_failure, "on_failure"},
     {RestartPolicy::always, "always"}}};

// Every value of the enumeration is in its table.
template <class Choice, std::size_t size>
constexpr std::string_view name_in(const std::array<Named<Choice>, size>& table, Choice choice) {
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const Named<Choice>& named) { return named.choice == choice; });
  return row->name;
}

template <class Choice, std::size_t size>
constexpr std::optional<Choice> choice_in(const std::array<Named<Choice>, size>& table,
                                          std::string_view name) {
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const Named<Choice>& named) { return named.name == name; });
  if (row == table.end()) return std::nullopt;
  return row->choice;
}

constexpr std::string_view name_of(CgroupUse use) {
  return name_in(cgroup_uses, use);
}
constexpr std::string_view name_of(LandlockUse use) {
  return name_in(landlock_uses, use);
}
constexpr std::string_view name_of(SeccompUse use) {
  return name_in(seccomp_uses, use);
}
constexpr std::string_view name_of(AgentProtocol protocol) {
  return name_in(agent_protocols, protocol);
}
constexpr std::string_view name_of(WorkspaceUse use) {
  return name_in(workspace_uses, use);
}
constexpr std::string_view name_of(RestartPolicy policy) {
  return name_in(restart_policies, policy);
}

}  // namespace paddock::kernel
