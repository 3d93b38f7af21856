#pragma once
// Reads the *.toml files of one directory, or one file, if only its owner can have written them.

#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "kernel/policy/load.hpp"

namespace paddock::kernel {

constexpr std::size_t toml_file_bytes_max = 1u << 20;
constexpr std::size_t toml_files_max = 1024;  // in one directory

struct TomlFile {
  std::string path;
  std::string text;
};

// Sorted by name; names that begin with '.' are left alone (editors keep their own files so).
// Symbolic links are followed, and it is the file at their end whose owner and mode count.
std::vector<TomlFile> read_toml_directory(const std::string& directory,
                                          std::vector<Diagnostic>& diagnostics);

// One file, under the same rules for it and for the directory that it is in. Fails with io; the
// message goes on after the path: "cannot be opened: ...".
Result<std::string> read_trusted_file(const std::string& path);

}  // namespace paddock::kernel
