#include "supervisor/runtimes/versions.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "supervisor/runs/host_fault.hpp"
#include "supervisor/runtimes/code_run.hpp"

namespace paddock::supervisor {
namespace {

constexpr std::chrono::milliseconds version_time_max{10'000};
constexpr std::size_t version_output_bytes = 4096;

bool is_version_digit(char c) {
  return c >= '0' && c <= '9';
}

// The parts of "3.11.x"; what is no number ends them.
std::vector<unsigned> parts_of(std::string_view text) {
  std::vector<unsigned> parts;
  while (!text.empty()) {
    unsigned part = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), part);
    if (parsed.ec != std::errc()) break;
    parts.push_back(part);
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    if (text.empty() || text.front() != '.') break;
    text.remove_prefix(1);
  }
  return parts;
}

bool starts_with(const std::vector<unsigned>& parts, const std::vector<unsigned>& wanted,
                 std::size_t count) {
  count = std::min(count, wanted.size());
  return parts.size() >= count &&
         std::equal(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(count),
                    parts.begin());
}

}  // namespace

RuntimeVersion version_of(const kernel::SandboxResult& result) {
  if (result.cause == kernel::Cause::cannot_execute)
    return {.is_there = false, .version = "", .why = result.detail};
  if (result.cause != kernel::Cause::exited || result.exit_code != 0) return {};
  return {.is_there = true, .version = version_in(result.stdout + result.stderr), .why = ""};
}

void bound_version_run(kernel::SandboxPolicy& policy) {
  policy.wall_clock = std::min(policy.wall_clock.value_or(version_time_max), version_time_max);
  policy.output_bytes = std::min<std::uint64_t>(policy.output_bytes, version_output_bytes);
}

std::string version_in(std::string_view text) {
  const auto begin = std::find_if(text.begin(), text.end(), is_version_digit);
  auto end =
      std::find_if(begin, text.end(), [](char c) { return !is_version_digit(c) && c != '.'; });
  while (end != begin && *(end - 1) == '.') --end;
  return {begin, end};
}

bool version_matches(std::string_view selector, std::string_view version) {
  const auto skip = [&](std::string_view prefix) {
    if (!selector.starts_with(prefix)) return false;
    selector.remove_prefix(prefix.size());
    return true;
  };
  if (version.empty()) return true;
  const std::vector<unsigned> parts = parts_of(version);
  if (skip(">=")) return parts >= parts_of(selector);
  if (skip("^")) return starts_with(parts, parts_of(selector), 1) && parts >= parts_of(selector);
  if (skip("~")) return starts_with(parts, parts_of(selector), 2) && parts >= parts_of(selector);
  skip("=");
  skip("v");
  if (selector == "*" || selector == "x") return true;
  const std::vector<unsigned> wanted = parts_of(selector);
  return !wanted.empty() && starts_with(parts, wanted, wanted.size());
}

void RuntimeVersions::find(const Runtime& runtime, Answer answer) {
  Entry& entry = entries_[runtime.name];
  if (entry.runtime != runtime) {
    entry.runtime = runtime;
    entry.version.reset();  // those who wait for the old one get what it says
  }
  if (runtime.version.empty()) return answer({});
  if (entry.version) return answer(*entry.version);
  entry.waiting.push_back(std::move(answer));
  if (entry.waiting.size() == 1) ask(runtime);
}

void RuntimeVersions::forget() {
  for (auto& [name, entry] : entries_) entry.version.reset();
}

void RuntimeVersions::ask(const Runtime& runtime) {
  auto run = admit_(runtime, runtime.version);
  if (!run) return answered(runtime, {}, /*for_good=*/false);
  run->is_canary = true;  // the daemon's own, in no list
  bound_version_run(run->policy);
  const auto submitted = runs_.submit(
      std::move(*run),
      {.on_started = {},
       .on_output = {},
       .on_finished =
           [this, runtime](const RunRecord& record) {
             answered(runtime, version_of(*record.result),
                      record.result->cause == kernel::Cause::cannot_execute ||
                          !is_host_fault(record.result->cause));
           },
       .on_accepted = {},
       .on_refused = [this, runtime](const kernel::Error&) { answered(runtime, {}, false); }});
  if (!submitted) answered(runtime, {}, /*for_good=*/false);
}

void RuntimeVersions::answered(const Runtime& runtime, const RuntimeVersion& version,
                               bool for_good) {
  Entry& entry = entries_[runtime.name];
  if (for_good && entry.runtime == runtime) entry.version = version;
  for (const Answer& answer : std::exchange(entry.waiting, {})) answer(version);
}

}  // namespace paddock::supervisor
