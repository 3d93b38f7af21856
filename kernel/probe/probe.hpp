#pragma once
// The probes, as data: what each tries, which control of a policy it proves, and what the control
// must do to it. rfcs/0005 has the list for people. Pure.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/confine/host.hpp"
#include "kernel/policy/policy.hpp"
#include "kernel/probe/answer.hpp"

namespace paddock::kernel {

// What a probe tries its luck on, outside of every run; made by ground.hpp.
struct ProbeTarget {
  std::string directory;       // everybody may pass through it
  std::string secret;          // a file in it that everybody may read
  std::string open_directory;  // one in it that everybody may write to
  unsigned tcp_port = 0;       // listens on the loopback address
  std::string abstract_name;   // listens, too
  std::string mark;            // of a process outside
  int process = 0;             // its pid
  std::string left_mark;       // for the process that an attempt leaves behind

  bool operator==(const ProbeTarget&) const = default;
};

// What decides whether a probe applies.
struct ProbeSubject {
  const SandboxPolicy& policy;
  const HostFacts& host;
  std::vector<std::string> controllers;  // of cgroup v2, which this policy's runs get
};

// Under which run it is tried. All but `shared` end their run or take a limit away that would come
// first.
enum class ProbeRun {
  shared,      // all of them in one run
  pids,        // without RLIMIT_NPROC
  memory,      // without RLIMIT_AS; the kernel kills the run
  wall_clock,  // the supervisor kills the run
  survivor,    // shared, and looked at when the run is over
  no_run,      // by the supervisor itself: planted_link
};

using ProbeWords = std::vector<std::string>;

struct Probe {
  std::string_view name;     // stable: "network_is_unreachable"
  std::string_view control;  // of the profile, as people know it: "deny_network"
  ProbeRun run = ProbeRun::shared;
  Expected expected;
  bool needs_comparison = true;  // false: nobody doubts that it works unconfined
  bool (*applies)(const ProbeSubject&);
  // What paddock-probe is told. `policy` is probe_policy()'s.
  ProbeWords (*words)(const SandboxPolicy& policy, const ProbeTarget& target);
};

const std::vector<Probe>& all_probes();

// Those that prove a control which a run of this policy gets on this host.
std::vector<const Probe*> probes_for(const ProbeSubject& subject);

// The policy with the limits lowered so far that reaching them takes no time, and room to do it.
// What is missing on the host is left out, as it would be for a run that may go without.
SandboxPolicy probe_policy(const SandboxPolicy& policy, ProbeRun run);

enum class ProbeVerdict {
  passed,       // it works unconfined, and the control stopped it as it should
  failed,       // it worked in spite of the control
  unsupported,  // this host cannot tell: it does not work unconfined either, or something else
                // stopped it first
};
std::string_view name_of(ProbeVerdict verdict);

ProbeVerdict judge(const Probe& probe, const Answer& unconfined, const Answer& confined);

struct ProbeResult {
  std::string name;
  std::string control;
  ProbeVerdict verdict = ProbeVerdict::unsupported;
  std::string unconfined;  // the answers, for people
  std::string confined;

  bool operator==(const ProbeResult&) const = default;
};

// What all probes of one profile gave.
struct ProbeReport {
  std::string not_run;  // why no run could be had to try them in; empty: it could
  std::vector<ProbeResult> results;

  bool operator==(const ProbeReport&) const = default;
};

// Why no run may be had under the profile that was probed, with the probe's name; empty: it may.
std::string refusal(const std::string& profile, const ProbeReport& report);

}  // namespace paddock::kernel
