#include "supervisor/telemetry/metrics.hpp"

#include <algorithm>
#include <sstream>

#include "supervisor/telemetry/loop_lag.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using std::chrono::milliseconds;

namespace {

// The lines that are no comments.
std::vector<std::string> samples(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.starts_with("#")) lines.push_back(line);
  return lines;
}

bool has_line(const std::string& text, const std::string& line) {
  const auto all = samples(text);
  return std::find(all.begin(), all.end(), line) != all.end();
}

}  // namespace

TEST_CASE("each metric that the RFC names is there, with a help text, before anything happened") {
  Metrics metrics("1.2");
  MetricsNow now;
  now.agents = {{"running", 2}};
  metrics.run_finished("STRICT", "exited", "default");
  metrics.run_refused("too_busy");
  metrics.verdict_given("pass", "passed");
  metrics.warm_start("python", true);
  metrics.zygote_ended("python", "idle");
  now.zygotes = {{"python", {{"ready", 1}}}};
  const std::string text = metrics.text(now);
  for (const char* name : {"paddock_runs_total",
                           "paddock_runs_alive",
                           "paddock_runs_queued",
                           "paddock_runs_refused_total",
                           "paddock_run_setup_seconds",
                           "paddock_run_kill_seconds",
                           "paddock_run_queue_seconds",
                           "paddock_ledger_commit_seconds",
                           "paddock_ledger_unwritten",
                           "paddock_ledger_writing",
                           "paddock_agents",
                           "paddock_agent_restarts_total",
                           "paddock_budget_breaches_total",
                           "paddock_verdicts_total",
                           "paddock_verify_items_alive",
                           "paddock_verify_items_queued",
                           "paddock_config_stale",
                           "paddock_draining",
                           "paddock_profiles_refused",
                           "paddock_loop_lag_seconds",
                           "paddock_build_info",
                           "paddock_warm_zygotes",
                           "paddock_warm_starts_total",
                           "paddock_warm_zygote_ends_total"}) {
    INFO(name);
    CHECK(text.find("# HELP " + std::string(name) + " ") != std::string::npos);
    CHECK(text.find("# TYPE " + std::string(name) + " ") != std::string::npos);
  }
  CHECK(has_line(text, "paddock_build_info{version=\"1.2\"} 1"));
}

TEST_CASE("runs are counted by profile, cause and class, and times go into their buckets") {
  Metrics metrics("1");
  metrics.run_finished("STRICT", "exited", "default");
  metrics.run_finished("STRICT", "exited", "default");
  metrics.run_finished("OFF", "wall_clock", "internal");
  metrics.run_refused("too_busy");
  metrics.run_killed(milliseconds(700));
  metrics.run_set_up(milliseconds(3));
  metrics.run_left_queue(milliseconds(7));
  metrics.ledger_committed(milliseconds(2));
  metrics.agent_restarted();
  metrics.budget_breached();
  metrics.verdict_given("fail", "wrong_answer");
  const std::string text = metrics.text({});
  INFO(text);
  CHECK(has_line(
      text, "paddock_runs_total{cause=\"exited\",profile=\"STRICT\",tenant_class=\"default\"} 2"));
  CHECK(has_line(
      text,
      "paddock_runs_total{cause=\"wall_clock\",profile=\"OFF\",tenant_class=\"internal\"} 1"));
  CHECK(has_line(text, "paddock_runs_refused_total{reason=\"too_busy\"} 1"));
  CHECK(has_line(text, "paddock_run_kill_seconds_bucket{le=\"0.5\"} 0"));
  CHECK(has_line(text, "paddock_run_kill_seconds_bucket{le=\"1\"} 1"));
  CHECK(has_line(text, "paddock_run_setup_seconds_count 1"));
  CHECK(has_line(text, "paddock_run_queue_seconds_count 1"));
  CHECK(has_line(text, "paddock_ledger_commit_seconds_count 1"));
  CHECK(has_line(text, "paddock_agent_restarts_total 1"));
  CHECK(has_line(text, "paddock_budget_breaches_total 1"));
  CHECK(has_line(text, "paddock_verdicts_total{cause=\"wrong_answer\",verdict=\"fail\"} 1"));
}

