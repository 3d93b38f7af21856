#include "kernel/confine/cgroup_search.hpp"

#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

CgroupCandidate user_scope() {
  return {.directory = "/sys/fs/cgroup/u/run-1.scope", .proc_path = "/u/run-1.scope", .uid = 1000};
}

CgroupCandidate of_root(const std::string& proc_path) {
  return {.directory = "/sys/fs/cgroup" + proc_path, .proc_path = proc_path, .uid = 0};
}

}  // namespace

TEST_CASE("a cgroup that an ordinary user may write is used, and vacated for its controllers") {
  CHECK(choose_base(user_scope()) == BaseChoice::itself_vacated);
}

TEST_CASE(
    "a delegated cgroup with others in it is used as it is, since moving would gain nothing") {
  CgroupCandidate own = user_scope();
  own.has_others = true;
  CHECK(choose_base(own) == BaseChoice::itself);
}

TEST_CASE("a cgroup in which no leaf can be made is not used, whoever asks") {
  CgroupCandidate own = user_scope();
  own.unusable = "is not delegated";
  CHECK(choose_base(own) == BaseChoice::none);
  own.uid = 0;
  own.marked_delegated = true;
  CHECK(choose_base(own) == BaseChoice::none);
}

TEST_CASE("root may write every cgroup, and only a mark makes one its own") {
  CgroupCandidate service = of_root("/system.slice/paddockd.service");
  CHECK(choose_base(service) == BaseChoice::child);
  service.marked_delegated = true;
  CHECK(choose_base(service) == BaseChoice::itself_vacated);
  service.has_others = true;
  CHECK(choose_base(service) == BaseChoice::itself);
}

TEST_CASE("the root of a container is delegated, the root of the host never is") {
  CgroupCandidate root = of_root("/");
  CHECK(choose_base(root) == BaseChoice::itself_vacated);
  root.is_host_root = true;
  CHECK(choose_base(root) == BaseChoice::child);
  root.marked_delegated = true;
  CHECK(choose_base(root) == BaseChoice::child);
  root.uid = 1000;
  CHECK(choose_base(root) == BaseChoice::none);
}
