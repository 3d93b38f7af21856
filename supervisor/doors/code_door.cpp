#include "supervisor/doors/code_door.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel/policy/names.hpp"
#include "kernel/policy/units.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using std::chrono::milliseconds;

// The tighter one; a note if that is not what was asked for.
template <class T, class Format>
std::optional<T> lowered(const std::optional<T>& asked, const std::optional<T>& most,
                         std::vector<std::string>& notes, Format format) {
  if (!asked || !most || *asked <= *most) return asked ? asked : most;
  notes.push_back(format(*asked, *most));
  return most;
}

std::string seconds_text(milliseconds time) {
  return fmt::format("{:g} s", kernel::seconds_in(time));
}

void set_wall_clock(const CodeLimits& limits, const kernel::Profile& profile, std::string_view step,
                    kernel::Request& request, std::vector<std::string>& notes) {
  request.wall_clock =
      lowered(limits.wall_clock, profile.wall_clock, notes, [&](milliseconds asked, auto most) {
        return fmt::format("{} timeout of {} to {}", step, seconds_text(asked), seconds_text(most));
      });
}

void set_cpu(const CodeLimits& limits, const kernel::Profile& profile, kernel::Request& request) {
  if (!limits.cpu) return;
  const auto asked = std::chrono::ceil<std::chrono::seconds>(*limits.cpu).count();
  const auto& most = profile.limits.cpu_seconds;
  request.cpu_seconds = std::min(static_cast<std::uint64_t>(asked),
                                 most.value_or(std::numeric_limits<std::uint64_t>::max()));
}

// A profile without a limit on virtual memory is for programs that do not start under one.
void set_memory(const CodeLimits& limits, const kernel::Profile& profile, std::string_view step,
                kernel::Request& request, std::vector<std::string>& notes) {
  if (!limits.memory_bytes) return;
  if (!profile.limits.memory_bytes) {
    notes.push_back(
        fmt::format("{} memory limit left out, as profile {} has none", step, profile.name));
    return;
  }
  request.memory_bytes =
      lowered(limits.memory_bytes, profile.limits.memory_bytes, notes,
              [&](std::uint64_t asked, std::uint64_t most) {
                return fmt::format("{} memory of {} bytes to {}", step, asked, most);
              });
}

}  // namespace

kernel::Error unknown_language(const Runtimes& runtimes, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [runtime_name, runtime] : runtimes) known.push_back(runtime_name);
  constexpr std::size_t shown_bytes_max = 64;
  return {ErrorCode::invalid_request,
          fmt::format("unknown language '{}'; there is {}", name.substr(0, shown_bytes_max),
                      known.empty() ? "none" : kernel::quoted_list(known))};
}

std::vector<std::string> remarks_on(const kernel::SandboxResult& ended) {
  std::vector<std::string> remarks;
  if (ended.cause != kernel::Cause::exited)
    remarks.push_back(fmt::format("{}{}{}", kernel::name_of(ended.cause),
                                  ended.detail.empty() ? "" : ": ", ended.detail));
  if (ended.stdout_truncated)
    remarks.push_back(fmt::format("stdout was cut after {} bytes", ended.stdout.size()));
  if (ended.stderr_truncated)
    remarks.push_back(fmt::format("stderr was cut after {} bytes", ended.stderr.size()));
  return remarks;
}

std::vector<std::string> remarks_of(const std::vector<std::string>& notes) {
  std::vector<std::string> remarks;
  for (const std::string& note : notes)
    remarks.push_back("lowered to what the profile allows: " + note);
  return remarks;
}

std::optional<milliseconds> milliseconds_of(double seconds) {
  constexpr double seconds_max = 1e9;
  if (!std::isfinite(seconds) || seconds <= 0 || seconds > seconds_max) return std::nullopt;
  return milliseconds(std::max<std::int64_t>(1, std::llround(seconds * 1000)));
}

Result<PreparedCode> prepare_code(const CodeAsk& ask, const Runtime& runtime,
                                  const CodeDoor& door) {
  PreparedCode prepared;
  CodeJob& job = prepared.job;
  job.runtime = runtime;
  job.files = ask.files;
  if (!job.files.emplace(runtime.source, ask.code).second)
    return fail(ErrorCode::invalid_request,
                fmt::format("files: '{}' is where the code itself goes", runtime.source));
  job.arguments = ask.arguments;
  job.wanted = ask.wanted;

  kernel::Request request;
  request.profile = runtime.profile.empty() ? door.profile : runtime.profile;
  request.argv = runtime.run;
  request.argv.insert(request.argv.end(), ask.arguments.begin(), ask.arguments.end());
  request.stdin_bytes = ask.stdin_bytes;
  TRY_VOID(kernel::check_request(request));
  const auto at = door.catalog.profiles.find(request.profile);
  // One that is not there, or not for this caller, is told of by the admission.
  static const kernel::Profile none;
  const kernel::Profile& profile = at == door.catalog.profiles.end() ? none : at->second;
  request.output_bytes = std::min(profile.output_bytes, door_output_bytes_max);
  if (runtime.compile) {
    kernel::Request compile = request;
    compile.argv = runtime.compile->command;
    compile.stdin_bytes.clear();
    CodeLimits limits = ask.compile;
    if (runtime.compile->wall_clock)
      limits.wall_clock = std::min(limits.wall_clock.value_or(*runtime.compile->wall_clock),
                                   *runtime.compile->wall_clock);
    set_wall_clock(limits, profile, "compile", compile, prepared.notes);
    set_memory(limits, profile, "compile", compile, prepared.notes);
    set_cpu(limits, profile, compile);
    job.compile = TRY(door.admit(compile));
  }
  set_wall_clock(ask.run, profile, "run", request, prepared.notes);
  set_memory(ask.run, profile, "run", request, prepared.notes);
  set_cpu(ask.run, profile, request);
  job.run = TRY(door.admit(request));
  return prepared;
}

}  // namespace paddock::supervisor
