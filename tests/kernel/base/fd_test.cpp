#include "kernel/base/fd.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

}  // namespace

TEST_CASE("an Fd closes its descriptor, once, and a moved-from Fd closes nothing") {
  int number = -1;
  {
    Fd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = first.get();
    const Fd second = std::move(first);
    CHECK_FALSE(first);
    CHECK(second.get() == number);
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("a released descriptor stays open") {
  Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = fd.release();
  CHECK_FALSE(fd);
  CHECK(is_open(number));
  ::close(number);
}

TEST_CASE("both ends of a pipe are close-on-exec") {
  const auto pipe = make_pipe();
  REQUIRE(pipe);
  CHECK(::fcntl(pipe->read_end.get(), F_GETFD) == FD_CLOEXEC);
  CHECK(::fcntl(pipe->write_end.get(), F_GETFD) == FD_CLOEXEC);
}

TEST_CASE("a memory file holds its bytes and nobody can change them any more") {
  // Goal: what a run is started from (its spec, bubblewrap's arguments, paddock-launch itself) is
  // passed to processes that are not trusted. Method: try each way to write to it.
  const std::string bytes(100'000, 'x');
  for (const auto& make : {memory_file, executable_memory_file}) {
    const auto file = make("test", bytes);
    REQUIRE(file);
    const int fd = file->get();

    std::string read(bytes.size() + 1, '\0');
    CHECK(::read(fd, read.data(), read.size()) == static_cast<ssize_t>(bytes.size()));
    read.resize(bytes.size());
    CHECK(read == bytes);

    CHECK(::pwrite(fd, "y", 1, 0) == -1);
    CHECK(errno == EPERM);
    CHECK(::pwrite(fd, "y", 1, static_cast<off_t>(bytes.size())) == -1);
    CHECK(errno == EPERM);
    CHECK(::ftruncate(fd, 10) == -1);
    CHECK(errno == EPERM);
    CHECK(::ftruncate(fd, 200'000) == -1);
    CHECK(errno == EPERM);
    CHECK(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
    CHECK(errno == EPERM);
    CHECK(::fcntl(fd, F_ADD_SEALS, 0) == -1);  // the seals themselves are sealed
    CHECK(errno == EPERM);
  }
}

TEST_CASE("a file larger than the limit is an error, never a truncated value") {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("file", std::string(1000, 'x'));
  CHECK(read_file(path, 1000) == std::string(1000, 'x'));
  const auto refused = read_file(path, 999);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error{ErrorCode::io, "'" + path + "' is larger than 999 bytes"});
}

TEST_CASE("a file that cannot be read is named") {
  const auto missing = read_file("/nonexistent/file", 10);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message == "open '/nonexistent/file': No such file or directory");
}
