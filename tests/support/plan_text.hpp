#pragma once
// A plan as text, one fact a line, for golden files.

#include <string>
#include <vector>

#include "kernel/run/plan.hpp"

// Options of bubblewrap, each on a line with its values.
std::string option_lines(const std::vector<std::string>& arguments);

// Everything in the plan but its policy_hash, which only repeats the policy.
std::string plan_text(const paddock::kernel::Plan& plan);
