#include "supervisor/recovery/launchers.hpp"

#include <unistd.h>

#include <algorithm>

#include "supervisor/warm/zygote_name.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

std::string line(std::initializer_list<std::string> words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

const std::string launched_run = "r-0123456789abcdef";

}  // namespace

TEST_CASE("a launcher is known by its command line, and names its run") {
  CHECK(run_of_launcher(line({"paddock-launch", "guard", launched_run})) == launched_run);
  CHECK(run_of_launcher(line({"paddock-launch", "init", launched_run})) == launched_run);
  CHECK(run_of_launcher(line({"/proc/self/fd/6", "init", launched_run})) == launched_run);
  const std::string zygote = make_zygote_name(zygote_tag("ledger"));
  CHECK(run_of_launcher(line({"paddock-launch", "guard", zygote})) == zygote);
}

TEST_CASE("a command line that is only similar is no launcher's") {
  for (const std::string& other :
       {std::string(), line({"paddock-launch"}), line({"paddock-launch", "init"}),
        line({"paddock-launch", "init", "r-0123"}),
        line({"paddock-launch", "init", launched_run, "more"}),
        line({"paddock-launch", "other", launched_run}), line({"sh", "init", launched_run}),
        line({"grep", "paddock-launch", "init", launched_run}),
        line({"paddock-launch", "init", launched_run + "0"}),
        line({"paddock-launch", "init", "r-0123456789ABCDEF"})}) {
    INFO(other);
    CHECK_FALSE(run_of_launcher(other));
  }
}

TEST_CASE("the real uid is read from a status, and only from there") {
  CHECK(real_uid_in("Name:\tx\nUid:\t60600\t1\t2\t3\nGid:\t4\n") == uid_t{60'600});
  CHECK_FALSE(real_uid_in("Name:\tUid:\n"));
  CHECK_FALSE(real_uid_in(""));
  CHECK(real_uid_of(::getpid()) == ::getuid());
}

TEST_CASE("all processes are listed, this one among them") {
  const auto pids = all_processes();
  CHECK(std::find(pids.begin(), pids.end(), ::getpid()) != pids.end());
}
