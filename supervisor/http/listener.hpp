#pragma once
// A listening socket: a Unix one, bound by us under strict rules or passed in by the service
// manager, or one of the loopback interface.

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "kernel/base/error.hpp"
#include "kernel/base/fd.hpp"
#include "supervisor/loop/uv_handle.hpp"

namespace paddock::supervisor {

// The longest path that a Unix socket address can hold (sizeof sun_path, less its NUL).
inline constexpr std::size_t socket_path_bytes_max = 107;

// The file of a socket that we bound. Removes it at the end, but only if it is still the same file:
// after a take-over the path belongs to somebody else.
class SocketFile {
 public:
  SocketFile() = default;  // owns nothing: a passed socket
  SocketFile(std::string path, dev_t device, ino_t inode);
  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&& other) noexcept;
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;
  ~SocketFile();

  void remove();

 private:
  std::string path_;  // empty: nothing to remove
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct Listener {
  kernel::Fd fd;    // non-blocking, close-on-exec, already listening
  SocketFile file;  // declared after it: the file goes before the socket closes
  SocketKind kind = SocketKind::unix_socket;
};

// Binds `path` with mode 0600, or with `group` for that group with mode 0660. Every refusal names
// the path and what to do about it:
//  - invalid_request: a path that is empty, has a NUL, or is longer than socket_path_bytes_max;
//  - io: the directory is missing, is not ours (or root's), or lets others in than `group`;
//  - io: a running daemon answers there, or is just starting there;
//  - io: the path is taken by anything but a socket of ours. Only a socket of ours that nobody
//    listens on is replaced.
kernel::Result<Listener> bind_listener(const std::string& path,
                                       std::optional<gid_t> group = std::nullopt);

// Who may connect to the socket at `path`, in a directory that nobody else can change, from now on:
// this user and `group`, or this user alone. Fails with io.
kernel::Result<void> open_socket_to(const std::string& path, std::optional<gid_t> group);

// Takes over a socket that already listens (socket activation). Who may connect is then decided by
// the unit file. Fails with io if `fd` is no listening Unix stream socket.
kernel::Result<Listener> adopt_listener(kernel::Fd fd);

}  // namespace paddock::supervisor
