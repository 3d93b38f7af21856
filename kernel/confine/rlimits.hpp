#pragma once
// One row per rlimit that a plan can set: its policy name, its number, and the name under which
// the kernel shows it in /proc/PID/limits.

#include <sys/resource.h>

#include <array>

namespace paddock::kernel {

struct RlimitRow {
  const char* name;       // in TOML, JSON and `paddock policy`
  int resource;           // setrlimit(2)
  const char* proc_name;  // in /proc/PID/limits
};

constexpr std::array<RlimitRow, 8> rlimit_rows = {{
    {"cpu_seconds", RLIMIT_CPU, "Max cpu time"},
    {"memory_bytes", RLIMIT_AS, "Max address space"},
    {"fsize_bytes", RLIMIT_FSIZE, "Max file size"},
    {"nproc", RLIMIT_NPROC, "Max processes"},
    {"nofile", RLIMIT_NOFILE, "Max open files"},
    {"core_size", RLIMIT_CORE, "Max core file size"},
    {"nice", RLIMIT_NICE, "Max nice priority"},
    {"rtprio", RLIMIT_RTPRIO, "Max realtime priority"},
}};

}  // namespace paddock::kernel
