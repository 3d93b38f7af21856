#pragma once
// AgentLog: an agent's log as the loop uses it: what is written, the newest lines, and what comes
// from now on. The file is another thread's (Worker).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/agents/log_line.hpp"
#include "supervisor/agents/rotated_file.hpp"
#include "supervisor/loop/worker.hpp"

namespace paddock::supervisor {

// Handed over and not yet written. Above it the agent has to wait, until half of that is left.
constexpr std::size_t unwritten_log_bytes_max = 1u << 20;
constexpr std::size_t log_lines_max = 10'000;  // of one answer
constexpr std::size_t log_answer_bytes_max = 8u << 20;

using FollowerId = std::uint64_t;

class AgentLog {
 public:
  // `worker` outlives it.
  AgentLog(Worker& worker, const std::string& path, kernel::AgentLogLimits limits);
  AgentLog(const AgentLog&) = delete;
  AgentLog& operator=(const AgentLog&) = delete;

  void set_limits(kernel::AgentLogLimits limits) { limits_ = limits; }

  void append(std::vector<LogLine> lines);
  bool is_full() const { return unwritten_bytes_ > unwritten_log_bytes_max; }
  // Called from the loop each time it is no longer full.
  void on_room(std::function<void()> on_room) { on_room_ = std::move(on_room); }

  // Lines as to_json gives them, without their newlines.
  using Lines = std::vector<std::string>;
  void tail(std::size_t lines_max, std::function<void(kernel::Result<Lines>)> on_answer);

  // The newest lines, and then each that comes, none twice and none left out. `on_lines` is called
  // from the loop and may call unfollow.
  FollowerId follow(std::size_t lines_max, std::function<void(const Lines&)> on_lines);
  void unfollow(FollowerId follower) { followers_.erase(follower); }

 private:
  struct Follower {
    std::function<void(const Lines&)> on_lines;
    bool has_tail = false;
    Lines waiting;  // came while the tail was read
  };

  void tell_followers(const std::vector<LogLine>& lines);
  void written(std::size_t bytes, std::size_t lost, const std::string& why);

  Worker& worker_;
  std::shared_ptr<RotatedFile> file_;  // of the worker's thread
  kernel::AgentLogLimits limits_;
  std::size_t unwritten_bytes_ = 0;
  std::size_t lost_lines_ = 0;  // that could not be written since the last that could
  std::string lost_why_;
  std::function<void()> on_room_;
  std::map<FollowerId, Follower> followers_;
  FollowerId last_follower_ = 0;
  std::shared_ptr<AgentLog*> self_;  // for answers that come when it is gone
};

}  // namespace paddock::supervisor
