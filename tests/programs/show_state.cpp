// show_state: prints what a process has from its parent, as "name=value" lines.

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

void show(const char* name, const std::string& value) {
  std::printf("%s=%s\n", name, value.c_str());
}

void show_descriptors() {
  std::vector<int> numbers;
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return show("fds", "unknown");
  while (const dirent* entry = ::readdir(directory)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && fd != ::dirfd(directory)) numbers.push_back(fd);
  }
  ::closedir(directory);
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  show("fds", text);
}

// The lines of /proc/self/status that matter, as they are.
void show_status() {
  FILE* status = std::fopen("/proc/self/status", "re");
  char line[512];
  while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr) {
    for (const char* key : {"SigBlk", "SigIgn", "SigCgt", "CapInh", "CapPrm", "CapEff", "CapBnd",
                            "CapAmb", "NoNewPrivs", "Uid", "Gid", "Groups"}) {
      const std::size_t length = std::strlen(key);
      if (std::strncmp(line, key, length) != 0 || line[length] != ':') continue;
      std::string value = line + length + 1;
      std::replace(value.begin(), value.end(), '\t', ' ');
      const std::size_t begin = value.find_first_not_of(' ');
      const std::size_t end = value.find_last_not_of(" \n");
      show(key, begin == std::string::npos || end == std::string::npos || end < begin
                    ? ""
                    : value.substr(begin, end - begin + 1));
    }
  }
}

void show_limit(const char* name, __rlimit_resource_t resource) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  show(name, std::to_string(limit.rlim_cur) + "/" + std::to_string(limit.rlim_max));
}

}  // namespace

int main() {
  show_descriptors();
  show_status();
  const mode_t mask = ::umask(0);
  char octal[8];
  std::snprintf(octal, sizeof octal, "%03o", mask);
  show("umask", octal);
  char text[4096] = {};
  show("cwd", ::getcwd(text, sizeof text) == nullptr ? "" : text);
  show("hostname", ::gethostname(text, sizeof text) == 0 ? text : "");
  show("leads_session", std::to_string(::getsid(0) == ::getpid()));
  show("leads_group", std::to_string(::getpgrp() == ::getpid()));
  show("uid", std::to_string(::getuid()));
  show_limit("cpu_seconds", RLIMIT_CPU);
  show_limit("memory_bytes", RLIMIT_AS);
  show_limit("fsize_bytes", RLIMIT_FSIZE);
  show_limit("nproc", RLIMIT_NPROC);
  show_limit("nofile", RLIMIT_NOFILE);
  show_limit("core_size", RLIMIT_CORE);
}