TEST_CASE("gauges tell the moment in which they are asked for") {
  Metrics metrics("1");
  MetricsNow now;
  now.runs_alive = 3;
  now.config_stale = true;
  now.draining = true;
  now.ledger_writing = false;
  now.ledger_unwritten = 5;
  now.profiles_refused = 2;
  now.agents = {{"running", 4}, {"backoff", 1}};
  now.loop_lag = milliseconds(500);
  std::string text = metrics.text(now);
  for (const char* line :
       {"paddock_runs_alive 3", "paddock_config_stale 1", "paddock_draining 1",
        "paddock_ledger_writing 0", "paddock_ledger_unwritten 5", "paddock_profiles_refused 2",
        "paddock_agents{state=\"running\"} 4", "paddock_loop_lag_seconds 0.5"}) {
    INFO(line);
    CHECK(has_line(text, line));
  }
  now.agents = {{"running", 1}};
  now.config_stale = false;
  text = metrics.text(now);
  CHECK(has_line(text, "paddock_agents{state=\"running\"} 1"));
  CHECK(has_line(text, "paddock_agents{state=\"backoff\"} 0"));
  CHECK(has_line(text, "paddock_config_stale 0"));
}

TEST_CASE("the number of series does not grow with runs") {
  Metrics metrics("1");
  const auto count_after = [&](int runs) {
    for (int i = 0; i < runs; ++i) {
      metrics.run_finished(i % 2 == 0 ? "STRICT" : "OFF", "exited", "default");
      metrics.run_refused("too_busy");
      metrics.run_set_up(milliseconds(i));
    }
    return samples(metrics.text({})).size();
  };
  const std::size_t after_few = count_after(4);
  CHECK(count_after(2000) == after_few);
}

TEST_CASE("a label that a profile's name could break stays one label") {
  Metrics metrics("1\"\n# evil 1");
  const std::string text = metrics.text({});
  CHECK(text.find("\n# evil") == std::string::npos);
}

TEST_CASE("a recent maximum is remembered for a window and forgotten after two") {
  using Clock = RecentMaximum::Clock;
  RecentMaximum maximum(milliseconds(100));
  const Clock::time_point begin = Clock::now();
  const auto at = [&](int ms) { return begin + milliseconds(ms); };
  maximum.add(milliseconds(7), at(0));
  maximum.add(milliseconds(3), at(50));
  CHECK(maximum.at(at(60)) == milliseconds(7));
  maximum.add(milliseconds(2), at(110));
  CHECK(maximum.at(at(120)) == milliseconds(7));
  maximum.add(milliseconds(1), at(215));
  CHECK(maximum.at(at(220)) == milliseconds(2));
  CHECK(maximum.at(at(600)) == milliseconds(0));
}

TEST_CASE("a loop that is kept busy is seen to be late") {
  uv_loop_t loop;
  REQUIRE(uv_loop_init(&loop) == 0);
  {
    LoopLag lag(&loop);
    lag.start();
    uv_run(&loop, UV_RUN_ONCE);
    CHECK(lag.recent() < milliseconds(200));
    uv_sleep(550);  // what a handler that computes for too long does
    CHECK(lag.recent() > milliseconds(250));
    uv_run(&loop, UV_RUN_ONCE);
    CHECK(lag.recent() > milliseconds(250));
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  REQUIRE(uv_loop_close(&loop) == 0);
}

TEST_CASE("warm starts and zygotes are counted by runtime") {
  Metrics metrics("1");
  metrics.warm_start("python", true);
  metrics.warm_start("python", true);
  metrics.warm_start("python", false);
  metrics.zygote_ended("judge", "idle");
  MetricsNow now;
  now.zygotes = {{"python", {{"ready", 3}, {"busy", 0}}}};
  std::string text = metrics.text(now);
  for (const char* line : {"paddock_warm_starts_total{runtime=\"python\",start=\"warm\"} 2",
                           "paddock_warm_starts_total{runtime=\"python\",start=\"cold\"} 1",
                           "paddock_warm_zygote_ends_total{reason=\"idle\",runtime=\"judge\"} 1",
                           "paddock_warm_zygotes{runtime=\"python\",state=\"ready\"} 3"}) {
    INFO(line);
    CHECK(has_line(text, line));
  }
  now.zygotes = {{"python", {{"ready", 0}, {"busy", 1}}}};
  text = metrics.text(now);
  CHECK(has_line(text, "paddock_warm_zygotes{runtime=\"python\",state=\"ready\"} 0"));
  CHECK(has_line(text, "paddock_warm_zygotes{runtime=\"python\",state=\"busy\"} 1"));
}
