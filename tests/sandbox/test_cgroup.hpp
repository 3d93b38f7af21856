#pragma once
// A cgroup of one test's own, removed with it, and runs in leaves below it.

#include <sys/types.h>

#include <functional>
#include <string>

#include "sandbox/sandbox_fixture.hpp"

namespace paddock::tests {

// At the top of the cgroup2 file system where this process may write there, else below its own
// cgroup if that is delegated to it. Empty where there is neither.
class TestCgroup {
 public:
  TestCgroup();
  TestCgroup(const TestCgroup&) = delete;
  TestCgroup& operator=(const TestCgroup&) = delete;
  ~TestCgroup();

  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  std::string make(const std::string& name) const;  // a child; returns its path
  bool has_controllers() const;                     // memory, pids and cpu
  bool has_children() const;

 private:
  std::string path_;
};

struct TimedResult {
  kernel::SandboxResult result;
  kernel::Clock::duration took{};
};

// A run in a leaf below `base`, from start to end. The test fails if it cannot be started.
TimedResult run_in(const TestCgroup& base, const kernel::SandboxPolicy& policy, const Argv& argv);

// Of a result's degraded controls, those that a cgroup would have given.
std::vector<std::string> missing_of_cgroup(const kernel::SandboxResult& result);

// That it ran under SEALED, with every control.
void check_has_sealed(const kernel::SandboxResult& result);

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
