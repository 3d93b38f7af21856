// paddock-step COMMAND ARG...: what a step's run starts with, inside the sandbox. It lays the files
// of its channel out in the directory where it is, and becomes COMMAND. If files are to come out it
// stays beside it instead, and then ends as COMMAND did: with the same status, by the same signal.
// In a trial each word is a program, and it says whether this host can lay out the files and
// execute all of the programs.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/runtimes/program/collect.hpp"
#include "supervisor/runtimes/program/files.hpp"
#include "supervisor/runtimes/step_wire.hpp"

namespace {

using paddock::supervisor::StepEntry;
using paddock::supervisor::StepHeader;

constexpr int channel = 3;
constexpr int exit_setup_failed = paddock::supervisor::step_setup_failed;
constexpr int exit_not_executed = paddock::supervisor::step_not_executed;

[[noreturn]] void die(int status, const char* what, const char* name, int error) {
  ::dprintf(2, "paddock-step: %s '%s': %s\n", what, name, ::strerror(error));
  ::_exit(status);
}

// By its place in the file and not by that of the descriptor, which other runs may share.
void read_channel(void* to, size_t bytes) {
  static off_t place = 0;
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t count = ::pread(channel, at, bytes, place);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) die(exit_setup_failed, "read", "the channel", count < 0 ? errno : EINVAL);
    at += count;
    place += count;
    bytes -= static_cast<size_t>(count);
  }
}

void write_all(int fd, const char* name, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(fd, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) die(exit_setup_failed, "write", name, errno);
    bytes += written;
    count -= static_cast<size_t>(written);
  }
}

StepEntry read_entry(char (&name)[paddock::supervisor::step_name_bytes_max + 1]) {
  StepEntry entry;
  read_channel(&entry, sizeof entry);
  if (entry.name_bytes >= sizeof name) die(exit_setup_failed, "read", "a name", EINVAL);
  read_channel(name, entry.name_bytes);
  name[entry.name_bytes] = '\0';
  return entry;
}

void lay_out_file() {
  char name[paddock::supervisor::step_name_bytes_max + 1];
  const StepEntry entry = read_entry(name);
  const int fd = paddock::step::create_file(name);
  if (fd < 0) die(exit_setup_failed, "create", name, errno);
  static char buffer[64 * 1024];
  for (uint64_t left = entry.content_bytes; left > 0;) {
    const size_t part = left < sizeof buffer ? static_cast<size_t>(left) : sizeof buffer;
    read_channel(buffer, part);
    write_all(fd, name, buffer, part);
    left -= part;
  }
  if (::close(fd) != 0) die(exit_setup_failed, "write", name, errno);
}

char** read_wanted(uint64_t count) {
  auto** names = static_cast<char**>(::calloc(count, sizeof(char*)));
  if (names == nullptr) die(exit_setup_failed, "allocate", "names", ENOMEM);
  for (uint64_t i = 0; i < count; ++i) {
    char name[paddock::supervisor::step_name_bytes_max + 1];
    read_entry(name);
    names[i] = ::strdup(name);
    if (names[i] == nullptr) die(exit_setup_failed, "allocate", "names", ENOMEM);
  }
  return names;
}

[[noreturn]] void become(char** command) {
  ::fcntl(channel, F_SETFD, FD_CLOEXEC);
  ::signal(SIGXFSZ, SIG_DFL);
  ::execvp(command[0], command);
  die(exit_not_executed, "execute", command[0], errno);
}

// Dies with the reason if this host cannot execute `program`. One that it can is ended when it has
// begun. Nothing is said where the profile leaves no room for a second process.
void try_program(char* program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) die(exit_setup_failed, "make a pipe for", program, errno);
  const pid_t child = ::fork();
  if (child < 0 && errno == EAGAIN) {
    ::close(ends[0]);
    ::close(ends[1]);
    return;
  }
  if (child < 0) die(exit_setup_failed, "fork for", program, errno);
  if (child == 0) {
    char* command[] = {program, nullptr};
    ::fcntl(channel, F_SETFD, FD_CLOEXEC);
    ::execvp(program, command);
    const int error = errno;
    const ssize_t told = ::write(ends[1], &error, sizeof error);
    ::_exit(told == sizeof error ? exit_not_executed : exit_setup_failed);
  }
  ::close(ends[1]);
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(ends[0], &error, sizeof error);  // nothing: the program has taken its place
  } while (count < 0 && errno == EINTR);
  ::close(ends[0]);
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (count != 0) die(exit_not_executed, "execute", program, error);
}

// Ends as the child with that wait status did.
[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  ::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
  ::_exit(128 + signal);
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGXFSZ, SIG_IGN);  // a file that must not be so large is told with its name
  StepHeader header;
  read_channel(&header, sizeof header);
  if (header.magic != paddock::supervisor::step_magic)
    die(exit_setup_failed, "read", "the channel", EINVAL);
  if (argc < 2 && header.is_trial == 0) die(exit_setup_failed, "execute", "", EINVAL);
  for (uint64_t i = 0; i < header.file_count; ++i) lay_out_file();
  if (header.is_trial != 0) {
    for (char** program = argv + 1; *program != nullptr; ++program) try_program(*program);
    return 0;
  }
  if (header.wanted_count == 0) become(argv + 1);

  char** names = read_wanted(header.wanted_count);
  // The program is of the same user and could write into the channel of this process. It would get
  // out what it could have put into its files, and this process writes last.
  const pid_t program = ::fork();
  if (program < 0) die(exit_setup_failed, "fork for", argv[1], errno);
  if (program == 0) become(argv + 1);
  // SIGTERM goes to the program too, and what it leaves is still collected.
  ::signal(SIGTERM, SIG_IGN);
  for (int standard = 0; standard <= 2; ++standard) ::close(standard);
  int status = 0;
  while (::waitpid(program, &status, 0) < 0) {
    if (errno != EINTR) ::_exit(exit_setup_failed);
  }
  paddock::step::collect(channel, header, names);
  end_as(status);
}
