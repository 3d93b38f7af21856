#pragma once
// What `paddock top` shows: a pure function of the daemon's answers and of the room there is.

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

struct TopAnswers {
  std::string health;                  // GET /health
  std::string runs;                    // GET /v1/runs?state=running
  std::string agents;                  // GET /v1/agents
  std::vector<std::string> budgets{};  // GET /v1/agents/{name}/budget, of those that have one
};

// The agents whose budgets there are to ask for: those that have a status.
kernel::Result<std::vector<std::string>> agents_with_status(std::string_view agents);

// `lines` 0: as many as there are. No line is longer than `columns`.
struct TopRoom {
  std::size_t columns = 80;
  std::size_t lines = 0;
};

// Lines, each with its end. Fails with internal if an answer is not understood.
kernel::Result<std::string> top_text(const TopAnswers& answers, TopRoom room, std::time_t now);

}  // namespace paddock::supervisor::cli
