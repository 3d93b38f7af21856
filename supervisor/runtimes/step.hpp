#pragma once
// From a command and files to a run that only has to be started. Files travel through the run's
// channel (fd 3), a memory file, which paddock-step reads before it executes the command: nothing
// is bound and nothing lies on a disk.

#include <map>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/runs/resolved_run.hpp"

namespace paddock::supervisor {

// Path in the workspace -> contents. Relative, without "." or "..": check_file_name.
using Files = std::map<std::string, std::string>;

constexpr std::size_t file_bytes_max = 64u << 20;      // of all files of a step together
constexpr std::size_t artifact_bytes_max = 32u << 20;  // of all that come out of it
constexpr std::size_t files_max = 1024;

kernel::Result<void> check_file_name(const std::string& name);

// Sets argv, program and channel of `run`, whose policy is resolved: `command` is executed in the
// workspace with `files` in it, each of which it may execute, and ends with its own status.
// `wanted`: files that shall come out again. Fails with invalid_request, or with
// sandbox_policy_error if the policy leaves no room for the files.
kernel::Result<void> prepare_step(const std::vector<std::string>& command, const Files& files,
                                  const std::vector<std::string>& wanted, ResolvedRun& run);

// Sets the same of `run`: it only says whether `files` can be laid out and each of `programs`, of
// the host, be executed under its policy. None of them gets to do anything. Fails like
// prepare_step.
kernel::Result<void> prepare_trial(const std::vector<std::string>& programs, const Files& files,
                                   ResolvedRun& run);

// True if a program of that name is the host's; one that is relative is among a step's files.
bool is_of_host(const std::string& program);

// What came out, once the run is over: regular files among `wanted`, whole or not at all.
// `channel`: the run's, kept by the caller. What is damaged or over its bound is left out.
Files collect_files(const kernel::Fd& channel, const std::vector<std::string>& wanted);

}  // namespace paddock::supervisor
