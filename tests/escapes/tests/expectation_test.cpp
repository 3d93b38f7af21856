#include "escapes/runner/expectation.hpp"

#include "support/catch.hpp"

using namespace paddock::escapes;
using Kind = Observation::Kind;

namespace {

const Observation success{Kind::succeeded, "", ""};

Observation refused_with(const char* word) {
  return {Kind::stopped, word, ""};
}

}  // namespace

TEST_CASE("an attempt is stopped only by a word that its profile promises") {
  const Expectation expected = stopped({"EPERM", "ENOSYS"});
  CHECK(judge(expected, refused_with("EPERM")) == Judgement{Verdict::stopped, "EPERM", ""});
  CHECK(judge(expected, refused_with("ENOSYS")).verdict == Verdict::stopped);
  const Judgement other = judge(expected, refused_with("EINVAL"));
  CHECK(other.verdict == Verdict::failed);
  CHECK(other.reason == "it ended with EINVAL; expected EPERM or ENOSYS");
}

TEST_CASE("an attempt that succeeds where it should be stopped has failed the profile") {
  const Judgement judgement = judge(stopped({"EPERM"}), {Kind::succeeded, "", "fd 7"});
  CHECK(judgement.verdict == Verdict::failed);
  CHECK(judgement.reason == "it succeeded (fd 7); expected EPERM");
}

TEST_CASE("an attempt without a report has failed, whatever was expected") {
  CHECK(judge(stopped({"EPERM"}), {}).verdict == Verdict::failed);
  CHECK(judge(open("a reason"), {}).verdict == Verdict::failed);
}

TEST_CASE("what a profile leaves open says why, and may be stopped all the same") {
  CHECK(judge(open("a reason"), success) == Judgement{Verdict::open, "", "a reason"});
  CHECK(judge(open("a reason"), refused_with("EACCES")).verdict == Verdict::stopped);
}

TEST_CASE("a control that the host lacks makes an attempt unsupported, never stopped") {
  const Expectation expected = stopped({"EPERM"}, Need::signal_scope);
  CHECK(judge(expected, success, "no such control") ==
        Judgement{Verdict::unsupported, "", "no such control"});
  CHECK(judge(expected, success).verdict == Verdict::failed);
  CHECK(judge(expected, refused_with("EPERM"), "no such control").verdict == Verdict::stopped);
  CHECK(judge(expected, refused_with("EINVAL"), "no such control").verdict == Verdict::failed);
  CHECK(judge(stopped({"EPERM"}), {Kind::unsupported, "", "no call"}).verdict ==
        Verdict::unsupported);
}

TEST_CASE("unconfined an attempt must succeed") {
  CHECK(judge_control(success, false, {}).verdict == Verdict::open);
  CHECK(judge_control(refused_with("EPERM"), false, {}).verdict == Verdict::failed);
  CHECK(judge_control(refused_with("ENOENT"), true, {}).verdict == Verdict::failed);
  CHECK(judge_control({}, true, {"ENOENT"}).verdict == Verdict::failed);
}

TEST_CASE("unconfined a missing call, file or right is unsupported") {
  CHECK(judge_control(refused_with("ENOSYS"), false, {}).verdict == Verdict::unsupported);
  CHECK(judge_control(refused_with("ENOENT"), false, {"ENOENT"}).verdict == Verdict::unsupported);
  CHECK(judge_control(refused_with("EPERM"), true, {}).verdict == Verdict::unsupported);
}
