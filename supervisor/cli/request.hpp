#pragma once
// From the command line to a request.

#include <string>
#include <vector>

#include "kernel/policy/profile.hpp"
#include "kernel/policy/request.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/cli/options.hpp"

namespace paddock::supervisor::cli {

// Everything but where it starts. Pure.
kernel::Request request_of(const RequestOptions& options);

// Where the run starts. Under bubblewrap --workdir is a path inside; without, the program sees the
// host's directories and starts in --workdir or in `current_directory`. An empty
// `current_directory` means that the run's user cannot enter it: it gets a fresh workspace. Pure.
void set_start_directory(kernel::Request& request, const RequestOptions& options,
                         bool uses_bubblewrap, const std::string& current_directory);

// May a user who is neither the owner nor in the group of anything go to `path`? Looks at every
// component of it.
bool can_be_entered_by_others(const std::string& path);

// This process's directory, or empty, after a complaint, if runs have a user of their own who
// cannot enter it.
std::string start_directory_for(bool runs_have_own_user);

// Whoever types the command may give what an operator may write into a profile's [requests] and
// [environment]: so write it there, and leave the judging to resolve(). For embedded runs.
void grant(kernel::Profile& profile, const kernel::Request& request);

// The body of POST /v1/runs and /v1/plan. Fails with invalid_request if a text is not UTF-8, which
// JSON cannot carry.
kernel::Result<std::string> request_to_json(const RunRequest& run);

}  // namespace paddock::supervisor::cli
