#pragma once
// The table of attempts: what each profile promises about each. Plain data.

#include <string_view>
#include <vector>

#include "escapes/runner/expectation.hpp"
#include "kernel/policy/policy.hpp"

namespace paddock::escapes {

// What the runner does with the attempt and looks at.
enum class Scenario {
  report,                   // it runs once and says what came of it
  left_behind,              // it ends; is anything left of it?
  endless,                  // it does not end by itself
  ignores_term,             // nor when it is asked to
  supervisor_killed,        // its supervisor is killed meanwhile
  supervisor_killed_early,  // the same, at several moments of the start
  seen_by_second,           // NAME_hold keeps a state in one run, NAME looks for it in another
  seen_by_first,            // NAME waits for an event in one run, NAME_touch makes it in another
};

// Started as root, paddock gives a run a user of its own; otherwise it has its caller's.
struct ByUser {
  Expectation as_root;
  Expectation as_user;

  ByUser(Expectation both) : as_root(both), as_user(std::move(both)) {}  // NOLINT: implicit
  ByUser(Expectation root, Expectation user) : as_root(std::move(root)), as_user(std::move(user)) {}
};

struct Row {
  std::string_view name;
  ByUser under_default;
  Expectation under_strict;  // SEALED promises the same
  Scenario scenario = Scenario::report;
  std::vector<std::string_view> lacks{};  // words of a control on a host that has none of it
  void (*tighten)(kernel::SandboxPolicy& policy) = nullptr;
};

struct Group {
  std::string_view title;
  std::vector<Row> rows;
};

std::vector<Group> all_groups();

Group file_rows();
Group process_rows();
Group network_rows();
Group resource_rows();
Group lifetime_rows();
Group privilege_rows();
Group syscall_rows();
Group environment_rows();
Group channel_rows();

// Why the shipped profiles leave something open.
namespace reason {
constexpr std::string_view host_files =
    "DEFAULT shows the host's files as the run's user sees them";
constexpr std::string_view host_network = "DEFAULT has the host's network";
constexpr std::string_view host_processes = "DEFAULT shows the host's processes";
constexpr std::string_view host_ipc =
    "DEFAULT shares the host's IPC objects and shared directories";
constexpr std::string_view no_size = "DEFAULT bounds each file, not how much is written";
}  // namespace reason

}  // namespace paddock::escapes
