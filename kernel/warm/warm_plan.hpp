#pragma once
// The plan of a zygote, and that of a warm run: a cold run's, changed where a fork differs. Pure.

#include "kernel/run/plan.hpp"
#include "kernel/warm/zygote.hpp"

namespace paddock::kernel {

// What of a policy a zygote has: the sandbox, and none of its limits. Its forks set those.
SandboxPolicy policy_of_zygote(const SandboxPolicy& policy);

// `library`: the bytes of paddock-warm.so. Fails as make_plan does.
Result<Plan> make_zygote_plan(const SandboxPolicy& policy, const ZygoteProgram& program,
                              const std::string& library, const HostFacts& host,
                              const RunIdentity& identity);

// What a zygote reads on stdin before it is ready.
std::string input_of_zygote(const ZygoteProgram& program);

// Makes `plan` of a cold run that of a fork of `zygote`.
void make_warm(const SandboxPolicy& policy, const HostFacts& host, const ZygoteLine& zygote,
               Plan& plan);

}  // namespace paddock::kernel
