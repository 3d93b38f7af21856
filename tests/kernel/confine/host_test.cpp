#include "kernel/confine/host.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "support/catch.hpp"

using namespace paddock::kernel;

TEST_CASE("the host is seen alike twice") {
  CHECK(detect_host() == detect_host());
}

TEST_CASE("what was found is absolute, and what was not found has a reason") {
  const HostFacts host = detect_host();
  if (host.bubblewrap.empty()) {
    CHECK_FALSE(host.bubblewrap_problem.empty());
  } else {
    CHECK(host.bubblewrap.front() == '/');
    CHECK(host.bubblewrap_problem.empty());
    CHECK(detect_isolation_tools().bubblewrap == host.bubblewrap);
  }
  CHECK(host.user_namespaces == host.user_namespaces_problem.empty());
  CHECK(host.uid == ::geteuid());
}

TEST_CASE("a tool is never looked up in PATH, where anybody could have planted one") {
  const std::string before = std::getenv("PATH");
  const IsolationTools tools = detect_isolation_tools();
  ::setenv("PATH", "/nonexistent", 1);
  CHECK(detect_isolation_tools().bubblewrap == tools.bubblewrap);
  ::setenv("PATH", before.c_str(), 1);
}

TEST_CASE("a program that ignores SIGCHLD sees the same host") {
  // Goal: the status of a child is lost then, and must be mistaken neither for yes nor for no.
  const HostFacts usual = detect_host();
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const HostFacts ignoring = detect_host();
  std::signal(SIGCHLD, before);
  CHECK(ignoring == usual);
}
