#include "supervisor/cli/top_text.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor::cli;

namespace {

constexpr std::time_t now = 1'767'225'600;  // 2026-01-01T00:00:00Z

TopAnswers answers() {
  return {.health = R"({"status": "ok", "config_stale": false, "profiles_refused": 0,
                        "runs_alive": 2, "runs_queued": 1})",
          .runs = R"({"runs": [
    {"id": "r-0000000000000002", "state": "running", "profile": "STRICT", "agent": "coder",
     "argv": ["python3", "a b.py"], "created_at": "2025-12-31T23:58:00.000Z",
     "usage": {"cpu_us": 1500000, "memory_bytes": 52428800, "written_bytes": null, "complete": true}},
    {"id": "r-0000000000000001", "state": "running", "profile": "OFF", "agent": null,
     "argv": ["make\u001b[2J"], "created_at": "2025-12-31T23:59:59.000Z",
     "usage": {"cpu_us": 250, "memory_bytes": 2048, "written_bytes": 1, "complete": false}}]})",
          .agents = R"({"agents": [{"name": "idle"}, {"name": "coder", "status":
     {"state": "running", "run": "r-0000000000000002", "restarts": 3}}]})",
          .budgets = {R"({"agent": "coder", "dimensions": {
              "cpu_seconds": {"limit": 100, "used": 10}, "files": {"limit": null, "used": 9},
              "tokens": {"limit": 1000, "used": 930}}})"}};
}

}  // namespace

TEST_CASE("top shows how the daemon is, its agents, and what each run uses") {
  CHECK(top_text(answers(), {.columns = 200, .lines = 0}, now).value() ==
        R"(paddock: ok, 2 alive, 1 queued

AGENT  STATE    RUN                 RESTARTS  BUDGET
coder  running  r-0000000000000002  3         tokens 93%

RUN                 PROFILE  AGENT  AGE  CPU     MEMORY  COMMAND
r-0000000000000002  STRICT   coder  2m   1.50s   50 MiB  python3 'a b.py'
r-0000000000000001  OFF      -      1s   >0.00s  >2 KiB  'make\x1b[2J'
)");
}

TEST_CASE("top says that the configuration is stale and that profiles are refused") {
  TopAnswers stale = answers();
  stale.health = R"({"status": "draining", "config_stale": true, "profiles_refused": 1,
                     "runs_alive": 0, "runs_queued": 0})";
  const std::string text = top_text(stale, {.columns = 200, .lines = 0}, now).value();
  CHECK(
      text.starts_with("paddock: draining, 0 alive, 0 queued, 1 profile refused (paddock doctor)\n"
                       "CONFIG STALE"));
}

TEST_CASE("top says that the ledger cannot be written, and why") {
  TopAnswers full = answers();
  full.health = R"({"status": "ok", "ledger": "ledger 'x\u001b': the disk is full",
                    "config_stale": false, "profiles_refused": 0, "runs_alive": 0,
                    "runs_queued": 0})";
  CHECK(top_text(full, {.columns = 200, .lines = 0}, now)
            .value()
            .starts_with("paddock: ok, 0 alive, 0 queued\n"
                         "LEDGER NOT WRITTEN: ledger 'x\\x1b': the disk is full\n"));
  full.health = R"({"status": "ok", "ledger": "writing", "config_stale": false,
                    "profiles_refused": 0, "runs_alive": 0, "runs_queued": 0})";
  CHECK(top_text(full, {.columns = 200, .lines = 0}, now).value().find("LEDGER") ==
        std::string::npos);
}

TEST_CASE("top fits into a terminal, by characters and not by bytes") {
  TopAnswers narrow = answers();
  narrow.runs = R"({"runs": [{"id": "r-0000000000000001", "state": "running", "profile": "OFF",
    "agent": null, "argv": ["größe-größe-größe-größe"], "created_at": "2025-12-31T23:59:59.000Z"}]})";
  narrow.agents = R"({"agents": []})";
  const std::string text = top_text(narrow, {.columns = 62, .lines = 4}, now).value();
  std::size_t lines = 0;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    ++lines;
    std::size_t characters = 0;
    for (const char c : text.substr(begin, end - begin))
      characters += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
    CHECK(characters <= 62);
  }
  CHECK(lines == 4);
  CHECK(text.find("r-0000000000000001  OFF") != std::string::npos);
  CHECK_FALSE(text.ends_with("\xc3\n"));
}

TEST_CASE("an answer of another version is an error, not a crash") {
  TopAnswers strange = answers();
  strange.runs = "[]";
  CHECK_FALSE(top_text(strange, {}, now));
  strange = answers();
  strange.health = "{}";
  CHECK_FALSE(top_text(strange, {}, now));
}

TEST_CASE("top has a line on zygotes if the daemon tells of them") {
  TopAnswers all = answers();
  all.health.insert(all.health.rfind('}'), R"(, "warm": {"ready": 3, "busy": 1, "starting": 0})");
  const std::string text = top_text(all, {.columns = 200, .lines = 0}, now).value();
  CHECK(text.find("\nwarm: 3 ready, 1 busy, 0 starting\n") != std::string::npos);
}
