// What goes into a step's channel, and what is believed of what is in it afterwards. Nothing runs.

#include "supervisor/runtimes/step.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "kernel/confine/launch_wire.hpp"
#include "supervisor/runtimes/step_wire.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::ErrorCode;

namespace {

ResolvedRun prepared(const Files& files, const std::vector<std::string>& wanted) {
  ResolvedRun run;
  const auto done = prepare_step({"true"}, files, wanted, run);
  INFO((done ? "" : done.error().message));
  REQUIRE(done);
  return run;
}

kernel::Error refusal(const Files& files, const ResolvedRun& resolved = {}) {
  ResolvedRun run = resolved;
  const auto done = prepare_step({"true"}, files, {}, run);
  REQUIRE_FALSE(done);
  CHECK(run.channel == nullptr);
  CHECK(run.argv == resolved.argv);
  return done.error();
}

// A channel in which a run has left `out`.
kernel::Fd channel_with(std::string_view out) {
  const ResolvedRun run = prepared({{"a", "contents"}}, {"x"});
  kernel::Fd fd(::dup(run.channel->get()));
  struct stat status {};
  REQUIRE(::fstat(fd.get(), &status) == 0);
  const off_t start = status.st_size - static_cast<off_t>(artifact_bytes_max);
  REQUIRE(::pwrite(fd.get(), out.data(), out.size(), start) == static_cast<ssize_t>(out.size()));
  return fd;
}

std::string word(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

TEST_CASE("a file name is a relative path that stays in the workspace") {
  for (const char* name : {"a", "main.py", "pkg/a.py", "a b", "..a", "a..", ".hidden", "-x", "ä"})
    CHECK(check_file_name(name));
  const std::string long_part(256, 'a');
  std::string long_name = "a";
  while (long_name.size() <= step_name_bytes_max) long_name += "/a";
  for (const std::string& name :
       {std::string(), std::string("/etc/passwd"), std::string(".."), std::string("../a"),
        std::string("a/../b"), std::string("a/.."), std::string("."), std::string("./a"),
        std::string("a//b"), std::string("a/"), std::string("/"), std::string("a\0b", 3), long_part,
        long_name}) {
    INFO(name);
    const auto checked = check_file_name(name);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == ErrorCode::invalid_request);
  }
}

TEST_CASE("a step becomes a run of paddock-step with its files in a sealed channel") {
  const ResolvedRun run = prepared({{"a", "contents"}}, {});
  CHECK(run.argv == std::vector<std::string>{kernel::program_path, "true"});
  CHECK(run.program >= 0);
  CHECK(run.channel_bytes > 8);
  constexpr int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  CHECK(::fcntl(run.channel->get(), F_GET_SEALS) == all);
}

TEST_CASE("what a step may write into has a fixed size") {
  const ResolvedRun run = prepared({}, {"x"});
  const int fd = run.channel->get();
  struct stat status {};
  REQUIRE(::fstat(fd, &status) == 0);
  CHECK(::ftruncate(fd, status.st_size + 1) == -1);
  CHECK(::ftruncate(fd, 0) == -1);
  CHECK(::pwrite(fd, "x", 1, status.st_size) == -1);
  CHECK(::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == -1);
  CHECK(status.st_blocks * 512 < 1 << 20);  // it takes memory only as it is filled
}

TEST_CASE("files that cannot be laid out are refused before anything runs") {
  CHECK(refusal({{"../a", ""}}).code == ErrorCode::invalid_request);
  CHECK(refusal({{"a", ""}, {"a/b", ""}}).message == "'a' is a file and the directory of 'a/b'");
  CHECK(refusal({{"a", ""}, {"a.b", ""}, {"a/b", ""}}).message ==
        "'a' is a file and the directory of 'a/b'");
  CHECK(prepared({{"a", ""}, {"ab/c", ""}}, {}).argv.size() == 2);

  Files many;
  for (std::size_t i = 0; i <= files_max; ++i) many[std::to_string(i)] = "";
  CHECK(refusal(many).message == "1025 files, and at most 1024 go into a run");

  ResolvedRun small;
  small.policy.fsize_bytes = 10;
  CHECK(refusal({{"a", "12345678901"}}, small).message ==
        "'a' has 11 bytes, and fsize_bytes is 10");
  small.policy.fsize_bytes.reset();
  small.policy.use_bubblewrap = true;
  small.policy.workspace_bytes = 4096;
  const kernel::Error no_room = refusal({{"a", "1"}, {"b", "2"}}, small);
  CHECK(no_room.code == ErrorCode::sandbox_policy_error);
  CHECK(no_room.message == "the files take 8192 bytes, and workspace_bytes is 4096");
}

TEST_CASE("files over the bound of all together are refused") {
  const std::string half(file_bytes_max / 2 + 1, 'x');
  CHECK(refusal({{"a", half}, {"b", half}}).code == ErrorCode::invalid_request);
}

TEST_CASE("a command that names no program is refused") {
  ResolvedRun run;
  CHECK_FALSE(prepare_step({}, {}, {}, run));
  CHECK_FALSE(prepare_step({""}, {}, {}, run));
}

TEST_CASE("what a run has left is read in the order in which it was wanted") {
  const std::string out = word(4) + "one" + word(0) + word(1) + word(4) + "two";
  CHECK(collect_files(channel_with(out), {"a", "b", "c", "d"}) ==
        Files{{"a", "one"}, {"c", ""}, {"d", "two"}});
}

TEST_CASE("nothing is wanted, nothing comes out") {
  CHECK(collect_files(channel_with(word(4) + "one"), {}).empty());
  CHECK(collect_files(*prepared({{"a", "x"}}, {}).channel, {"a"}).empty());
}

TEST_CASE("sizes that a run has made up read nothing outside of its room") {
  for (const std::uint64_t size :
       {std::uint64_t{artifact_bytes_max}, std::uint64_t{artifact_bytes_max} - 7,
        std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 8}) {
    INFO(size);
    CHECK(collect_files(channel_with(word(size + 1) + "one"), {"a", "b"}).size() <=
          (size == ~std::uint64_t{0} ? 2 : 0));
  }
  // One that fits exactly is the last that can be there.
  const std::uint64_t whole = artifact_bytes_max - sizeof(std::uint64_t);
  const Files files = collect_files(channel_with(word(whole + 1)), {"a", "b"});
  REQUIRE(files.size() == 1);
  CHECK(files.at("a").size() == whole);
}

TEST_CASE("many files that claim to be large take no more than the room has") {
  std::string out;
  for (int i = 0; i < 1000; ++i) out += word((20u << 20) + 1);
  std::vector<std::string> wanted;
  for (int i = 0; i < 1000; ++i) wanted.push_back(std::to_string(i));
  std::size_t bytes = 0;
  for (const auto& [name, contents] : collect_files(channel_with(out), wanted))
    bytes += contents.size();
  CHECK(bytes <= artifact_bytes_max);
}

TEST_CASE("a descriptor that is no channel has no files") {
  CHECK(collect_files(kernel::Fd(), {"a"}).empty());
  CHECK(collect_files(kernel::memory_file("x", "short").value(), {"a"}).empty());
}
