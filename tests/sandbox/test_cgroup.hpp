#pragma once
// A cgroup of one test's own below the host's hierarchy, removed with it.

#include <sys/types.h>

#include <functional>
#include <string>

namespace paddock::tests {

class TestCgroup {
 public:
  TestCgroup();  // empty where there is no cgroup2 that this process may write to
  TestCgroup(const TestCgroup&) = delete;
  TestCgroup& operator=(const TestCgroup&) = delete;
  ~TestCgroup();

  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  std::string make(const std::string& name) const;  // a child; returns its path
  bool has_children() const;

 private:
  std::string path_;
};

// What `body` returns in a process of its own that is in `cgroup` and has `uid`.
std::string in_cgroup_as(const std::string& cgroup, uid_t uid,
                         const std::function<std::string()>& body);

// A process in `cgroup` that only waits; killed and reaped with its guard.
class Inhabitant {
 public:
  explicit Inhabitant(const std::string& cgroup);
  Inhabitant(const Inhabitant&) = delete;
  Inhabitant& operator=(const Inhabitant&) = delete;
  ~Inhabitant();

  pid_t pid() const { return pid_; }
  bool is_alive() const;

 private:
  pid_t pid_ = -1;
};

// As Delegate=yes gives a cgroup to a user.
void give_to(uid_t uid, const std::string& cgroup);

}  // namespace paddock::tests
