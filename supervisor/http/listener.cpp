#include "supervisor/http/listener.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::fail_errno;
using kernel::Fd;
using kernel::Result;

constexpr mode_t permission_bits = 07777;
constexpr mode_t group_and_others = 077;
constexpr mode_t group_writes_or_others = 027;

std::string quoted(const std::string& path) {
  return "'" + path + "'";
}

std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & permission_bits));
  return text;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<sockaddr_un> address_of(const std::string& path) {
  if (path.empty()) return fail(ErrorCode::invalid_request, "the socket path is empty");
  if (path.find('\0') != std::string::npos)
    return fail(ErrorCode::invalid_request, "the socket path contains a NUL");
  if (path.size() > socket_path_bytes_max) {
    return fail(ErrorCode::invalid_request, "the socket path " + quoted(path) + " has " +
                                                std::to_string(path.size()) +
                                                " bytes, and a Unix socket path can have at most " +
                                                std::to_string(socket_path_bytes_max));
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<Fd> new_socket() {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail_errno("create a Unix socket");
  return fd;
}

// Opens the directory of the socket. Whoever can enter it can try the socket, and whoever can write
// to it can put another socket in its place.
Result<Fd> open_private_directory(const std::string& path, std::optional<gid_t> group) {
  const std::string directory = directory_of(path);
  const std::string name = "the socket directory " + quoted(directory);
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail_errno("open " + name);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return fail_errno("look at " + name);
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return fail(ErrorCode::io, name + " belongs to uid " + std::to_string(status.st_uid) +
                                   ": it must belong to uid " + std::to_string(::geteuid()) +
                                   " or to root");
  }
  const bool is_of_group = group && status.st_gid == *group;
  if ((status.st_mode & (is_of_group ? group_writes_or_others : group_and_others)) != 0) {
    return fail(ErrorCode::io, name + " has mode " + octal(status.st_mode) +
                                   ": group and others must not get in (chmod 700 " +
                                   quoted(directory) + ")");
  }
  return fd;
}

// Nobody else replaces a stale socket here while this is held: two daemons that start together
// would otherwise each remove the socket that the other has just bound.
Result<void> lock_directory(const Fd& directory, const std::string& path) {
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return fail_errno("lock " + quoted(directory_of(path)));
  return fail(ErrorCode::io, "another daemon is just starting at " + quoted(path));
}

// Makes room at `path`: removes a socket of ours that nobody listens on, and nothing else.
Result<void> make_room_at(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return fail_errno("look at " + quoted(path));
  }
  if (!S_ISSOCK(status.st_mode))
    return fail(ErrorCode::io, quoted(path) + " exists and is not a socket: it is left alone");
  if (status.st_uid != ::geteuid()) {
    return fail(ErrorCode::io, quoted(path) + " is a socket of uid " +
                                   std::to_string(status.st_uid) + ": it is left alone");
  }
  const Fd probe = TRY(new_socket());
  // EAGAIN: somebody listens, and the queue is full.
  if (::connect(probe.get(), generic(address), sizeof address) == 0 || errno == EAGAIN)
    return fail(ErrorCode::io, quoted(path) + " is already in use by a running daemon");
  if (errno != ECONNREFUSED) return fail_errno("try " + quoted(path));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return fail_errno("remove the stale socket " + quoted(path));
  return {};
}

}  // namespace

SocketFile::SocketFile(std::string path, dev_t device, ino_t inode)
    : path_(std::move(path)), device_(device), inode_(inode) {}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}

SocketFile& SocketFile::operator=(SocketFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

SocketFile::~SocketFile() {
  remove();
}

void SocketFile::remove() {
  const std::string path = std::exchange(path_, {});
  struct stat status {};
  if (path.empty() || ::lstat(path.c_str(), &status) != 0) return;
  if (status.st_dev == device_ && status.st_ino == inode_) ::unlink(path.c_str());
}

Result<Listener> bind_listener(const std::string& path, std::optional<gid_t> group) {
  const sockaddr_un address = TRY(address_of(path));
  const Fd directory = TRY(open_private_directory(path, group));
  TRY_VOID(lock_directory(directory, path));
  TRY_VOID(make_room_at(path, address));

  Fd fd = TRY(new_socket());
  // The file gets its mode from the umask when it is made; a chmod afterwards would come too late
  // for whoever opens it in between.
  const mode_t former_mask = ::umask(0177);
  const int bound = ::bind(fd.get(), generic(address), sizeof address);
  const int bind_errno = errno;
  ::umask(former_mask);
  if (bound != 0)
    return fail(ErrorCode::io, "bind " + quoted(path) + ": " + kernel::errno_text(bind_errno));
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return fail_errno("look at " + quoted(path));
  SocketFile file(path, status.st_dev, status.st_ino);
  if (group) TRY_VOID(open_socket_to(path, group));
  if (::listen(fd.get(), SOMAXCONN) != 0) return fail_errno("listen on " + quoted(path));
  return Listener{std::move(fd), std::move(file)};
}

Result<void> open_socket_to(const std::string& path, std::optional<gid_t> group) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return fail_errno("look at " + quoted(path));
  if (!S_ISSOCK(status.st_mode)) return fail(ErrorCode::io, quoted(path) + " is no socket");
  // Closed first: nobody of the former group gets in between.
  if (::chmod(path.c_str(), 0600) != 0) return fail_errno("chmod " + quoted(path));
  if (!group) return {};
  if (::lchown(path.c_str(), static_cast<uid_t>(-1), *group) != 0)
    return fail_errno("give " + quoted(path) + " to gid " + std::to_string(*group));
  if (::chmod(path.c_str(), 0660) != 0) return fail_errno("chmod " + quoted(path));
  return {};
}

Result<Listener> adopt_listener(Fd fd) {
  const auto option = [&](int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(fd.get(), SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
  };
  if (option(SO_DOMAIN) != AF_UNIX || option(SO_TYPE) != SOCK_STREAM ||
      option(SO_ACCEPTCONN) != 1) {
    return fail(ErrorCode::io, "the passed descriptor " + std::to_string(fd.get()) +
                                   " is not a listening Unix stream socket");
  }
  if (::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) != 0 ||
      ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK) != 0) {
    return fail_errno("take over a passed socket");
  }
  return Listener{std::move(fd), SocketFile{}};
}

}  // namespace paddock::supervisor
