// A ledger that cannot be written: a full disk, a broken one, a file that is cut off under the
// daemon's feet. What cannot be recorded is refused, what ran keeps its outcome, and the daemon
// goes on.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "faults/told.hpp"
#include "kernel/base/fd.hpp"
#include "support/host_support.hpp"

using namespace paddock;
using namespace paddock::faults;
using nlohmann::json;
using std::chrono::seconds;

namespace {

// In the daemon's process, before it is one: its state directory becomes a disk of 16 MiB that
// nobody else has. It lies beside TMPDIR, which the fixture sets.
void put_state_on_small_disk() {
  const std::string state = std::string(std::getenv("TMPDIR")) + "/../state";
  if (::mkdir(state.c_str(), 0700) != 0 || ::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", state.c_str(), "tmpfs", 0, "size=16m,mode=0700") != 0)
    ::_exit(126);
}

std::string on_small_disk(FaultyDaemon& faulty, const std::string& name) {
  return "/proc/" + std::to_string(faulty->pid()) + "/root" + faulty->directory().path("state/") +
         name;
}

void fill(const std::string& file) {
  const kernel::Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  REQUIRE(fd);
  const std::array<char, 4096> page{};
  while (::write(fd.get(), page.data(), page.size()) > 0) continue;
  REQUIRE(errno == ENOSPC);
}

}  // namespace

TEST_CASE("on a full disk new runs are refused, those that run keep their outcome, and it passes") {
  NEEDS(::geteuid() == 0, tests::needs_root);
  FaultyDaemon faulty({.in_child = put_state_on_small_disk});
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(faulty->start(shell("sleep 3; echo x")));
  for (const std::string& id : ids) {
    faulty.know(id);
    faulty->wait_until_started(id);
  }
  const std::string filler = on_small_disk(faulty, "filler");
  fill(filler);
  CHECK(eventually([&] { return faulty.is_refused(); }, seconds(20)));
  CHECK(faulty->health("status") == "ok");
  CHECK(faulty->health("ledger").get<std::string>().ends_with("the disk is full"));
  CHECK(faulty->log().find("the ledger cannot be written: ") != std::string::npos);
  // The reserve is there for them.
  for (const std::string& id : ids) {
    const json run = faulty->finished(id);
    INFO(run.dump());
    CHECK(run["result"]["cause"] == "exited");
    CHECK(run["result"]["stdout"] == "x\n");
    CHECK_FALSE(run.contains("recorded"));
  }
  CHECK(::unlink(filler.c_str()) == 0);
  CHECK(eventually([&] { return !faulty.is_refused(); }, seconds(20)));
  CHECK(faulty->health("ledger") == "writing");
  CHECK(faulty->log().find("the ledger is written again") != std::string::npos);
  faulty.check_nothing_left();
}

TEST_CASE("a ledger whose disk fails for a while refuses runs, and records again after it") {
  FaultyDaemon faulty;
  for (const auto& [call, error] : {std::pair{Call::pwrite, ENOSPC}, std::pair{Call::pwrite, EIO},
                                    std::pair{Call::fsync, EIO}}) {
    INFO(name_of(call) << " fails with " << std::strerror(error));
    Told told;
    const std::string id = faulty->start(shell("sleep 1; echo x"));
    told.run(id);
    faulty.know(id);
    faulty->wait_until_started(id);
    faulty.board().fail(call, error, 0, 1'000'000);
    CHECK(faulty.is_refused());
    // Longer than a client waits for the record: it gets its outcome all the same.
    const json run = faulty->finished(id);
    CHECK(run["result"]["cause"] == "exited");
    CHECK(run["recorded"] == false);
    CHECK(faulty.board().clear() > 0);
    CHECK(eventually([&] { return !faulty.is_refused(); }, seconds(20)));
    CHECK_FALSE(faulty->finished(id).contains("recorded"));
    check_ledger(faulty.daemon(), told);
  }
  faulty.check_nothing_left();
}

TEST_CASE("an agent is stopped while the ledger cannot be written, and who stops it is told so") {
  FaultyDaemon faulty(
      {.agents = {
           {"a.toml", "name = \"a\"\nprofile = \"OFF\"\ncommand = [\"sleep\", \"300\"]\n"}}});
  const auto state = [&] { return faulty->get("/v1/agents/a").json()["status"]["state"]; };
  CHECK(faulty->post("/v1/agents/a/start?wait_seconds=20").json()["status"]["state"] == "running");
  faulty.board().fail(Call::pwrite, ENOSPC, 0, 1'000'000);
  std::thread client([&] {
    const HttpReply reply = faulty->post("/v1/agents/a/stop");
    CHECK(reply.status == 202);
    CHECK(reply.json()["recorded"] == false);
  });
  // It does not wait for the disk, though its client does.
  CHECK(eventually([&] { return state() == "stopping" || state() == "stopped"; }, seconds(3)));
  client.join();
  CHECK(faulty->post("/v1/agents/a/start").error_code() == "not_recorded");
  CHECK(faulty.board().clear() > 0);
  const HttpReply again = faulty->post("/v1/agents/a/stop");
  CHECK(again.status / 100 == 2);
  CHECK_FALSE(again.json().contains("recorded"));
  faulty->signal(SIGKILL);
  faulty->wait_for_end();
  faulty->start_again();
  CHECK(state() == "stopped");
}

TEST_CASE("a ledger that is cut off under the daemon's feet ends neither it nor its runs") {
  for (const std::string name : {"ledger.db", "ledger.db-wal"}) {
    INFO(name);
    FaultyDaemon faulty;
    const std::string id = faulty->start(shell("sleep 1; echo x"));
    faulty.know(id);
    faulty->wait_until_started(id);
    const std::string path = faulty->directory().path("state/" + name);
    REQUIRE(::truncate(path.c_str(), static_cast<off_t>(std::filesystem::file_size(path) / 2)) ==
            0);
    for (int i = 0; i < 5; ++i) faulty.is_refused();  // or not: it may be written anew
    const json run = faulty->finished(id);
    INFO(run.dump());
    CHECK(run["result"]["cause"] == "exited");
    CHECK(run["result"]["stdout"] == "x\n");
    CHECK(faulty->health("status") == "ok");
    faulty->signal(SIGTERM);
    CHECK(faulty->wait_for_end().exit_status >= 0);
  }
}
