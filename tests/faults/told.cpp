#include "faults/told.hpp"

#include <algorithm>
#include <stdexcept>

#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/verify.hpp"

namespace paddock::faults {
namespace {

using nlohmann::json;
using supervisor::LedgerReader;

constexpr std::size_t kinds = 4;  // detached, waiting, streamed, detached and long

}  // namespace

void Told::run(const std::string& id) {
  const std::lock_guard lock(mutex_);
  runs_.try_emplace(id);
}

void Told::outcome(const std::string& id, const std::string& cause) {
  const std::lock_guard lock(mutex_);
  runs_[id] = cause;
}

std::map<std::string, std::optional<std::string>> Told::all() const {
  const std::lock_guard lock(mutex_);
  return runs_;
}

bool ask_for(const std::string& socket, Told& told, const std::string& marker, std::size_t kind) {
  json request = kind == 3 ? shell(marked_sleeper(marker)) : quick();
  if (kind == 0 || kind == 3) request["detach"] = true;
  if (kind == 2) request["stream"] = true;
  try {
    HttpConnection connection(socket);
    connection.send_request("POST", "/v1/runs", request.dump());
    if (kind == 2) {
      if (connection.receive_head().status != 200) return true;
      for (json event = connection.receive_event(); !event.is_null();
           event = connection.receive_event()) {
        told.run(event["id"]);
        if (event["event"] == "finished")
          told.outcome(event["id"], event["run"]["result"]["cause"]);
      }
      return true;
    }
    const HttpReply reply = connection.receive_reply();
    if (reply.status >= 400) return true;
    const json run = reply.json();
    told.run(run["id"]);
    if (run["state"] == "finished" && !run.contains("recorded"))
      told.outcome(run["id"], run["result"]["cause"]);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

Load::Load(const DaemonFixture& daemon, Told& told, std::string marker)
    : socket_(daemon.socket()), told_(told), marker_(std::move(marker)) {
  for (std::size_t kind = 0; kind < kinds; ++kind)
    threads_.emplace_back([this, kind] { ask(kind); });
}

Load::~Load() {
  stopping_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void Load::ask(std::size_t kind) {
  while (!stopping_ && ask_for(socket_, told_, marker_, kind)) {
    // Long runs must not fill every slot before the others had one.
    if (kind == 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void check_ledger(const DaemonFixture& daemon, const Told& told) {
  const std::string path = daemon.directory().path("state/ledger.db");
  const auto verified = supervisor::verify_ledger(path, std::nullopt);
  REQUIRE(verified);
  CHECK_FALSE(verified->edit);
  auto reader = LedgerReader::open(path);
  REQUIRE(reader);
  for (const auto& [id, cause] : told.all()) {
    INFO(id);
    const auto stored = reader->run(id);
    REQUIRE(stored);
    REQUIRE(*stored);
    const auto& events = (*stored)->events;
    CHECK((*stored)->row.state == "finished");
    CHECK_FALSE((*stored)->row.cause.empty());
    CHECK(std::count_if(events.begin(), events.end(),
                        [](const auto& event) { return event.event.kind == "run.finished"; }) == 1);
    if (cause) CHECK((*stored)->row.cause == *cause);
  }
}

}  // namespace paddock::faults
