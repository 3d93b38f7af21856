#pragma once
// What may be bound into a sandbox. A bind shows a host path at the same path inside, so the rules
// for what is read on the host and for where it is mounted are rules about one path.

#include <string>
#include <string_view>
#include <vector>

namespace paddock::kernel {

// Read-only plus writable ones, from the profile and the request together.
constexpr std::size_t policy_binds_max = 128;

enum class BindAccess { read_only, writable };

// Empty if the path may be bound by what it says; otherwise what is wrong: "is inside '/proc',
// which every sandbox has its own of". Pure.
std::string bind_path_mistake(std::string_view path, BindAccess access);

// The same for what is there on this host: it exists, is a directory or a regular file, and no
// component of the path is a symbolic link.
std::string bind_source_mistake(const std::string& path);

// For a prefix in [requests], below which binds are granted one by one. It may be "/" or hold
// forbidden paths, because each bind below it is still checked; it may not be useless.
std::string grant_mistake(std::string_view prefix);

}  // namespace paddock::kernel
