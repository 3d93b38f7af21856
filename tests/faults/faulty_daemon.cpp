#include "faults/faulty_daemon.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <ostream>
#include <thread>
#include <utility>

#include "kernel/base/process_tree.hpp"

namespace paddock::faults {
namespace {

namespace fs = std::filesystem;

std::size_t entries_of(const std::string& directory, const std::string& prefix = "") {
  std::error_code gone;
  std::size_t count = 0;
  for (fs::directory_iterator at(directory, gone), end; !gone && at != end; at.increment(gone))
    if (at->path().filename().string().starts_with(prefix)) ++count;
  return count;
}

std::size_t lines_of(const std::string& path) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

}  // namespace

int repetitions(const char* variable, int in_ctest) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? in_ctest : std::atoi(text);
}

MappedBoard::MappedBoard() {
  std::string pattern = "/var/tmp/paddock-board-XXXXXX";
  const kernel::Fd fd(::mkstemp(pattern.data()));
  REQUIRE(fd);
  path_ = pattern;
  REQUIRE(::ftruncate(fd.get(), sizeof(Board)) == 0);
  void* const memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  REQUIRE(memory != MAP_FAILED);
  board_ = new (memory) Board;
}

MappedBoard::~MappedBoard() {
  ::munmap(board_, sizeof(Board));
  ::unlink(path_.c_str());
}

void MappedBoard::arm(Effect effect, Call call, int error, int skip, int times) const {
  board_->effect = Effect::none;
  board_->call = call;
  board_->error = error;
  board_->skip = skip;
  board_->times = times;
  board_->hits = 0;
  board_->effect = effect;
}

void MappedBoard::fail(Call call, int error, int skip, int times) const {
  arm(Effect::fail, call, error, skip, times);
}

void MappedBoard::die(Effect effect, Call call, int skip, const std::string& while_writing) const {
  board_->effect = Effect::none;
  REQUIRE(while_writing.size() < board_->while_writing.size());
  board_->while_writing.fill('\0');
  while_writing.copy(board_->while_writing.data(), while_writing.size());
  arm(effect, call, 0, skip, 1);
}

long MappedBoard::clear() const {
  board_->effect = Effect::none;
  board_->while_writing.fill('\0');
  return board_->hits;
}

std::ostream& operator<<(std::ostream& out, const Footprint& footprint) {
  return out << footprint.descriptors << " descriptors, " << footprint.children << " children, "
             << footprint.mounts << " mounts, " << footprint.workspaces << " workspaces, "
             << footprint.leaves << " cgroups";
}

FaultyDaemon::FaultyDaemon(DaemonOptions options) {
  options.environment.emplace_back(board_variable, board_.path());
  daemon_ = std::make_unique<DaemonFixture>(std::move(options));
  cgroup_base_ = daemon_->get("/v1/host").json()["cgroup_base"];
  // The first of each kind opens what stays open.
  run(quick());
  // The last client's connection goes a moment later.
  Footprint before;
  REQUIRE(eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return std::exchange(before, footprint()) == footprint();
  }));
  at_start_ = before;
}

nlohmann::json FaultyDaemon::run(const nlohmann::json& request) {
  const nlohmann::json run = daemon_->run(request);
  know(run["id"]);
  return run;
}

bool FaultyDaemon::is_refused() {
  const HttpReply reply = daemon_->post("/v1/runs", quick());
  if (reply.status == 200) {
    know(reply.json()["id"]);
    return false;
  }
  CHECK(reply.status == 503);
  CHECK(reply.error_code() == "not_recorded");
  CHECK_FALSE(reply.error_message().empty());
  return true;
}

Footprint FaultyDaemon::footprint() const {
  const std::string proc = "/proc/" + std::to_string(daemon_->pid());
  Footprint now{.descriptors = entries_of(proc + "/fd"),
                .children = kernel::children_of(daemon_->pid()).size(),
                .mounts = lines_of(proc + "/mountinfo"),
                .workspaces = entries_of(daemon_->directory().path("tmp"), "paddock-workspace-")};
  if (cgroup_base_.empty()) return now;
  now.leaves =
      static_cast<std::size_t>(std::count_if(ids_.begin(), ids_.end(), [&](const auto& id) {
        std::error_code gone;
        return fs::exists(cgroup_base_ + "/" + id, gone);
      }));
  return now;
}

std::size_t FaultyDaemon::memory_kib() const {
  std::ifstream status("/proc/" + std::to_string(daemon_->pid()) + "/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

void FaultyDaemon::check_nothing_left() {
  // A ledger that was opened again may have a descriptor less: SQLite keeps what it cannot close
  // yet.
  const auto nothing_left = [&] {
    Footprint now = footprint();
    if (now.descriptors < at_start_.descriptors) now.descriptors = at_start_.descriptors;
    return now == at_start_;
  };
  const bool none = eventually(nothing_left, std::chrono::seconds(6));
  INFO("now " << footprint() << "; at the start " << at_start_);
  CHECK(none);
}

nlohmann::json quick(const std::string& profile) {
  return shell("echo x", profile);
}

}  // namespace paddock::faults
