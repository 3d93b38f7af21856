#pragma once
// JSON at the edge: RFC 0002's messages from and to plain structs. nlohmann's exceptions stop in
// the file that includes it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/confine/cgroup_base.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/policy/request.hpp"
#include "kernel/probe/doctor.hpp"
#include "kernel/run/plan.hpp"
#include "kernel/run/usage.hpp"
#include "supervisor/agents/agent_status.hpp"
#include "supervisor/agents/budget.hpp"
#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/transition.hpp"
#include "supervisor/runs/canary.hpp"
#include "supervisor/runs/explain.hpp"
#include "supervisor/runs/run_json.hpp"
#include "supervisor/runs/run_record.hpp"
#include "supervisor/runtimes/languages.hpp"
#include "supervisor/verify/key_store.hpp"
#include "supervisor/warm/warm_pool.hpp"

namespace paddock::supervisor {

struct RunRequest {
  kernel::Request request;
  bool detach = false;
  bool stream = false;
  bool stdin_open = false;
  std::string parent{};  // the run that asks for this one; empty: none
  bool warm = false;     // a fork of an interpreter, if that can be had

  bool operator==(const RunRequest&) const = default;
};

// The body of POST /v1/runs. Fails with invalid_request and names the key.
kernel::Result<RunRequest> parse_run_request(std::string_view body);

// The body of POST /v1/drain; nothing if it names no deadline. Fails with invalid_request.
kernel::Result<std::optional<std::chrono::milliseconds>> parse_drain_request(std::string_view body);

std::string run_to_json(const RunRecord& run, WithOutput with_output);
// One that only the ledger has; of its output there are digests and the last bytes.
std::string stored_run_to_json(const StoredRun& run);
// {"runs": [...]}, without output: those in memory and those in the ledger, each newest first, as
// one.
std::string runs_to_json(const std::vector<const RunRecord*>& runs,
                         const std::vector<StoredRun>& stored = {});
// The same of live runs, with what each uses now, as far as that was looked up.
std::string live_runs_to_json(const std::vector<const RunRecord*>& runs,
                              const std::map<RunId, kernel::RunUsage>& usage);

// Events of a stream, one line each, ending in a newline.
std::string started_event(const RunRecord& run);
std::string output_event(const RunId& id, std::string_view stream, std::string_view bytes);
std::string finished_event(const RunRecord& run);

std::string plan_to_json(const kernel::SandboxPolicy& policy, const kernel::Plan& plan);
std::string profile_to_json(const kernel::Profile& profile);
std::string profiles_to_json(const std::map<std::string, kernel::Profile>& profiles);

// What a daemon knows of an agent.
struct AgentNow {
  AgentStatus status;
  Budget budget;
};
// A template, with its `status` where there is a daemon.
struct AgentView {
  kernel::AgentTemplate agent;
  std::optional<AgentNow> now{};
};
std::string agent_to_json(const AgentView& view);
std::string agents_to_json(const std::vector<AgentView>& views);
// `recorded`: what was asked of it is in the ledger.
std::string agent_status_to_json(const std::string& name, const AgentNow& now,
                                 bool recorded = true);
// `limit` is what it may use, with what was granted; null: any amount.
std::string budget_to_json(const std::string& agent, const Budget& budget);

struct GrantRequest {
  std::string dimension;
  std::uint64_t amount = 0;

  bool operator==(const GrantRequest&) const = default;
};
// {"dim": "tokens", "amount": 1000}. Fails with invalid_request and names the key.
kernel::Result<GrantRequest> parse_grant_request(std::string_view body);

struct KeyRequest {
  std::string tenant;   // empty: the operator
  bool rotate = false;  // one that there is

  bool operator==(const KeyRequest&) const = default;
};
// {"tenant": "blue", "rotate": false}; the tenant must be there. Fails with invalid_request.
kernel::Result<KeyRequest> parse_key_request(std::string_view body);
// The key itself, in hex: told once, to who has made it.
std::string made_key_to_json(const std::string& tenant, const MacKey& key);
std::string key_id_to_json(const std::string& tenant, const std::optional<MacKey>& key);

// A line of an agent's log that the supervisor adds for one reader.
std::string paddock_line_to_json(const std::string& text);

std::string host_to_json(const kernel::HostFacts& host,
                         const std::optional<kernel::CgroupBase>& cgroup_base,
                         const std::string& cgroup_problem);

// One line of /v1/events, and what is said instead if events after `after` have been pruned.
std::string event_to_json(const StoredEvent& event);
std::string pruned_to_json(std::uint64_t after, std::uint64_t oldest);

std::string readiness_to_json(const Readiness& readiness, const WarmNow& warm);
std::string drain_result_to_json(const DrainResult& result);
std::string explanation_to_json(const RunRecord& run, const Explanation& explanation);

std::string doctor_to_json(const kernel::DoctorReport& report,
                           const std::vector<Language>& languages);

std::string error_to_json(const kernel::Error& error,
                          const std::vector<kernel::Diagnostic>& diagnostics = {});

}  // namespace paddock::supervisor
