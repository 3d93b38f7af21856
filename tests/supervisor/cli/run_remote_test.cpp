// `paddock run` with a daemon, the daemon being a test: events in, input out, and what happens when
// one of the two goes wrong.

#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>

#include "fake_daemon.hpp"
#include "kernel/base/fd.hpp"
#include "sample_run.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/cli/run_command.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::supervisor::cli;

namespace {

const std::string run_path = "/v1/runs/r-0123456789abcdef";

// Something that one thread says and another waits for.
class Flag {
 public:
  void raise() {
    const std::lock_guard lock(mutex_);
    raised_ = true;
    condition_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    condition_.wait_for(lock, std::chrono::seconds(20), [this] { return raised_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool raised_ = false;
};

// Pipes in the place of this process's stdin, stdout and stderr.
struct Streams {
  kernel::Pipe input = kernel::make_pipe().value();
  kernel::Pipe output = kernel::make_pipe().value();
  kernel::Pipe errors = kernel::make_pipe().value();
  LiveStreams live{input.read_end.get(), OutputPump(output.write_end.get(), errors.write_end.get()),
                   true};

  void type(std::string_view text) {
    REQUIRE(::write(input.write_end.get(), text.data(), text.size()) ==
            static_cast<ssize_t>(text.size()));
  }
  static std::string read_all(kernel::Pipe& pipe) {
    pipe.write_end.close();
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(pipe.read_end.get(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(count));
    return text;
  }
};

kernel::Request shell_request() {
  kernel::Request request;
  request.argv = {"cat"};
  return request;
}

kernel::Result<RunRecord> run_against(const FakeDaemon& daemon, Streams& streams) {
  auto client = Client::connect(daemon.socket());
  if (!client) FAIL(client.error().message);
  RemoteBackend backend(std::move(*client), daemon.socket());
  StopSignals signals = StopSignals::install().value();
  auto run = run_remote(backend, shell_request(), false, streams.live, signals);
  if (run) streams.live.output.flush(signals.fd());
  return run;
}

}  // namespace

TEST_CASE("output comes through as it is, and the end is the run's") {
  const RunRecord sample = sample_run();
  const FakeDaemon daemon([&](const FakeRequest& request, const FakeConnection& connection) {
    if (request.target != "/v1/runs") return connection.respond(204, ""), true;
    connection.begin_chunks();
    connection.chunk(started_event(sample));
    connection.chunk(output_event(sample.id, "stdout", "one\n") +
                     output_event(sample.id, "stderr", "two\n"));
    const std::string last = output_event(sample.id, "stdout", "\xff\n") + finished_event(sample);
    connection.chunk(last.substr(0, 20));  // events and chunks have nothing to do with each other
    connection.chunk(last.substr(20));
    connection.end_chunks();
    return false;
  });
  Streams streams;
  const auto run = run_against(daemon, streams);
  if (!run) FAIL(run.error().message);
  CHECK(run->result == sample.result);
  CHECK(Streams::read_all(streams.output) == "one\n\xff\n");
  CHECK(Streams::read_all(streams.errors) == "two\n");
  const auto body = parse_run_request(daemon.requests().front().body);
  REQUIRE(body);
  CHECK(body->stream);
  CHECK(body->stdin_open);
}

TEST_CASE("input goes out after the start, waits when the daemon is full, and ends") {
  const RunRecord sample = sample_run();
  Flag input_ended;
  int refusals = 2;
  std::string received;
  const FakeDaemon daemon([&](const FakeRequest& request, const FakeConnection& connection) {
    if (request.target == "/v1/runs") {
      connection.begin_chunks();
      connection.chunk(started_event(sample));
      input_ended.wait();
      connection.chunk(finished_event(sample));
      connection.end_chunks();
      return false;
    }
    if (refusals-- > 0) {
      connection.respond(429, R"({"error": {"code": "too_busy", "message": "full"}})");
      return true;
    }
    received += request.body;
    connection.respond(204, "");
    if (request.target == run_path + "/stdin?close=true") input_ended.raise();
    return true;
  });
  Streams streams;
  streams.type("hello\n");
  streams.input.write_end.close();
  const auto run = run_against(daemon, streams);
  if (!run) FAIL(run.error().message);
  CHECK(received == "hello\n");
}

TEST_CASE("a run that takes no more input goes on without") {
  const RunRecord sample = sample_run();
  Flag refused;
  const FakeDaemon daemon([&](const FakeRequest& request, const FakeConnection& connection) {
    if (request.target == "/v1/runs") {
      connection.begin_chunks();
      connection.chunk(started_event(sample));
      refused.wait();
      connection.chunk(finished_event(sample));
      return false;
    }
    connection.respond(404, R"({"error": {"code": "not_found", "message": "no run"}})");
    refused.raise();
    return true;
  });
  Streams streams;
  streams.type("x");
  CHECK(run_against(daemon, streams));
}

TEST_CASE("a refusal is the error that the daemon gives") {
  const FakeDaemon daemon([](const FakeRequest&, const FakeConnection& connection) {
    connection.respond(501,
                       R"({"error": {"code": "sandbox_not_available", "message": "no bwrap"}})");
    return false;
  });
  Streams streams;
  const auto run = run_against(daemon, streams);
  REQUIRE_FALSE(run);
  CHECK(run.error() == kernel::Error{kernel::ErrorCode::sandbox_not_available, "no bwrap"});
}

TEST_CASE("a daemon that dies is an error, and what came before it was passed on") {
  const RunRecord sample = sample_run();
  const bool cleanly = GENERATE(false, true);
  const FakeDaemon daemon([&](const FakeRequest&, const FakeConnection& connection) {
    connection.begin_chunks();
    connection.chunk(started_event(sample));
    connection.chunk(output_event(sample.id, "stdout", "partial"));
    if (cleanly) connection.end_chunks();
    return false;
  });
  Streams streams;
  const auto run = run_against(daemon, streams);
  REQUIRE_FALSE(run);
  CHECK(run.error().code == kernel::ErrorCode::io);
}

TEST_CASE("a reader of the output who goes away stops the run") {
  const RunRecord sample = sample_run();
  Flag stopped;
  const FakeDaemon daemon([&](const FakeRequest& request, const FakeConnection& connection) {
    if (request.method == "DELETE") {
      connection.respond(202, "{}");
      stopped.raise();
      return true;
    }
    if (request.target != "/v1/runs") return connection.respond(204, ""), true;
    connection.begin_chunks();
    connection.chunk(started_event(sample));
    connection.chunk(output_event(sample.id, "stdout", "nobody reads this"));
    stopped.wait();
    connection.chunk(finished_event(sample));
    return false;
  });
  ::signal(SIGPIPE, SIG_IGN);
  Streams streams;
  streams.output.read_end.close();
  REQUIRE(run_against(daemon, streams));
  CHECK(streams.live.output.stdout_error() == EPIPE);
}

TEST_CASE("a signal asks the daemon to end the run, and waits for that end") {
  RunRecord sample = sample_run();
  sample.result->cause = kernel::Cause::killed_by_request;
  Flag stopped;
  const FakeDaemon daemon([&](const FakeRequest& request, const FakeConnection& connection) {
    if (request.method == "DELETE") {
      CHECK(request.target == run_path);
      connection.respond(202, "{}");
      stopped.raise();
      return true;
    }
    connection.begin_chunks();
    connection.chunk(started_event(sample));
    ::usleep(50'000);
    ::kill(::getpid(), SIGINT);
    stopped.wait();
    connection.chunk(finished_event(sample));
    return false;
  });
  Streams streams;
  const auto run = run_against(daemon, streams);
  if (!run) FAIL(run.error().message);
  CHECK(run->result->cause == kernel::Cause::killed_by_request);
}
