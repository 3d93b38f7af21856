#include "kernel/probe/ground.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>

#include "kernel/base/random.hpp"

namespace paddock::kernel {
namespace {

// The attempts of all profiles fit into it; nobody accepts.
constexpr int backlog = 256;

Result<void> make_directory(const std::string& path, mode_t mode) {
  // The mode by itself: mkdir's passes through the umask.
  if (::mkdir(path.c_str(), 0700) != 0 || ::chmod(path.c_str(), mode) != 0)
    return fail_errno("make '" + path + "'");
  return {};
}

}  // namespace

std::string random_word() {
  return fmt::format("{:016x}", random_bits());
}

Result<std::unique_ptr<ProbeGround>> ProbeGround::prepare(int program) {
  std::unique_ptr<ProbeGround> ground(new ProbeGround);
  TRY_VOID(ground->make_files());
  TRY_VOID(ground->listen());
  TRY_VOID(ground->start_process(program));
  return ground;
}

ProbeGround::~ProbeGround() {
  std::error_code ignored;
  if (!target_.directory.empty()) std::filesystem::remove_all(target_.directory, ignored);
}

// Below /var/tmp, since nothing below /tmp can be bound into a sandbox.
Result<void> ProbeGround::make_files() {
  char path[] = "/var/tmp/paddock-probe-XXXXXX";
  if (::mkdtemp(path) == nullptr) return fail_errno("make a directory in /var/tmp");
  target_.directory = path;
  if (::chmod(path, 0755) != 0) return fail_errno("chmod");
  target_.open_directory = target_.directory + "/open";
  target_.secret = target_.directory + "/secret";
  TRY_VOID(make_directory(target_.open_directory, 01777));
  TRY_VOID(make_directory(planted_directory(), 01777));
  TRY_VOID(make_directory(target_.directory + "/reached", 01777));
  const Fd secret(::open(target_.secret.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!secret || ::write(secret.get(), "x", 1) != 1 || ::fchmod(secret.get(), 0644) != 0)
    return fail_errno("make '" + target_.secret + "'");
  return {};
}

Result<void> ProbeGround::listen() {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  tcp_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!tcp_ || ::bind(tcp_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(tcp_.get(), backlog) != 0 ||
      ::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return fail_errno("listen on the loopback address");
  target_.tcp_port = ntohs(address.sin_port);

  target_.abstract_name = "paddock-probe-" + random_word();
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path + 1, target_.abstract_name.data(), target_.abstract_name.size());
  abstract_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto name_size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + target_.abstract_name.size());
  if (!abstract_ || ::bind(abstract_.get(), reinterpret_cast<sockaddr*>(&name), name_size) != 0 ||
      ::listen(abstract_.get(), backlog) != 0)
    return fail_errno("listen on an abstract socket");
  return {};
}

Result<void> ProbeGround::start_process(int program) {
  target_.mark = "paddock-probe-" + random_word();
  target_.left_mark = target_.mark + "-left";
  process_.emplace(
      TRY(UnconfinedProcess::start(program, {"paddock-probe", "linger", target_.mark})));
  target_.process = process_->pid();
  process_->read_to_end();  // it has closed its output: it is there under its name
  return {};
}

bool ProbeGround::was_reached() const {
  std::error_code failed;
  return !std::filesystem::is_empty(target_.directory + "/reached", failed) || failed;
}

void ProbeGround::clear_reached() const {
  std::error_code ignored;
  std::filesystem::remove_all(target_.directory + "/reached", ignored);
  [[maybe_unused]] const auto made = make_directory(target_.directory + "/reached", 01777);
}

void ProbeGround::plant(const std::string& before_path) const {
  const std::string to = before_path + target_.directory + "/reached";
  ::unlink(planted_link().c_str());
  [[maybe_unused]] const int ignored = ::symlink(to.c_str(), planted_link().c_str());
}

}  // namespace paddock::kernel
