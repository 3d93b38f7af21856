#include "ledger_fixture.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace paddock::tests {

using namespace std::chrono_literals;
using supervisor::LedgerReader;
using supervisor::LedgerWriter;
using supervisor::RunRow;
using supervisor::Transition;

namespace {

class Connection {
 public:
  explicit Connection(const std::string& path) {
    REQUIRE(::sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE, nullptr) ==
            SQLITE_OK);
    ::sqlite3_busy_timeout(database_, 10'000);
  }
  ~Connection() { ::sqlite3_close(database_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void execute(const std::string& sql, int (*on_row)(void*, int, char**, char**), void* context) {
    char* message = nullptr;
    const int rc = ::sqlite3_exec(database_, sql.c_str(), on_row, context, &message);
    INFO(sql << ": " << (message == nullptr ? "" : message));
    CHECK(rc == SQLITE_OK);
    ::sqlite3_free(message);
  }

 private:
  sqlite3* database_ = nullptr;
};

}  // namespace

LedgerDirectory::LedgerDirectory() {
  std::array<char, 64> name{"/var/tmp/paddock-ledger-XXXXXX"};
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  directory_ = name.data();
}

LedgerDirectory::~LedgerDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

LedgerWriter LedgerDirectory::open() const {
  auto writer = LedgerWriter::open(path(), supervisor::LedgerSync::normal);
  INFO((writer ? "" : writer.error().message));
  REQUIRE(writer);
  return std::move(*writer);
}

LedgerReader LedgerDirectory::reader() const {
  auto reader = LedgerReader::open(path());
  INFO((reader ? "" : reader.error().message));
  REQUIRE(reader);
  return std::move(*reader);
}

supervisor::Verification LedgerDirectory::verify() const {
  const auto found = supervisor::verify_ledger(path(), std::nullopt);
  INFO((found ? "" : found.error().message));
  REQUIRE(found);
  return *found;
}

void LedgerDirectory::edit(const std::string& sql) const {
  Connection(path()).execute(sql, nullptr, nullptr);
}

std::int64_t LedgerDirectory::ask(const std::string& sql) const {
  std::int64_t answer = -1;
  const auto on_row = [](void* context, int, char** values, char**) {
    *static_cast<std::int64_t*>(context) = std::stoll(values[0]);
    return 0;
  };
  Connection(path()).execute(sql, on_row, &answer);
  return answer;
}

void LedgerDirectory::write_runs(int count) const {
  std::vector<Transition> transitions;
  for (int i = 1; i <= count; ++i)
    for (const char* state : {"starting", "finished"})
      transitions.push_back(sample_transition(i, state));
  REQUIRE(open().apply(transitions));
}

RunRow sample_run(int number, const std::string& state) {
  RunRow row;
  row.id = "r-" + std::to_string(number);
  row.state = state;
  row.tenant = number % 2 == 0 ? "even" : "odd";
  row.profile = "STRICT";
  row.agent = number % 3 == 0 ? "third" : "";
  row.policy_hash = "policy-of-" + row.tenant;
  row.created_us = 1'000'000 + number;
  if (state == "finished") {
    row.ended_us = 2'000'000 + number;
    row.cause = "exited";
    row.cpu_us = 5;
    row.written_bytes = 1ull << 40;
  } else {
    row.launcher = kernel::ProcessMark{.pid = number, .start_ticks = 7, .boot_id = "boot"};
  }
  return row;
}

Transition sample_transition(int number, const std::string& state, std::int64_t at_seconds) {
  const RunRow row = sample_run(number, state);
  Transition transition;
  transition.event = {.kind = "run." + state,
                      .subject = row.id,
                      .tenant = row.tenant,
                      .body = R"({"number":)" + std::to_string(number) + "}",
                      .at = std::chrono::system_clock::time_point(at_seconds * 1s)};
  transition.run = row;
  transition.policy =
      supervisor::PolicyRow{.hash = row.policy_hash, .text = "text of " + row.tenant};
  return transition;
}

RunningLedger::RunningLedger(const LedgerDirectory& directory, supervisor::LedgerLimits limits) {
  auto started = supervisor::Ledger::start(loop->get(), directory.path(), directory.open(), limits);
  INFO((started ? "" : started.error().message));
  REQUIRE(started);
  ledger = std::move(*started);
}

void RunningLedger::wait_until(const std::function<bool()>& condition) const {
  bool is_over = false;
  supervisor::Timer deadline(loop->get());
  deadline.start(30s, [&] { is_over = true; });
  while (!condition() && !is_over) uv_run(loop->get(), UV_RUN_ONCE);
  REQUIRE(condition());
}

}  // namespace paddock::tests
