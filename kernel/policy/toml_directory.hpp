#pragma once
// Reads the *.toml files of one directory, if only its owner can have written them.

#include <string>
#include <vector>

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

}  // namespace paddock::kernel
