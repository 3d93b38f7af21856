// Breaks each control in turn, shows what notices it, and fails if nothing does.
//
//   paddock-breakage [--all] [--warm] [CONTROL...]
//   paddock-breakage --faults
//
// --warm: only those of forks of a zygote.
// --faults: lets each step of the set-up fail, with three errors each. The run must be refused at
// once, say which step it was, and leave nothing.
// --all: a control that this host does not have is a failure.

#include <grp.h>
#include <linux/keyctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "breakage/controls.hpp"
#include "breakage/wrapped.hpp"
#include "kernel/base/executable.hpp"
#include "kernel/run/sandbox.hpp"

namespace paddock::breakage {
namespace {

constexpr int exit_timed_out = 124;  // of timeout(1)
constexpr const char* seconds_max = "60";

struct Output {
  std::string text;
  int exit_code = -1;
};

// Words are from the tables of this program: none needs quoting but test names.
Output run(const std::string& control, const std::string& command) {
  const std::string directory = kernel::executable_directory();
  const std::string line = std::string(variable) + "=" + control + " timeout --kill-after 1 " +
                           seconds_max + " " + directory + "/" + command + " 2>&1";
  Output output;
  FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.text.append(buffer.data(), count);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
  return output;
}

// What was seen with one control broken. Not caught: everything went as it should.
struct Seen {
  bool caught = false;
  CaughtBy by = CaughtBy::escape;
  std::string detail;
};

std::string_view attempt_for(const Control& control) {
  const bool refused =
      control.caught_by == CaughtBy::setup || control.caught_by == CaughtBy::receipt;
  return refused ? control.attempt : control.evidence;
}

Seen try_test(const std::string& control, std::string_view name) {
  const Output output = run(control, "breakable_tests --abort '" + std::string(name) + "'");
  const bool passed =
      output.exit_code == 0 && output.text.find("All tests passed") != std::string::npos;
  return {!passed, CaughtBy::test, std::string(name)};
}

Seen try_attempt(const std::string& broken_control, const Control& control) {
  const std::string_view profile = control.profile;
  const std::string_view attempt = attempt_for(control);
  std::string command = "paddock-escapes --json --profile " + std::string(profile) + " --only " +
                        std::string(attempt);
  if (control.warm) command += " --warm";
  if (control.without_cgroup) command += " --cgroup-base none";
  const Output output = run(broken_control, command);
  if (output.exit_code == exit_timed_out)
    return {true, CaughtBy::escape, std::string(attempt) + " does not end"};
  const auto json = nlohmann::json::parse(output.text, nullptr, false);
  if (json.is_discarded()) return {true, CaughtBy::escape, "paddock-escapes: " + output.text};
  const auto verdict = json["attempts"][0]["profiles"][profile];
  if (verdict.is_null()) return {true, CaughtBy::escape, "no control: " + output.text};
  if (verdict["verdict"] != "failed") return {};
  const std::string reason = verdict["reason"];
  const std::size_t refused = reason.find("cannot_isolate: ");
  if (refused == std::string::npos)
    return {true, CaughtBy::escape, std::string(attempt) + ": " + reason};
  if (reason.starts_with("leaked")) return {true, CaughtBy::escape, reason};
  const std::size_t begin = reason.find(": ", refused) + 2;
  return {true, CaughtBy::receipt, reason.substr(begin, reason.rfind(')') - begin)};
}

Seen try_without(const std::string& broken_control, const Control& control) {
  if (control.caught_by == CaughtBy::test) return try_test(broken_control, control.evidence);
  return try_attempt(broken_control, control);
}

bool has_session_keyring() {
  return ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) >= 0;
}

bool has_priority() {
  rlimit nice{};
  rlimit realtime{};
  ::getrlimit(RLIMIT_NICE, &nice);
  ::getrlimit(RLIMIT_RTPRIO, &realtime);
  return nice.rlim_cur == 10 && realtime.rlim_cur == 10;
}

bool host_has(Needs needs, const kernel::Sandbox& sandbox) {
  const auto& base = sandbox.cgroup().base;
  switch (needs) {
    case Needs::nothing:
      return true;
    case Needs::root:
      return ::geteuid() == 0;
    case Needs::priority:
      return has_priority();
    case Needs::landlock:
      return sandbox.host().landlock_abi >= 2;
    case Needs::signal_scope:
      return sandbox.host().landlock_abi >= 6;
    case Needs::keyrings:
      return has_session_keyring();
    case Needs::cgroup:
      return base.has_value();
    case Needs::controllers:
      return base && base->controllers.size() >= 3;
  }
  return false;
}

// A refusal before the program is the receipt's work if it is one of its differences: the table
// says which of the two it must be.
bool as_the_table_says(const Seen& seen, const Control& control) {
  const bool refused = seen.by == CaughtBy::receipt;
  const bool must_be_refused =
      control.caught_by == CaughtBy::setup || control.caught_by == CaughtBy::receipt;
  return seen.caught && refused == must_be_refused &&
         seen.detail.find(control.evidence) != std::string::npos;
}

void print(std::string_view control, std::string_view by, std::string_view detail) {
  constexpr std::size_t detail_max = 100;
  std::string text(detail.substr(0, detail_max));
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::printf("%-22.*s %-12.*s %s\n", static_cast<int>(control.size()), control.data(),
              static_cast<int>(by.size()), by.data(), text.c_str());
  std::fflush(stdout);
}

// True if it is as it must be.
bool break_one(const Control& control) {
  const Seen seen = try_without(std::string(control.name), control);
  const std::string label = (control.warm ? "warm: " : "") + std::string(control.name);
  if (as_the_table_says(seen, control)) {
    print(label, name_of(control.caught_by), seen.detail);
    return true;
  }
  print(label, seen.caught ? "OTHERWISE" : "NOT CAUGHT",
        seen.caught ? seen.detail + " (expected: " + std::string(control.evidence) + ")" : "");
  return false;
}

// With nothing broken the same attempts and tests must be content, or they prove nothing.
bool all_content_unbroken(const std::vector<Control>& controls) {
  std::set<std::string> tried;
  bool content = true;
  for (const Control& control : controls) {
    const std::string trial = std::string(control.profile) + (control.without_cgroup ? "-" : "+") +
                              (control.warm ? "warm " : "cold ") +
                              std::string(attempt_for(control));
    if (!tried.insert(trial).second) continue;
    // A busy host makes a deadline late now and then, not three times.
    Seen seen;
    for (int tries = 0; tries == 0 || (seen.caught && tries < 3); ++tries)
      seen = try_without("", control);
    if (!seen.caught) continue;
    print("(nothing broken)", "FAILED", seen.detail);
    content = false;
  }
  return content;
}

// What root could pass on: a group, priorities.
bool have_something_to_lose() {
  constexpr gid_t group = 4;
  constexpr rlimit ten{10, 10};
  ::setrlimit(RLIMIT_NICE, &ten);
  ::setrlimit(RLIMIT_RTPRIO, &ten);
  return ::setgroups(1, &group) == 0;
}

// What is in the way is said before what it led to: "leaked process 12; it gave no report (...)".
bool refused_cleanly(const Seen& seen, const Step& step, int error) {
  const std::string said = std::string(step.said) + ": " + kernel::errno_text(error);
  return seen.caught && seen.detail.find(said) != std::string::npos &&
         seen.detail.find("leaked") == std::string::npos;
}

int let_steps_fail(const kernel::Sandbox& sandbox) {
  constexpr std::array errors = {EPERM, ENOMEM, EINTR};
  int refused = 0;
  int failed = 0;
  print("step", "result", "detail");
  for (const Step& step : all_steps()) {
    if (!host_has(step.needs, sandbox)) {
      print(step.name, "unsupported", missing(step.needs));
      continue;
    }
    std::string as_it_must;
    for (const int error : errors) {
      const std::string broken_step =
          "fail:" + std::string(step.name) + ":" + std::to_string(error);
      const Control control{broken_step, step.profile, CaughtBy::setup, step.said};
      const Seen seen = try_attempt(broken_step, control);
      if (refused_cleanly(seen, step, error)) {
        as_it_must += (as_it_must.empty() ? "" : " ") + std::string(::strerrorname_np(error));
        ++refused;
      } else {
        print(step.name, "FAILED",
              std::string(::strerrorname_np(error)) + ": " +
                  (seen.caught ? seen.detail : "the run was started"));
        ++failed;
      }
    }
    if (!as_it_must.empty())
      print(step.name, "refused", std::string(step.said) + ": " + as_it_must);
  }
  std::printf("%d faults: each refused, and nothing left; %d not so\n", refused, failed);
  return failed == 0 ? 0 : 1;
}

int main_program(std::set<std::string_view> chosen) {
  const bool all_must_be_here = chosen.erase("--all") > 0;
  const auto sandbox = kernel::Sandbox::open({.cgroup_base = "", .host_uids = {}});
  if (!sandbox) {
    std::fprintf(stderr, "paddock-breakage: %s\n", sandbox.error().message.c_str());
    return 2;
  }
  if (::geteuid() == 0 && !have_something_to_lose()) return 2;
  if (chosen.contains("--faults")) return let_steps_fail(*sandbox);
  std::vector<Control> controls = all_controls();
  if (chosen.erase("--warm") > 0)
    std::erase_if(controls, [](const Control& control) { return !control.warm; });
  if (!chosen.empty())
    std::erase_if(controls, [&](const Control& control) { return !chosen.contains(control.name); });

  print("control", "caught by", "detail");
  bool good = all_content_unbroken(controls);
  int caught = 0;
  int unsupported = 0;
  for (const Control& control : controls) {
    if (!host_has(control.needs, *sandbox)) {
      print(control.name, "unsupported", missing(control.needs));
      ++unsupported;
    } else if (break_one(control)) {
      ++caught;
    } else {
      good = false;
    }
  }
  std::printf("%d of %zu controls: caught when broken; %d unsupported here\n", caught,
              controls.size(), unsupported);
  if (all_must_be_here && unsupported > 0) good = false;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace paddock::breakage

int main(int argc, char** argv) {
  return paddock::breakage::main_program({argv + 1, argv + argc});
}
