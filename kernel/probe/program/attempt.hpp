#pragma once
// What paddock-probe tries, one function per attempt. Each tries one thing, undoes what it did, and
// says how it went. The C library alone, as in paddock-launch.

#include <stddef.h>

namespace paddock::probe {

// No process of a probe lasts longer, should everything that ends it fail.
constexpr unsigned alarm_seconds = 20;

struct Attempted {
  enum Kind { done, refused, cannot } kind = done;
  int error = 0;              // errno: why it was refused
  const char* why = nullptr;  // why it cannot be tried at all
};

constexpr Attempted it_worked{};
Attempted was_refused();  // with errno as it stands
constexpr Attempted cannot_try(const char* why) {
  return {Attempted::cannot, 0, why};
}
// Of a system call's result: negative is refused.
Attempted result_of(long returned);

// `words` are those of one attempt: its name, then its arguments, as many as its row says.
using Attempt = Attempted (*)(char** words);

struct Named {
  const char* name;
  size_t arguments;
  Attempt attempt;
};

unsigned long long number(const char* text);

// By file.
Attempted connect_tcp(char** words);       // PORT: of the host's loopback address; network.cpp
Attempted connect_abstract(char** words);  // NAME: of a Unix socket
Attempted make_socket(char** words);       // FAMILY TYPE PROTOCOL
Attempted open_keyring(char** words);      // calls.cpp
Attempted make_user_namespace(char** words);
Attempted set_up_io_uring(char** words);
Attempted call_int80(char** words);
Attempted call_x32(char** words);
Attempted read_file(char** words);              // PATH; files.cpp
Attempted make_file(char** words);              // DIRECTORY
Attempted make_nameless_file(char** words);     // DIRECTORY: nobody ever sees it
Attempted fill_directory(char** words);         // DIRECTORY BYTES, with nameless files
Attempted reserve_memory(char** words);         // BYTES, none of them touched; limits.cpp
Attempted touch_memory(char** words);           // BYTES
Attempted fork_often(char** words);             // COUNT
Attempted open_often(char** words);             // COUNT
Attempted write_at(char** words);               // OFFSET, in a file in memory
Attempted wait_long(char** words);              // MILLISECONDS
Attempted read_init_environment(char** words);  // outside.cpp
Attempted trace_init(char** words);
Attempted find_process(char** words);    // MARK, in two halves: a process has them as one word
Attempted signal_process(char** words);  // PID, and its MARK
Attempted leave_process(char** words);   // MARK, in two halves: of a process that stays

}  // namespace paddock::probe
