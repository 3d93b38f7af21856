#include "supervisor/agents/agent_log.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace paddock::supervisor {

using kernel::Result;

AgentLog::AgentLog(Worker& worker, const std::string& path, kernel::AgentLogLimits limits)
    : worker_(worker),
      file_(std::make_shared<RotatedFile>(path)),
      limits_(limits),
      self_(std::make_shared<AgentLog*>(this)) {}

void AgentLog::append(std::vector<LogLine> lines) {
  if (lines.empty()) return;
  if (lost_lines_ > 0) {
    LogLine note = lines.front();
    note.stream = "paddock";
    note.level.clear();
    note.text =
        fmt::format("{} lines before this one could not be written: {}", lost_lines_, lost_why_);
    lines.insert(lines.begin(), std::move(note));
    lost_lines_ = 0;
  }
  tell_followers(lines);
  std::size_t bytes = 0;
  for (const LogLine& line : lines) bytes += line.text.size() + sizeof line;
  unwritten_bytes_ += bytes;
  struct Write {
    std::vector<LogLine> lines;
    std::size_t lost = 0;
    std::string why;
  };
  const auto write = std::make_shared<Write>();
  write->lines = std::move(lines);
  worker_.submit(
      [write, file = file_, limits = limits_] {
        std::vector<std::string> texts;
        texts.reserve(write->lines.size());
        for (const LogLine& line : write->lines) texts.push_back(to_json(line));
        std::size_t written = 0;
        if (const auto appended = file->append(texts, limits, written); !appended) {
          write->lost = texts.size() - written;
          write->why = appended.error().message;
        }
      },
      [write, bytes, self = std::weak_ptr<AgentLog*>(self_)] {
        if (const auto log = self.lock()) (*log)->written(bytes, write->lost, write->why);
      });
}

void AgentLog::written(std::size_t bytes, std::size_t lost, const std::string& why) {
  const bool was_full = unwritten_bytes_ > unwritten_log_bytes_max / 2;
  unwritten_bytes_ -= bytes;
  if (lost > 0) {
    if (lost_lines_ == 0) spdlog::error("an agent's log loses lines: {}", why);
    lost_lines_ += lost;
    lost_why_ = why;
  }
  if (was_full && unwritten_bytes_ <= unwritten_log_bytes_max / 2 && on_room_) on_room_();
}

void AgentLog::tail(std::size_t lines_max, std::function<void(Result<Lines>)> on_answer) {
  const auto answer = std::make_shared<Result<Lines>>(Lines{});
  worker_.submit(
      [answer, file = file_, lines_max] { *answer = file->tail(lines_max, log_answer_bytes_max); },
      [answer, on_answer = std::move(on_answer)] { on_answer(std::move(*answer)); });
}

FollowerId AgentLog::follow(std::size_t lines_max, std::function<void(const Lines&)> on_lines) {
  const FollowerId id = ++last_follower_;
  followers_[id].on_lines = std::move(on_lines);
  // What was appended before is written before the tail is read.
  tail(lines_max, [id, self = std::weak_ptr<AgentLog*>(self_)](const Result<Lines>& lines) {
    const auto log = self.lock();
    if (!log) return;
    auto& followers = (*log)->followers_;
    const auto at = followers.find(id);
    if (at == followers.end()) return;
    at->second.has_tail = true;
    Lines all = lines ? *lines : Lines{};
    for (std::string& line : std::exchange(at->second.waiting, {})) all.push_back(std::move(line));
    const auto on_tail = at->second.on_lines;  // it may unfollow
    on_tail(all);
  });
  return id;
}

void AgentLog::tell_followers(const std::vector<LogLine>& lines) {
  if (followers_.empty()) return;
  Lines texts;
  for (const LogLine& line : lines) {
    texts.push_back(to_json(line));
    texts.back().pop_back();
  }
  std::vector<std::function<void(const Lines&)>> ready;
  for (auto& [id, follower] : followers_) {
    if (follower.has_tail) {
      ready.push_back(follower.on_lines);
    } else {
      follower.waiting.insert(follower.waiting.end(), texts.begin(), texts.end());
    }
  }
  for (const auto& on_lines : ready) on_lines(texts);
}

}  // namespace paddock::supervisor
