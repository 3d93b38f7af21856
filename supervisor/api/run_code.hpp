#pragma once
// What the front doors have in common: the profile, whose mistake an error is, and a client's code
// that is run.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/api/api.hpp"
#include "supervisor/doors/code_door.hpp"
#include "supervisor/runtimes/code_run.hpp"
#include "supervisor/runtimes/runtime.hpp"
#include "supervisor/runtimes/versions.hpp"

namespace paddock::supervisor {

// That of the door where the code comes in, for languages that name none.
std::string door_profile(const ApiContext& context, const Call& call);

// What the caller can mend; everything else is the host's, and may be over in a moment.
bool is_callers(kernel::ErrorCode code);

// Without the body, which has been read: an answer may take a while.
Call without_body(const Call& call);

using RefuseCode = std::function<void(const kernel::Error&)>;
using AnswerCode = std::function<void(const CodeResult&, const std::vector<std::string>& notes)>;

// Runs what `ask` says, if `version` is one that will do. One of the two functions is called, once:
// `refuse` also from within this call, and then there is no run.
std::shared_ptr<CodeRun> run_code(const ApiContext& context, const Call& call, const CodeAsk& ask,
                                  const Runtime& runtime, const RuntimeVersion& version,
                                  const RefuseCode& refuse, const AnswerCode& answer);

}  // namespace paddock::supervisor
