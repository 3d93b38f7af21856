#pragma once
// How a program that attempts something says what came of it: "ok", or the name of the errno.

#include <cerrno>
#include <cstdio>
#include <cstring>

inline int answer(bool succeeded) {
  const char* error = ::strerrorname_np(errno);
  std::puts(succeeded ? "ok" : error);
  return succeeded ? 0 : 1;
}
