// The budgets of all agents on a real loop, with a recorder of the test's.

#include "supervisor/agents/budget_book.hpp"

#include <algorithm>

#include "supervisor/runs/table_fixture.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace std::chrono_literals;
using kernel::ErrorCode;
using kernel::Result;

namespace {

using Names = std::vector<std::string>;

struct BookFixture : tests::TableFixture {
  BookFixture() { open(); }
  ~BookFixture() { book.reset(); }

  void open() {
    book.reset();
    book = std::make_unique<BudgetBook>(BudgetContext{
        .loop = loop->get(),
        .runs = *table,
        .recorder = recorder,
        .on_spent = [this](const std::string& agent) { spent.push_back(agent); },
        .on_granted = [this](const std::string& agent) { granted.push_back(agent); }});
  }
  static kernel::AgentTemplate agent(const std::map<std::string, std::uint64_t>& limits) {
    kernel::AgentTemplate made;
    made.name = "a";
    made.tenant = "research";
    made.budget = limits;
    return made;
  }
  void limit(const std::map<std::string, std::uint64_t>& limits) {
    book->set_limits({{"a", agent(limits)}});
    run_for(20ms);
    recorder.committed.clear();
  }
  const BudgetState& state(const std::string& dimension) const {
    return book->find("a")->dimensions().at(dimension);
  }
  std::int64_t recorded(const std::string& dimension) const {
    for (const BudgetRow& row : recorder.last().budgets)
      if (row.dimension == dimension) return row.used;
    return -1;
  }
  // How a run of these numbers ends.
  static RunRecord ended(const RunId& id, std::uint64_t cpu_us, std::uint64_t written_bytes,
                         double wall_s) {
    RunRecord run;
    run.id = id;
    run.result = kernel::SandboxResult{};
    run.result->cpu_user_us = cpu_us;
    run.result->written_bytes = written_bytes;
    run.result->duration_s = wall_s;
    return run;
  }

  Names spent;
  Names granted;
  std::unique_ptr<BudgetBook> book;
};

}  // namespace

TEST_CASE_METHOD(BookFixture, "what an agent charges within a second is one transition") {
  limit({{"tokens", 1000}});
  for (int i = 0; i < 100; ++i) REQUIRE(book->charge("a", {{"tokens", 1}, {"reviews", 2}}));
  run_for(300ms);
  CHECK(recorder.committed.empty());
  run_until([&] { return !recorder.committed.empty(); });
  CHECK(recorder.kinds() == Names{"budget.charged"});
  CHECK(recorder.last().event.subject == "a");
  CHECK(recorder.last().event.tenant == "research");
  CHECK(recorded("tokens") == 100);
  CHECK(recorded("reviews") == 200);
  CHECK(spent.empty());
}

TEST_CASE_METHOD(BookFixture, "a threshold is told at once, but never from within the charge") {
  limit({{"tokens", 10}});
  REQUIRE(book->charge("a", {{"tokens", 8}}));
  CHECK(recorder.waiting() == 0);
  run_for(50ms);
  CHECK(recorder.kinds() == Names{"budget.warned"});
  REQUIRE(book->charge("a", {{"tokens", 5}}));
  CHECK(spent.empty());
  run_for(50ms);
  CHECK(recorder.kinds() == Names{"budget.warned", "budget.breached"});
  CHECK(recorded("tokens") == 13);
  CHECK(spent == Names{"a"});
  REQUIRE(book->charge("a", {{"tokens", 5}}));
  run_for(50ms);
  CHECK(spent == Names{"a"});
}

TEST_CASE_METHOD(BookFixture, "a charge that is refused changes and records nothing") {
  limit({});
  for (std::size_t i = 0; i < budget_dimensions_max; ++i)
    REQUIRE(book->charge("a", {{"d" + std::to_string(i), 1}}));
  run_until([&] { return !recorder.committed.empty(); });
  recorder.committed.clear();
  CHECK_FALSE(book->charge("a", {{"d0", 1}, {"one_more", 1}}));
  run_for(1200ms);
  CHECK(recorder.committed.empty());
  CHECK(state("d0").used == 1);
}

