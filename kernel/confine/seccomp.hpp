#pragma once
// The seccomp filter of a run: which system calls its agent may make.
//
// What is allowed, refused or fatal, and why, is the table in seccomp_rules.cpp.

#include <string>

#include "kernel/base/error.hpp"
#include "kernel/policy/profile.hpp"

namespace paddock::kernel {

// The filter as the kernel takes it: an array of sock_filter (8 bytes each), ready for seccomp(2).
// Compiled once per process and kind; same build, same bytes. Empty for `off`. Fails with
// sandbox_not_available on an architecture without rules, with internal if libseccomp cannot.
Result<std::string> seccomp_filter(SeccompUse use);

}  // namespace paddock::kernel
