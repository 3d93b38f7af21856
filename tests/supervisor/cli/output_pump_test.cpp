// Output never blocks, loses nothing, and says when nobody takes it.

#include "supervisor/cli/output_pump.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "kernel/base/fd.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor::cli;
using kernel::Stream;

namespace {

void write_ready(OutputPump& pump) {
  for (;;) {
    std::vector<pollfd> polled;
    pump.add_watches(polled);
    if (polled.empty() || ::poll(polled.data(), polled.size(), 0) <= 0) return;
    for (const pollfd& one : polled)
      if (one.revents != 0) pump.on_ready(one.fd);
  }
}

std::string take(const kernel::Fd& fd) {
  std::string bytes(1u << 20, '\0');
  const ssize_t count = ::read(fd.get(), bytes.data(), bytes.size());
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

}  // namespace

TEST_CASE("a full pipe stops nobody, and its bytes come later") {
  kernel::Pipe out = kernel::make_pipe().value();
  kernel::Pipe err = kernel::make_pipe().value();
  OutputPump pump(out.write_end.get(), err.write_end.get());
  std::string bytes;
  for (std::size_t i = 0; i < 3u << 20; ++i) bytes += static_cast<char>('a' + i % 26);
  pump.push(Stream::stdout_stream, bytes);
  pump.push(Stream::stderr_stream, "note\n");
  write_ready(pump);
  CHECK(pump.pending_bytes() > 0);
  CHECK(take(err.read_end) == "note\n");

  std::string received;
  while (received.size() < bytes.size()) {
    received += take(out.read_end);
    write_ready(pump);
  }
  CHECK(received == bytes);
  CHECK(pump.pending_bytes() == 0);
  CHECK(pump.written_bytes(Stream::stdout_stream) == bytes.size());
  CHECK(pump.stdout_error() == 0);
}

TEST_CASE("output without a reader is dropped, and said") {
  ::signal(SIGPIPE, SIG_IGN);
  kernel::Pipe out = kernel::make_pipe().value();
  kernel::Pipe err = kernel::make_pipe().value();
  OutputPump pump(out.write_end.get(), err.write_end.get());
  out.read_end.close();
  pump.push(Stream::stdout_stream, "x");
  write_ready(pump);
  CHECK(pump.stdout_error() == EPIPE);
  pump.push(Stream::stdout_stream, "more");
  CHECK(pump.pending_bytes() == 0);
}

TEST_CASE("a full device is an error of its own") {
  const kernel::Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  REQUIRE(full);
  OutputPump pump(full.get(), 2);
  pump.push(Stream::stdout_stream, "x");
  write_ready(pump);
  CHECK(pump.stdout_error() == ENOSPC);
}

TEST_CASE("flushing ends when it is interrupted") {
  kernel::Pipe out = kernel::make_pipe().value();
  kernel::Pipe interrupt = kernel::make_pipe().value();
  OutputPump pump(out.write_end.get(), 2);
  pump.push(Stream::stdout_stream, std::string(1u << 20, 'x'));
  REQUIRE(::write(interrupt.write_end.get(), "!", 1) == 1);
  pump.flush(interrupt.read_end.get());
  CHECK(pump.pending_bytes() > 0);
}