TEST_CASE_METHOD(BookFixture,
                 "a grant is recorded before it is answered, and lets the agent go on") {
  limit({{"tokens", 10}, {"reviews", 1}});
  REQUIRE(book->charge("a", {{"tokens", 12}, {"reviews", 1}}));
  run_until([&] { return spent.size() == 1; });
  recorder.committed.clear();
  const kernel::AgentTemplate agent_now = agent({{"tokens", 10}, {"reviews", 1}});

  recorder.hold();
  std::optional<bool> answered;
  const auto answer = [&](const Result<void>& result) { answered = result.has_value(); };
  book->grant(agent_now, "reviews", 5, answer);
  run_for(50ms);
  CHECK_FALSE(answered);
  recorder.release();
  run_until([&] { return answered.has_value(); });
  CHECK(answered == true);
  CHECK(recorder.kinds() == Names{"budget.granted"});
  CHECK(recorder.last().event.body.find("\"amount\":5") != std::string::npos);
  run_for(50ms);
  CHECK(granted.empty());  // its tokens are still spent

  book->grant(agent_now, "tokens", 3, answer);
  run_until([&] { return granted.size() == 1; });
  CHECK(state("tokens").may_use() == 13);
  CHECK(spent.size() == 1);
}

TEST_CASE_METHOD(BookFixture, "nothing is granted while the ledger cannot be written") {
  limit({{"tokens", 10}});
  recorder.writing = false;
  std::optional<ErrorCode> code;
  const auto answer = [&](const Result<void>& result) { code = result.error().code; };
  book->grant(agent({{"tokens", 10}}), "tokens", 5, answer);
  CHECK(code == ErrorCode::not_recorded);
  recorder.writing = true;
  book->grant(agent({{"tokens", 10}}), "reviews", 5, answer);
  CHECK(code == ErrorCode::invalid_request);
  run_for(50ms);
  CHECK(recorder.committed.empty());
  CHECK(state("tokens").granted == 0);
}

TEST_CASE_METHOD(BookFixture, "a budget that was spent freezes each new run, and breaches once") {
  book->restore({{.agent = "a",
                  .dimension = "tokens",
                  .limit = 10,
                  .granted = 2,
                  .used = 12,
                  .warned = true,
                  .breached = true}});
  book->set_limits({{"a", agent({{"tokens", 10}})}});
  run_for(50ms);
  CHECK(spent.empty());  // nobody runs
  for (const std::size_t runs : {1u, 2u}) {
    book->run_begins(agent({{"tokens", 10}}), "r-" + std::to_string(runs));
    run_until([&] { return spent.size() == runs; });
  }
  const Names kinds = recorder.kinds();
  CHECK(std::count(kinds.begin(), kinds.end(), "budget.breached") == 0);
  CHECK(state("tokens").used == 12);
  CHECK(state("tokens").granted == 2);
}

TEST_CASE_METHOD(BookFixture, "parts of a second are carried on from run to run, of CPU and wall") {
  limit({});
  for (const RunId id : {"r-1", "r-2"}) {
    book->run_begins(agent({}), id);
    book->run_ended("a", ended(id, 1'600'000, 10, 0.7));
  }
  CHECK(state("cpu_s").used == 3);
  CHECK(state("wall_s").used == 1);
  CHECK(state("fs_w_bytes").used == 20);
  // One that is not its present run is none of its.
  book->run_ended("a", ended("r-1", 5'000'000, 10, 5));
  CHECK(state("cpu_s").used == 3);
}

TEST_CASE_METHOD(BookFixture,
                 "no wall time is charged to an agent that stands still for its budget") {
  limit({{"tokens", 1}});
  book->run_begins(agent({{"tokens", 1}}), "r-1");
  REQUIRE(book->charge("a", {{"tokens", 1}}));
  book->run_ended("a", ended("r-1", 2'000'000, 0, 100));
  CHECK(state("cpu_s").used == 2);
  CHECK(book->find("a")->dimensions().count("wall_s") == 0);
}

TEST_CASE_METHOD(BookFixture, "new limits are told, and let go on who is below them") {
  limit({{"tokens", 10}});
  REQUIRE(book->charge("a", {{"tokens", 10}}));
  run_until([&] { return spent.size() == 1; });
  recorder.committed.clear();
  book->set_limits({{"a", agent({{"tokens", 10}})}});
  run_for(50ms);
  CHECK(recorder.committed.empty());  // nothing is new
  book->set_limits({{"a", agent({{"tokens", 100}})}});
  run_until([&] { return granted.size() == 1; });
  CHECK(recorder.kinds() == Names{"budget.limited"});
  CHECK(recorded("tokens") == 10);
}

TEST_CASE_METHOD(BookFixture, "what is not recorded yet is when the book ends") {
  limit({{"tokens", 100}});
  REQUIRE(book->charge("a", {{"tokens", 7}}));
  run_for(20ms);
  REQUIRE(recorder.committed.empty());
  book.reset();
  run_until([&] { return !recorder.committed.empty(); });
  CHECK(recorder.kinds() == Names{"budget.charged"});
  CHECK(recorded("tokens") == 7);
}
