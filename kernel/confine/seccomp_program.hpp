#pragma once
// Classic BPF programs as values, and the joints between those that libseccomp makes: it knows one
// default action per program and nothing of numbers that it has no name for.

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/confine/seccomp_rules.hpp"

namespace paddock::kernel {

// A program that runs off its end goes on with the one that is appended to it.
using BpfProgram = std::vector<sock_filter>;

// ENOSYS for every number that the rules have not judged. A foreign architecture or an x32 number
// goes on: the next program kills it.
BpfProgram refuse_unjudged_numbers(Architecture architecture);

// `program` judges these calls alone, at most 255; all others go on behind it.
BpfProgram only_for(const std::vector<std::uint32_t>& numbers, const BpfProgram& program);

// What `program` allows goes on behind it instead.
BpfProgram allowed_goes_on(BpfProgram program);

BpfProgram allow_everything();

// As seccomp(2) wants it.
std::string as_bytes(const BpfProgram& program);

}  // namespace paddock::kernel
