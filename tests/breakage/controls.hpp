#pragma once
// The controls, one by one, and what notices that one is gone. Plain data.

#include <string_view>
#include <vector>

namespace paddock::breakage {

// setup: a later step fails. receipt: a difference between plan and receipt. escape: an attempt of
// tests/escapes. test: a test of tests/sandbox. The first two keep the program from ever running.
enum class CaughtBy { setup, receipt, escape, test };

// What a host must have for the control to be there at all.
enum class Needs { nothing, root, priority, landlock, signal_scope, keyrings, cgroup, controllers };

struct Control {
  std::string_view name;     // the value of PADDOCK_BREAK
  std::string_view profile;  // one that has it
  CaughtBy caught_by = CaughtBy::receipt;
  // Of the difference or of the step that fails; for escape the attempt that then succeeds, for
  // test the test that then fails.
  std::string_view evidence;
  Needs needs = Needs::nothing;
  bool without_cgroup = false;  // cgroup.kill covers it
  // What is tried, if `evidence` does not say it.
  std::string_view attempt = "env_umask";
  bool warm = false;  // in a fork of a zygote
};

const std::vector<Control>& all_controls();

// A step of the set-up that fails: in paddock-launch, in its agent's process, or in the child of
// the supervisor before that.
struct Step {
  std::string_view name;
  std::string_view profile;
  std::string_view said;  // the run is refused, and this is in the reason
  Needs needs = Needs::nothing;
};

const std::vector<Step>& all_steps();

std::string_view name_of(CaughtBy caught_by);
std::string_view missing(Needs needs);  // why it is unsupported where the host lacks it

}  // namespace paddock::breakage
