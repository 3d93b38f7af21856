#pragma once
// Reading and writing the files of cgroup2 directories.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {

// 0, or the errno.
int write_cgroup_file(const std::string& path, const std::string& value);

// The words of a file; none if it cannot be read.
std::vector<std::string> cgroup_words(const std::string& path);
std::vector<std::string> cgroup_words(const Fd& directory, const std::string& name);
bool has_word(const std::vector<std::string>& words, const std::string& word);

// The number after `key` among the words of a "key value" file such as cpu.stat; 0 if it is not
// there.
std::uint64_t counter_in(const std::vector<std::string>& words, std::string_view key);

bool is_on_cgroup2(const std::string& path);

// What /proc says of this process; empty if it cannot be read.
std::string own_mountinfo();
std::string own_cgroup2_path();

// True if `directory` is still what `path` leads to: it may have been removed and made anew.
bool is_at(const Fd& directory, const std::string& path);

// Removes the cgroup and those below it: an agent with the supervisor's uid can make some in its
// leaf. False if one of them is still populated.
bool remove_cgroup_tree(const std::string& path);

}  // namespace paddock::kernel
