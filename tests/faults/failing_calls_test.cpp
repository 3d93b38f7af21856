// Each call by which the daemon sets up a run fails once, with what the kernel can say of it. The
// run is refused or ends with a cause that names it, nothing is left, and the next run is none the
// worse.

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "faults/faulty_daemon.hpp"

using namespace paddock::faults;
using nlohmann::json;

namespace {

struct Failure {
  Call call;
  int error;
};

// Of a run without bubblewrap, which has a workspace, and of one with it.
const std::vector<Failure>& failures_of_a_run() {
  static const std::vector<Failure> failures = {
      {Call::pipe2, EMFILE},      {Call::pipe2, ENFILE},        {Call::socketpair, EMFILE},
      {Call::setsockopt, ENOMEM}, {Call::memfd_create, EMFILE}, {Call::memfd_create, ENOMEM},
      {Call::clone3, EAGAIN},     {Call::clone3, ENOMEM},       {Call::pidfd_open, EMFILE},
      {Call::execveat, ENOMEM},   {Call::openat2, EMFILE},      {Call::open, EMFILE},
      {Call::open, ENFILE},       {Call::openat, EMFILE},       {Call::openat, ENOMEM},
      {Call::opendir, EMFILE},    {Call::mkdir, ENOSPC},        {Call::mkdir, ENOMEM},
      {Call::mkdtemp, ENOSPC},    {Call::fcntl, EMFILE},        {Call::dup2, EMFILE},
      {Call::flock, ENOLCK},      {Call::lchown, EPERM},        {Call::epoll_ctl, ENOMEM},
      {Call::epoll_ctl, ENOSPC},
  };
  return failures;
}

// What a client sees of a run in which something failed. True if it says so well enough.
bool is_clear(const HttpReply& reply, int error) {
  const std::string reason = std::strerror(error);
  if (reply.status >= 400) return reply.error_message().find(reason) != std::string::npos;
  const json result = reply.json()["result"];
  if (result["cause"] == "exited")  // it did without
    return result["exit_code"] == 0 && result["stdout"] == "x\n" && result["stderr"] == "";
  const bool is_ours = result["cause"] == "internal" || result["cause"] == "cannot_isolate";
  return is_ours && result["detail"].get<std::string>().find(reason) != std::string::npos;
}

// Status 0: the daemon closed the connection without an answer.
HttpReply post(FaultyDaemon& faulty, const json& request) {
  try {
    return faulty->post("/v1/runs", request);
  } catch (const std::runtime_error&) {
    return {};
  }
}

// Every call of that name that a run makes, until there are no more. Returns how many there were.
int fail_each(FaultyDaemon& faulty, const Failure& failure, const std::string& profile) {
  constexpr int calls_max = 400;
  int skip = 0;
  for (; skip < calls_max; ++skip) {
    faulty.board().fail(failure.call, failure.error, skip);
    const HttpReply reply = post(faulty, quick(profile));
    const bool has_failed = faulty.board().clear() > 0;
    if (reply.status == 200) faulty.know(reply.json()["id"]);
    INFO(name_of(failure.call) << " number " << skip << " fails with "
                               << std::strerror(failure.error) << " under " << profile << ": "
                               << reply.body.substr(0, 1500));
    if (reply.status == 0) {
      // A connection that cannot be duplicated or watched is closed.
      CHECK((failure.call == Call::epoll_ctl || failure.call == Call::fcntl));
    } else {
      CHECK(is_clear(reply, failure.error));
    }
    if (!has_failed) break;
  }
  CHECK(skip < calls_max);
  INFO("after " << name_of(failure.call) << " failed with " << std::strerror(failure.error));
  faulty.check_nothing_left();
  CHECK(faulty.run(quick(profile))["result"]["cause"] == "exited");
  return skip;
}

}  // namespace

TEST_CASE(
    "a call that fails while a run is set up refuses or ends it, says why, and leaks nothing") {
  FaultyDaemon faulty;
  const bool sandboxed = sandbox_works();
  for (const Failure& failure : failures_of_a_run()) {
    int calls = fail_each(faulty, failure, "OFF");
    if (sandboxed) calls += fail_each(faulty, failure, "STRICT");
    INFO(name_of(failure.call));
    CHECK((calls > 0 || !sandboxed));  // the run still makes this call
  }
}

// Without the pipes of its signals libuv aborts: that is not tried.
TEST_CASE("a call that fails while the daemon starts ends it with the reason, and leaves nothing") {
  for (const Failure& failure :
       {Failure{Call::epoll_create1, EMFILE}, Failure{Call::eventfd, EMFILE},
        Failure{Call::socket, ENFILE}, Failure{Call::bind, EADDRINUSE},
        Failure{Call::listen, EADDRINUSE}, Failure{Call::pwrite, EIO}, Failure{Call::fsync, EIO}}) {
    INFO(name_of(failure.call) << " fails with " << std::strerror(failure.error));
    const DaemonDirectory directory;
    const MappedBoard board;
    board.fail(failure.call, failure.error, 0, 1'000'000);
    const DaemonAttempt attempt = try_daemon(
        {"--runtime-dir", directory.make_directory("run"), "--state-dir", directory.path("state")},
        {{board_variable, board.path()}, {"TMPDIR", directory.make_directory("tmp", 0711)}});
    CHECK(board.clear() > 0);
    INFO(attempt.standard_error);
    CHECK((attempt.ended.exit_status == 1 || attempt.ended.exit_status == 3));
    CHECK_FALSE(attempt.standard_error.empty());
  }
}

TEST_CASE("connections that cannot be accepted now are accepted later") {
  FaultyDaemon faulty;
  for (const int error : {EMFILE, ENFILE, ENOMEM, ECONNABORTED}) {
    INFO(std::strerror(error));
    faulty.board().fail(Call::accept4, error, 0, 3);
    HttpReply reply;
    try {
      reply = faulty->get("/health");
    } catch (const std::runtime_error&) {  // hung up on, which says as much
    }
    faulty.board().clear();
    CHECK(eventually([&] { return faulty->health("status") == "ok"; }));
  }
  faulty.check_nothing_left();
}
