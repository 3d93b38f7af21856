#pragma once
// What the ends of an item's runs say about it: whose fault it was that something did not run to
// its end. Pure: RFC 0010's table.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "kernel/run/result.hpp"
#include "supervisor/verify/item_answer.hpp"
#include "supervisor/verify/judge_report.hpp"

namespace paddock::supervisor {

// Why an item has no number.
struct Fault {
  std::string cause;
  std::string detail;

  bool operator==(const Fault&) const = default;
};

// Of what kept a run from starting.
Fault fault_of(const kernel::Error& error);

// An item's cases, or why there is nothing to be said about them.
struct Judgement {
  std::optional<Fault> fault;
  std::vector<CaseAnswer> cases;  // meaningless with a fault

  bool operator==(const Judgement&) const = default;
};

// How a run ended that had a part in judging.
struct EndedRun {
  kernel::Cause cause = kernel::Cause::internal;
  std::string detail;
  int exit_code = 0;
  int signal = 0;
  bool stopped_here = false;  // by whoever judges, since nothing was to come of it any more
  double duration_s = 0;      // of its program

  bool operator==(const EndedRun&) const = default;
};

EndedRun ended_run(const kernel::SandboxResult& result, bool stopped_here);

// "exited with 3", "signal 9", or what the run itself says.
std::string ending_text(const EndedRun& run);

// Of a candidate and a judge in sandboxes of their own. `report`: what the judge wrote, if it ended
// well. A run that is absent never was. `asked_before`: how long somebody else waited for the
// candidate, before the judge. A candidate's wall clock also runs while the judge has it wait:
// whose own time was less than half of it has no number.
Judgement judgement_of(const std::optional<EndedRun>& candidate,
                       const std::optional<EndedRun>& judge,
                       const std::optional<kernel::Result<JudgeReport>>& report,
                       std::chrono::duration<double> asked_before = {});

// Of a candidate that has given each known answer, and `cases` are those that passed.
Judgement judgement_by_known_answers(const EndedRun& candidate, std::vector<CaseAnswer> cases);

// Of one run that holds both. `cases`: how many there should be; 0: not known before.
Judgement judgement_in_process(const EndedRun& run,
                               const std::optional<kernel::Result<JudgeReport>>& report,
                               std::size_t cases);

// One case of standard input and output.
struct StdioVerdict {
  std::optional<Fault> fault;
  CaseAnswer answer;

  bool operator==(const StdioVerdict&) const = default;
};
StdioVerdict stdio_verdict(const kernel::SandboxResult& result, const StdioCase& expected);

// True if a step ended as one does whose program this host lacks (if that is the host's and not
// among its files), or whose files it could not lay out. Code can end so, too, and then only a
// trial tells: a run without that code.
bool wants_trial(const EndedRun& step, bool is_program_of_host);

// What a trial says: why it was the host's fault, if it was. `whose`: "the compiler's run".
std::optional<Fault> fault_of_trial(const char* whose, const kernel::SandboxResult& trial);

// The compiler's run did not give what it should, and no program was missing.
Judgement judgement_of_compiler(const EndedRun& run, std::size_t cases);

}  // namespace paddock::supervisor
