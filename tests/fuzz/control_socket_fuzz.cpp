// Goal: whatever comes through a run's control socket and pipes, in whatever order, the run ends,
// once, with an outcome in its bounds, and nothing is read outside a packet.
// Method: a real Run whose launch chain is this process: the linker replaces spawn(), the receipt
// and the clock. The input is a script of packets, output, silence and orders.

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "fuzz/property.hpp"
#include "kernel/base/process_tree.hpp"
#include "kernel/confine/launch_wire.hpp"
#include "kernel/run/receipt.hpp"
#include "kernel/run/run.hpp"

namespace paddock::fuzz {
namespace {

using namespace kernel;

constexpr pid_t somebody_else = 1;

// The other ends of the run's descriptors, and what the replaced functions answer.
struct Chain {
  Fd control;
  Fd output;
  Fd errors;
  Fd input;
  int launcher_pidfd = -1;
  pid_t launcher = -1;
  bool receipt_matches = true;
  Clock::time_point now{std::chrono::hours(1)};
};
Chain chain;

Fd take_end(int (&ends)[2], int which) {
  return Fd(ends[which]);
}

}  // namespace

Result<SpawnedRun> fake_spawn(const Plan&, int, int, int,
                              int) asm("__wrap__ZN7paddock6kernel5spawnERKNS0_4PlanEiiii");
Result<SpawnedRun> fake_spawn(const Plan&, int, int, int, int) {
  int control[2];
  int input[2];
  int output[2];
  int errors[2];
  must_hold(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, control) == 0 &&
                ::pipe2(input, O_CLOEXEC | O_NONBLOCK) == 0 &&
                ::pipe2(output, O_CLOEXEC | O_NONBLOCK) == 0 &&
                ::pipe2(errors, O_CLOEXEC | O_NONBLOCK) == 0,
            "the fuzz target has descriptors");
  const int on = 1;
  ::setsockopt(control[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  chain.control = take_end(control, 1);
  chain.input = take_end(input, 0);
  chain.output = take_end(output, 1);
  chain.errors = take_end(errors, 1);
  Fd pidfd(::eventfd(0, EFD_CLOEXEC));  // no process: signals to it and waits for it fail
  chain.launcher_pidfd = pidfd.get();
  SpawnedRun run{.launcher = chain.launcher,
                 .launcher_pidfd = std::move(pidfd),
                 .control = take_end(control, 0),
                 .stdin_write = take_end(input, 1),
                 .stdout_read = take_end(output, 0),
                 .stderr_read = take_end(errors, 0)};
  return run;
}

Result<Receipt> fake_observe(pid_t pid) asm("__wrap__ZN7paddock6kernel7observeEi");
Result<Receipt> fake_observe(pid_t pid) {
  Receipt receipt;
  receipt.pid = pid;
  return receipt;
}

std::vector<std::string> fake_compare(const Plan&, const Receipt&) asm(
    "__wrap__ZN7paddock6kernel7compareB5cxx11ERKNS0_4PlanERKNS0_7ReceiptE");
std::vector<std::string> fake_compare(const Plan&, const Receipt&) {
  if (chain.receipt_matches) return {};
  return {"it is not as planned"};
}

std::optional<ProcessStat> fake_stat_of(pid_t) asm("__wrap__ZN7paddock6kernel7stat_ofEi");
std::optional<ProcessStat> fake_stat_of(pid_t) {
  ProcessStat stat;
  stat.state = 'S';
  stat.parent = chain.launcher;
  return stat;
}

Clock::time_point fake_now() asm("__wrap__ZNSt6chrono3_V212steady_clock3nowEv");
Clock::time_point fake_now() {
  return chain.now;
}

namespace {

ControlMessage message_of(Pieces& pieces) {
  ControlMessage message;
  message.kind = static_cast<ControlKind>(pieces.number() % 24);
  message.error = static_cast<int32_t>(pieces.number()) - 16;
  message.exited = static_cast<int32_t>(pieces.number() * 2) - 1;
  message.signal = static_cast<int32_t>(pieces.number()) - 8;
  const std::string text = pieces.bytes(pieces.number() % sizeof message.text);
  std::copy(text.begin(), text.end(), message.text);
  return message;
}

void send(std::string_view packet) {
  if (chain.control) ::send(chain.control.get(), packet.data(), packet.size(), MSG_NOSIGNAL);
}

void write_to(Fd& pipe, std::string_view bytes) {
  if (pipe && !bytes.empty()) must_hold(::write(pipe.get(), bytes.data(), bytes.size()) != 0, "");
}

// As a driver does: everything that can be read is read, and then what was retired is closed.
void drive(Run& run, int except = -1) {
  for (const Run::Watch& watch : run.watches())
    if (watch.fd != except && !run.finished()) run.on_ready(watch.fd);
  run.release();
}

void let_time_pass(Run& run) {
  const auto next = run.next_time();
  if (next) chain.now = std::max(chain.now, *next);
  run.on_time();
  run.release();
}

void act(Run& run, Pieces& pieces) {
  switch (pieces.number() % 10) {
    case 0:
    case 1: {
      const ControlMessage message = message_of(pieces);
      send({reinterpret_cast<const char*>(&message), sizeof message});
      break;
    }
    case 2:
      send(pieces.bytes(pieces.number()));
      break;
    case 3:
      write_to(chain.output, pieces.bytes(pieces.number()));
      break;
    case 4:
      write_to(chain.errors, pieces.bytes(pieces.number()));
      break;
    case 5:
      chain.output.close();
      chain.errors.close();
      break;
    case 6:
      chain.control.close();
      break;
    case 7:
      if (pieces.number() % 2 == 0) return run.stop();
      return run.kill(Cause::shutdown);
    case 8:
      return let_time_pass(run);
    default:  // the launcher has ended
      return drive(run);
  }
  drive(run, chain.launcher_pidfd);
}

void check_result(const SandboxResult& result) {
  must_hold(result.exit_code >= -64 && result.exit_code <= 255, "an exit code is one",
            std::to_string(result.exit_code));
  must_hold(result.signal >= 0 && result.signal <= 64, "a signal is one");
  must_hold(result.detail.size() <= 8192, "the detail is bounded", result.detail);
  must_hold(result.stdout.size() <= 64 && result.stderr.size() <= 64, "output is bounded");
  must_hold(result.stdout.size() <= result.stdout_bytes, "what is kept was written");
  must_hold(result.cause != Cause::exited || chain.receipt_matches,
            "a program runs only if its receipt matched");
  must_hold(chain.receipt_matches || result.stdout.empty(), "what never ran has no output");
}

Plan plan_of(unsigned choices) {
  Plan plan;
  plan.launch.argv = {"true"};
  plan.launch.workdir = (choices & 1) != 0 ? "/workspace" : "/";
  plan.output_bytes = 64;
  if ((choices & 2) != 0) plan.output_stop_bytes = 100;
  if ((choices & 4) != 0) plan.wall_clock = std::chrono::seconds(10);
  plan.grace = std::chrono::seconds(1);
  return plan;
}

}  // namespace
}  // namespace paddock::fuzz

using namespace paddock::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Pieces pieces(as_text(data, size));
  const unsigned choices = pieces.number();
  chain = Chain{};
  chain.receipt_matches = (choices & 8) == 0;
  chain.launcher = (choices & 16) == 0 ? ::getpid() : somebody_else;
  RunOptions options;
  options.stdin_bytes = (choices & 32) != 0 ? "input" : "";
  auto started = Run::start(plan_of(choices), -1, {}, std::move(options));
  must_hold(started.has_value(), "a run starts");
  Run& run = **started;
  for (int steps = 0; steps < 64 && !pieces.empty() && !run.finished(); ++steps) {
    act(run, pieces);
    if (!run.finished())
      must_hold(run.next_time() || run.started(), "no run waits for ever before its program runs");
  }
  if (!run.finished()) run.stop();
  run.release();
  for (int waits = 0; waits < 16 && !run.finished(); ++waits) {
    must_hold(run.next_time().has_value(), "a run that was stopped does not wait for ever");
    let_time_pass(run);
  }
  must_hold(run.finished(), "a run that was stopped ends when its times have passed");
  check_result(run.take_result());
  return 0;
}
