// Goal: what an agent can have a hand in of /proc and cgroup files (names of mounts and cgroups) is
// read as the kernel means it. Method: arbitrary text is read without harm, and what was read is
// written as the kernel would, and must be read as the same again.

#include <algorithm>

#include <fmt/format.h>

#include "fuzz/property.hpp"
#include "kernel/confine/cgroup_paths.hpp"
#include "kernel/confine/mounts.hpp"

using namespace paddock;
using namespace paddock::kernel;
using fuzz::must_hold;

namespace {

// As mountinfo writes a path.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\\') {
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

void check_mounts(std::string_view text) {
  const std::vector<Mount> mounts = parse_mountinfo(text);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  must_hold(mounts.size() == lines + (text.empty() || text.ends_with('\n') ? 0 : 1),
            "each line is a mount");
  std::string written;
  for (const Mount& mount : mounts) {
    const std::string size =
        mount.size_bytes ? fmt::format("rw,size={}k", *mount.size_bytes / 1024) : "rw";
    written += fmt::format("31 23 0:28 / {} {} shared:1 - {} source {}\n", escaped(mount.path),
                           mount.writable ? "rw,nosuid" : "ro,nosuid",
                           mount.size_bytes ? "tmpfs" : "ext4", size);
  }
  must_hold(parse_mountinfo(written) == mounts, "written mounts are read as themselves", written);
  const std::vector<Mount> none;
  must_hold(mount_differences(none, mounts, none).empty(), "nothing planned, nothing to differ");
  if (!mounts.empty()) mount_differences(mounts, none, mounts);
}

void check_cgroups(const std::string& text) {
  const std::string path = cgroup2_path(text);
  must_hold(path.empty() || path.front() == '/', "a cgroup's path is absolute");
  must_hold(path.find('\n') == std::string::npos, "a cgroup's path is one line");
  if (path.empty()) return;
  for (const CgroupMount& mount : cgroup2_mounts(text)) {
    const auto directory = directory_of(mount, path);
    if (!directory) continue;
    must_hold(directory->starts_with(mount.where), "a directory is below its mount");
    must_hold(common_ancestor(path, path) == path, "a cgroup is its own ancestor");
    must_hold(cgroup_parent(path).size() <= path.size(), "a parent is above");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  check_mounts(text);
  check_cgroups(std::string(text));
  return 0;
}
