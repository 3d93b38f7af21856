#pragma once
// What several attempts do. A descriptor that an attempt opens is never closed: the process ends.

#include <fcntl.h>

#include <cstdint>
#include <functional>
#include <string>

#include "escapes/attempts/attempt.hpp"

namespace paddock::escapes {

constexpr std::size_t mebibyte = 1u << 20;

Outcome opens(const std::string& path, int flags);
// An unnamed file in `directory`: proves that one may write there and leaves nothing.
Outcome writes_below(const std::string& directory);
// Opens and reads; a file that reads as empty, as a masked one does, is refused ENODATA.
Outcome reads(const std::string& path);
std::string content_of(const std::string& path);  // at most 4 MiB; empty if it cannot be read
Outcome finds(const std::string& path, const std::string& text);  // ENODATA if it is not in it
bool writes(const std::string& path, const std::string& text);

// Allocates `mib` MiB in unnamed files in `directory`, 16 MiB each.
Outcome fills(const std::string& directory, std::size_t mib);

// The file of each process in /proc, this one's excepted: "environ". Succeeds at the first that has
// `text` in it.
Outcome finds_in_processes(const std::string& file, const std::string& text);
std::string parent_file(const std::string& file);  // "/proc/PPID/file"

// Runs `body` in a child, which then waits to be killed. False if there cannot be one.
pid_t forks(const std::function<void()>& body);
[[noreturn]] void wait_for_ever();

// Touches each page of `mib` MiB of anonymous memory.
bool takes_memory(std::size_t mib);

// Whether /proc shows a process `pid` that has not ended.
bool is_alive(pid_t pid);
// Waits until `condition` holds, at most 300 ms.
bool soon(const std::function<bool()>& condition);

}  // namespace paddock::escapes
