#pragma once
// A directory of one test's own, removed with it. It lies in /var/tmp, because nothing in /tmp may
// be bound into a sandbox.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "support/catch.hpp"

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = "/var/tmp/paddock-test-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

  std::string directory(const std::string& name) const {
    std::filesystem::create_directories(path_ + "/" + name);
    set_mode(path_ + "/" + name, 0755);
    return path_ + "/" + name;
  }

  // With a mode that does not depend on the umask.
  std::string file(const std::string& name, std::string_view text) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file, std::ios::binary) << text;
    set_mode(file, 0644);
    return file;
  }

  static void set_mode(const std::string& path, unsigned mode) {
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
  }

 private:
  std::string path_;
};
