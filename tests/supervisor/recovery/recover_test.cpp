// Recovery on a disk that is full: what is left is ended, whatever becomes of the record of it.

#include "supervisor/recovery/recover.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "supervisor/ledger/ledger_fixture.hpp"
#include "supervisor/ledger/small_disk.hpp"
#include "support/host_support.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::tests;

namespace {

// A child that would not end by itself.
class Survivor {
 public:
  Survivor() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
    mark_ = kernel::mark_of(pid_).value();
  }
  ~Survivor() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Survivor(const Survivor&) = delete;
  Survivor& operator=(const Survivor&) = delete;

  // Does not reap it.
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }
  RunRow row(int number) const {
    RunRow run = sample_run(number, "running");
    run.launcher = mark_;
    run.agent_process = std::nullopt;
    return run;
  }

 private:
  pid_t pid_;
  kernel::ProcessMark mark_;
};

// As a daemon that is killed leaves it, with SQLite's files beside the ledger.
void write_and_die(const LedgerDirectory& directory, const RunRow& run) {
  const pid_t writer = ::fork();
  if (writer == 0) {
    auto opened = LedgerWriter::open(directory.path(), LedgerSync::normal);
    Transition transition = sample_transition(1, "running");
    transition.run = run;
    ::_exit(opened && opened->apply(std::array{transition}) ? 0 : 1);
  }
  int status = -1;
  ::waitpid(writer, &status, 0);
  REQUIRE(status == 0);
}

RecoveryOptions options_for(const LedgerDirectory& directory) {
  return {.ledger = directory.path(),
          .runtime_directory = directory.directory(),
          .reach = {.patience = std::chrono::milliseconds(200)}};
}

}  // namespace

TEST_CASE_METHOD(LedgerDirectory,
                 "on a full disk what is left is ended, and recorded in the reserve's room") {
  NEEDS(SmallDisk::is_possible(), needs_root);
  const SmallDisk disk(directory());
  const Survivor survivor;
  write_and_die(*this, survivor.row(1));
  REQUIRE(std::filesystem::exists(reserve()));
  disk.fill();

  auto writer = LedgerWriter::open(path(), LedgerSync::normal);
  REQUIRE(writer);
  const auto report = recover(*writer, options_for(*this));
  REQUIRE(report);
  CHECK(survivor.has_ended());
  CHECK(report->problem.empty());
  CHECK(report->unrecorded.empty());
  REQUIRE(report->runs.size() == 1);
  CHECK(report->runs[0].remains.killed == 1);
  CHECK(reader().unfinished_runs().value().empty());
}

TEST_CASE_METHOD(LedgerDirectory,
                 "recovery gives the reserve to the outcomes if the disk fills up meanwhile") {
  NEEDS(SmallDisk::is_possible(), needs_root);
  const SmallDisk disk(directory());
  const Survivor survivor;
  write_and_die(*this, survivor.row(1));
  auto writer = LedgerWriter::open(path(), LedgerSync::normal);
  REQUIRE(writer);
  disk.fill();
  REQUIRE(writer->has_reserve());
  const auto report = recover(*writer, options_for(*this));
  REQUIRE(report);
  CHECK(survivor.has_ended());
  CHECK(report->problem.empty());
  CHECK_FALSE(writer->has_reserve());
  CHECK(reader().unfinished_runs().value().empty());
}

TEST_CASE_METHOD(LedgerDirectory,
                 "without any room what is left is ended, and the next recovery records it") {
  NEEDS(SmallDisk::is_possible(), needs_root);
  const SmallDisk disk(directory());
  const Survivor survivor;
  write_and_die(*this, survivor.row(1));
  std::filesystem::remove(reserve());
  std::filesystem::remove(path() + "-shm");  // as after a restart of the host
  disk.fill();

  auto writer = LedgerWriter::open(path(), LedgerSync::normal);
  REQUIRE_FALSE(writer);
  CHECK(writer.error().message == "ledger '" + path() + "': the disk is full");
  const auto report = recover_without_writing(writer.error(), options_for(*this));
  REQUIRE(report);
  CHECK(survivor.has_ended());
  CHECK(report->problem == writer.error().message);
  REQUIRE(report->runs.size() == 1);
  CHECK(report->runs[0].remains == Remains{.killed = 1, .gone = true});
  CHECK(summary_of(*report).ends_with("not recorded yet: " + report->problem));

  disk.make_room();
  writer = LedgerWriter::open(path(), LedgerSync::normal);
  REQUIRE(writer);
  const auto next = recover(*writer, options_for(*this));
  REQUIRE(next);
  CHECK(next->problem.empty());
  CHECK(next->runs.size() == 1);
  CHECK(reader().unfinished_runs().value().empty());
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory,
                 "nothing is ended for a ledger that somebody has, or that is none") {
  const kernel::Error problem{kernel::ErrorCode::not_recorded, "why"};
  const Survivor survivor;
  write_and_die(*this, survivor.row(1));
  {
    const auto holder = LedgerWriter::open(path(), LedgerSync::normal);
    REQUIRE(holder);
    const auto report = recover_without_writing(problem, options_for(*this));
    REQUIRE_FALSE(report);
    CHECK(report.error().message == "why");
  }
  std::filesystem::resize_file(path(), 100);
  CHECK_FALSE(recover_without_writing(problem, options_for(*this)));
  CHECK_FALSE(survivor.has_ended());
}
