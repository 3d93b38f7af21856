#include "supervisor/agents/agent_log.hpp"

#include <sys/resource.h>
#include <uv.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "kernel/policy/scratch_directory.hpp"
#include "supervisor/loop/event_loop.hpp"
#include "supervisor/loop/timer.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace {

constexpr kernel::AgentLogLimits small{.bytes = 100, .files = 3};

Lines numbered(int from, int to) {
  Lines lines;
  for (int n = from; n < to; ++n) lines.push_back("line number " + std::to_string(n) + "\n");
  return lines;
}

std::string content(const std::string& path) {
  return kernel::read_file(path, 1u << 20).value_or("<none>");
}

LogLine text_line(const std::string& text) {
  return {.at = {}, .run = "r-1", .stream = "stdout", .level = "", .text = text};
}

struct LogFixture {
  void run_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      tick.start(5ms, [] {});
      uv_run(loop->get(), UV_RUN_ONCE);
    }
    tick.stop();
  }
  static Lines texts(const Lines& lines) {
    Lines found;
    for (const std::string& line : lines) {
      const std::size_t begin = line.find("\"text\":\"") + 8;
      found.push_back(line.substr(begin, line.size() - begin - 2));
    }
    return found;
  }

  ScratchDirectory scratch;
  std::string path = scratch.path() + "/log";
  std::unique_ptr<EventLoop> loop = EventLoop::create().value();
  Timer tick{loop->get()};
  std::unique_ptr<Worker> worker = Worker::create(loop->get(), "test").value();
};

}  // namespace

TEST_CASE("no file of a log grows past its limit, and no more files are kept than allowed") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/log";
  RotatedFile file(path);
  std::size_t written = 0;
  REQUIRE(file.append(numbered(0, 50), small, written));
  CHECK(written == 50);
  for (const char* name : {"log", "log.1", "log.2"}) {
    INFO(name);
    CHECK(std::filesystem::file_size(scratch.path() + "/" + name) <= small.bytes);
    CHECK(content(scratch.path() + "/" + name).ends_with("\n"));
  }
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/log.3"));
  CHECK(content(path).ends_with("line number 49\n"));
  // What is left is the newest, without a gap.
  const std::string all = content(path + ".2") + content(path + ".1") + content(path);
  CHECK(all.find("line number 49") != std::string::npos);
  const Lines tail = file.tail(1000, 1u << 20).value();
  CHECK(tail.back() == "line number 49");
  for (std::size_t i = 0; i < tail.size(); ++i)
    CHECK(tail[i] == "line number " + std::to_string(50 - tail.size() + i));
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms(0600));
}

TEST_CASE("the newest lines come from as many files as it takes, and no more than asked for") {
  const ScratchDirectory scratch;
  RotatedFile file(scratch.path() + "/log");
  CHECK(file.tail(10, 1u << 20).value().empty());
  std::size_t written = 0;
  REQUIRE(file.append(numbered(0, 14), small, written));
  CHECK(file.tail(3, 1u << 20).value() ==
        Lines{"line number 11", "line number 12", "line number 13"});
  CHECK(file.tail(10, 1u << 20).value().front() == "line number 4");
  CHECK(file.tail(0, 1u << 20).value().empty());
  CHECK(file.tail(1000, 40).value().back() == "line number 13");
  CHECK(file.tail(1000, 40).value().size() <= 3);
}

TEST_CASE("fewer files than before take the older ones away, and one file is the current one") {
  const ScratchDirectory scratch;
  RotatedFile file(scratch.path() + "/log");
  std::size_t written = 0;
  REQUIRE(file.append(numbered(0, 50), {.bytes = 100, .files = 5}, written));
  CHECK(std::filesystem::exists(scratch.path() + "/log.4"));
  REQUIRE(file.append(numbered(50, 60), {.bytes = 100, .files = 1}, written));
  for (const char* name : {"log.1", "log.2", "log.3", "log.4"})
    CHECK_FALSE(std::filesystem::exists(scratch.path() + "/" + name));
  CHECK(content(scratch.path() + "/log").ends_with("line number 59\n"));
}

TEST_CASE("a line larger than a file is kept whole in one of its own") {
  const ScratchDirectory scratch;
  RotatedFile file(scratch.path() + "/log");
  std::size_t written = 0;
  const std::string large = std::string(500, 'x') + "\n";
  REQUIRE(file.append({"a\n", large, "b\n"}, small, written));
  CHECK(content(scratch.path() + "/log.2") == "a\n");
  CHECK(content(scratch.path() + "/log.1") == large);
  CHECK(content(scratch.path() + "/log") == "b\n");
}

