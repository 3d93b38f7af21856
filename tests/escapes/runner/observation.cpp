#include "escapes/runner/observation.hpp"

#include <csignal>
#include <cstring>

namespace paddock::escapes {
namespace {

using kernel::Cause;
using Kind = Observation::Kind;

// "EPERM and why" -> "EPERM", "and why"
std::string take_word(std::string_view& text) {
  const std::size_t end = text.find(' ');
  std::string word(text.substr(0, end));
  text = end == std::string_view::npos ? "" : text.substr(end + 1);
  return word;
}

Observation read_line(std::string_view line) {
  const std::string first = take_word(line);
  if (first == "succeeded") return {Kind::succeeded, "", std::string(line)};
  if (first == "unsupported") return {Kind::unsupported, "", std::string(line)};
  if (first != "refused" || line.empty()) return {};
  const std::string word = take_word(line);
  return {Kind::stopped, word, std::string(line)};
}

bool never_ran(Cause cause) {
  return cause == Cause::cannot_execute || cause == Cause::cannot_isolate ||
         cause == Cause::internal;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

}  // namespace

Observation read_report(std::string_view output) {
  Observation last;
  while (!output.empty()) {
    const std::size_t end = output.find('\n');
    const Observation read = read_line(output.substr(0, end));
    if (read.kind != Kind::unclear) last = read;
    output = end == std::string_view::npos ? "" : output.substr(end + 1);
  }
  return last;
}

Observation observe(const kernel::SandboxResult& result) {
  if (result.signal == SIGSYS) return {Kind::stopped, "SIGSYS", ""};
  if (result.cause == Cause::tampered)
    return {Kind::succeeded, "", "the run's launcher was killed"};
  if (never_ran(result.cause))
    return {Kind::unclear, "", std::string(name_of(result.cause)) + ": " + result.detail};
  const bool by_itself = result.cause == Cause::exited || result.cause == Cause::signaled;
  if (!by_itself) return {Kind::stopped, std::string(name_of(result.cause)), ""};  // by a limit
  if (result.stdout_truncated) return {Kind::stopped, "truncated", ""};
  Observation report = read_report(result.stdout);
  if (report.kind != Kind::unclear) return report;
  if (result.signal != 0) return {Kind::stopped, signal_name(result.signal), ""};
  return {Kind::unclear, "",
          "no report; exit " + std::to_string(result.exit_code) + ", stderr '" +
              result.stderr.substr(0, 200) + "'"};
}

}  // namespace paddock::escapes
