#include "supervisor/verify/key_store.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernel/base/fd.hpp"
#include "kernel/base/hash.hpp"
#include "supervisor/config/private_directory.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Fd;
using kernel::Result;

constexpr std::size_t hex_digits = 2 * mac_key_bytes;
constexpr std::size_t file_bytes_max = hex_digits + 1;  // a newline
constexpr std::size_t id_digits = 16;

std::string file_of(const std::string& tenant) {
  return (tenant.empty() ? "@operator" : tenant) + ".key";
}

std::string named(const std::string& tenant) {
  return tenant.empty() ? "the operator" : "tenant '" + tenant + "'";
}

MacKey key_of(const std::array<unsigned char, mac_key_bytes>& bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {.id = kernel::sha256_hex(text).substr(0, id_digits), .bytes = bytes};
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::optional<MacKey> parse_key(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.size() != hex_digits) return std::nullopt;
  std::array<unsigned char, mac_key_bytes> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return key_of(bytes);
}

// What makes a file or directory one that nobody else can have read or written.
Result<void> check_private(const struct stat& info, const std::string& path,
                           std::string_view mode) {
  if (info.st_uid != ::geteuid())
    return fail(ErrorCode::internal,
                fmt::format("'{}' belongs to uid {}, not to the daemon's user", path, info.st_uid));
  if ((info.st_mode & 077) != 0)
    return fail(ErrorCode::internal,
                fmt::format("'{}' can be used by others; chmod {} it, and rotate the key if "
                            "somebody may have read it",
                            path, mode));
  return {};
}

tl::unexpected<kernel::Error> cannot(std::string_view what, const std::string& path) {
  return fail(ErrorCode::internal,
              fmt::format("{} '{}': {}", what, path, kernel::errno_text(errno)));
}

Result<void> write_all(const Fd& fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return kernel::fail_errno("write '" + path + "'");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> read_start(const Fd& fd, const std::string& path) {
  std::string bytes(file_bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(fd.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot("read", path);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

// A file beside the one that is to be, whole on the disk.
Result<void> write_beside(const Fd& directory, const std::string& name, const std::string& path,
                          std::string_view text) {
  ::unlinkat(directory.get(), name.c_str(), 0);  // what an end in between has left
  const Fd fd(::openat(directory.get(), name.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return kernel::fail_errno("make '" + path + "'");
  TRY_VOID(write_all(fd, text, path));
  if (::fsync(fd.get()) != 0) return kernel::fail_errno("write '" + path + "' to the disk");
  return {};
}

}  // namespace

std::string to_hex(const MacKey& key) {
  return fmt::format("{:02x}", fmt::join(key.bytes, ""));
}

KeyStore::KeyStore(const std::string& state_directory) : directory_(state_directory + "/keys") {}

std::string KeyStore::path_of(const std::string& tenant) const {
  return directory_ + "/" + file_of(tenant);
}

Result<std::optional<MacKey>> KeyStore::find(const std::string& tenant) {
  const std::string path = path_of(tenant);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    known_.erase(tenant);
    if (errno == ENOENT) return std::optional<MacKey>();
    return cannot("look at", path);
  }
  const Identity identity{.device = info.st_dev,
                          .inode = info.st_ino,
                          .changed_ns = info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec};
  const auto found = known_.find(tenant);
  if (found != known_.end() && found->second.identity == identity)
    return std::optional(found->second.key);
  known_.erase(tenant);
  auto read_key = read(tenant);
  if (!read_key)
    return fail(ErrorCode::internal, fmt::format("the key of {} cannot be used: {}", named(tenant),
                                                 read_key.error().message));
  return std::optional(known_.emplace(tenant, std::move(*read_key)).first->second.key);
}

Result<KeyStore::Known> KeyStore::read(const std::string& tenant) const {
  const Fd directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!directory || ::fstat(directory.get(), &info) != 0) return cannot("open", directory_);
  TRY_VOID(check_private(info, directory_, "700"));
  const std::string path = path_of(tenant);
  // Without O_NONBLOCK a FIFO would be waited for.
  const Fd fd(::openat(directory.get(), file_of(tenant).c_str(),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd || ::fstat(fd.get(), &info) != 0) return cannot("open", path);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::internal, "'" + path + "' is not a regular file");
  TRY_VOID(check_private(info, path, "600"));
  const auto key = parse_key(TRY(read_start(fd, path)));
  if (!key)
    return fail(
        ErrorCode::internal,
        fmt::format("'{}' is damaged: it is not {} hexadecimal digits; `paddock key rotate` "
                    "replaces it",
                    path, hex_digits));
  return Known{
      .identity = {.device = info.st_dev,
                   .inode = info.st_ino,
                   .changed_ns = info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec},
      .key = *key};
}

Result<MacKey> KeyStore::make(const std::string& tenant, IfPresent if_present) const {
  TRY_VOID(ensure_private_directory(directory_));
  const Fd directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return kernel::fail_errno("open '" + directory_ + "'");
  std::array<unsigned char, mac_key_bytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return kernel::fail_errno("getrandom");
  const MacKey key = key_of(bytes);
  const std::string name = file_of(tenant);
  const std::string beside = name + ".new";  // no tenant has a name with a dot in it
  TRY_VOID(write_beside(directory, beside, path_of(tenant) + ".new", to_hex(key) + "\n"));
  const int dir = directory.get();
  // A link, unlike renaming, replaces nothing.
  const int rc = if_present == IfPresent::replace
                     ? ::renameat(dir, beside.c_str(), dir, name.c_str())
                     : ::linkat(dir, beside.c_str(), dir, name.c_str(), 0);
  const int failure = rc == 0 ? 0 : errno;
  if (rc != 0 || if_present == IfPresent::refuse) ::unlinkat(dir, beside.c_str(), 0);
  if (failure == EEXIST)
    return fail(ErrorCode::invalid_request,
                named(tenant) + " has a key already; `paddock key rotate` replaces it");
  if (failure != 0)
    return fail(ErrorCode::io,
                fmt::format("make '{}': {}", path_of(tenant), kernel::errno_text(failure)));
  if (::fsync(dir) != 0) return kernel::fail_errno("write '" + directory_ + "' to the disk");
  return key;
}

}  // namespace paddock::supervisor