TEST_CASE("half a line that a killed daemon left is not taken for the beginning of the next") {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() + "/log") << "whole\nhal";
  RotatedFile file(scratch.path() + "/log");
  std::size_t written = 0;
  REQUIRE(file.append({"next\n"}, {.bytes = 1000, .files = 3}, written));
  CHECK(file.tail(9, 1000).value() == Lines{"whole", "hal", "next"});
}

TEST_CASE("what cannot be written leaves no half line, and is counted") {
  const ScratchDirectory scratch;
  RotatedFile file(scratch.path() + "/log");
  std::size_t written = 0;
  REQUIRE(file.append({"first\n"}, {.bytes = 1u << 20, .files = 3}, written));
  // A file size limit in place of a full disk.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto disposition = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little{.rlim_cur = 20, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
  const auto failed =
      file.append({std::string(100, 'a') + "\n"}, {.bytes = 1u << 20, .files = 3}, written);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, disposition);
  REQUIRE_FALSE(failed);
  CHECK(written == 0);
  CHECK(content(scratch.path() + "/log") == "first\n");
  REQUIRE(file.append({"second\n"}, {.bytes = 1u << 20, .files = 3}, written));
  CHECK(content(scratch.path() + "/log") == "first\nsecond\n");
}

TEST_CASE("a log line is JSON whatever the bytes are") {
  LogLine line = text_line("caf\xc3\xa9 \"x\"\n");
  CHECK(to_json(line) ==
        "{\"at\":\"1970-01-01T00:00:00.000Z\",\"run\":\"r-1\",\"stream\":\"stdout\","
        "\"text\":\"caf\xc3\xa9 \\\"x\\\"\\n\"}\n");
  line.text = std::string("\xff\x00z", 3);
  CHECK(to_json(line).find("\"base64\":\"/wB6\"") != std::string::npos);
  line.level = "info";
  CHECK(to_json(line).find("\"level\":\"info\"") != std::string::npos);
}

TEST_CASE_METHOD(LogFixture, "a follower gets each line once and in order, also across rotations") {
  AgentLog log(*worker, path, {.bytes = 2'000, .files = 2});
  Lines seen;
  for (int n = 0; n < 5; ++n) log.append({text_line(std::to_string(n))});
  FollowerId follower = 0;
  follower = log.follow(3, [&](const Lines& lines) {
    const Lines more = texts(lines);
    seen.insert(seen.end(), more.begin(), more.end());
  });
  for (int n = 5; n < 10; ++n) log.append({text_line(std::to_string(n))});
  run_until([&] { return seen.size() >= 8; });
  for (int n = 10; n < 200; ++n) log.append({text_line(std::to_string(n))});
  run_until([&] { return worker->pending() == 0; });
  REQUIRE(seen.size() == 198);
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == std::to_string(i + 2));
  CHECK(std::filesystem::exists(path + ".1"));
  log.unfollow(follower);
  log.append({text_line("more")});
  CHECK(seen.size() == 198);
  run_until([&] { return worker->pending() == 0; });
}

TEST_CASE_METHOD(LogFixture,
                 "more than the disk has taken makes the log full, until there is room") {
  AgentLog log(*worker, path, {.bytes = 1u << 30, .files = 2});
  bool has_room = false;
  log.on_room([&] { has_room = true; });
  const std::string piece(16 * 1024, 'x');
  int lines = 0;
  while (!log.is_full()) {
    log.append({text_line(piece)});
    ++lines;
    REQUIRE(lines < 1000);
  }
  CHECK_FALSE(has_room);
  run_until([&] { return has_room; });
  CHECK_FALSE(log.is_full());
  run_until([&] { return worker->pending() == 0; });
  CHECK(std::filesystem::file_size(path) > unwritten_log_bytes_max / 2);
}

TEST_CASE_METHOD(LogFixture, "lines that could not be written are named by the next ones") {
  AgentLog log(*worker, scratch.path() + "/missing/log", {.bytes = 1u << 20, .files = 2});
  log.append({text_line("a"), text_line("b")});
  run_until([&] { return worker->pending() == 0; });
  std::filesystem::create_directory(scratch.path() + "/missing");
  log.append({text_line("c")});
  run_until([&] { return worker->pending() == 0; });
  const std::string text = content(scratch.path() + "/missing/log");
  CHECK(text.find("2 lines before this one could not be written") != std::string::npos);
  CHECK(text.find("\"text\":\"c\"") != std::string::npos);
}

TEST_CASE_METHOD(LogFixture, "a log that is gone gets no answer") {
  auto log = std::make_unique<AgentLog>(*worker, path, small);
  log->append({text_line("a")});
  log->follow(5, [](const Lines&) { FAIL("nobody follows"); });
  log.reset();
  run_until([&] { return worker->pending() == 0; });
}
