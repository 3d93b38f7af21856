#include "supervisor/http/connection.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>
#include <vector>

namespace paddock::supervisor {
namespace {

using kernel::Fd;
using kernel::Result;

// What a client must take of a full queue within the write-stall timeout. One byte now and then
// would keep a connection and its queue alive for ever.
constexpr std::size_t write_progress_bytes_min = std::size_t{64} * 1024;

int descriptor_of(const UvSocket& socket) {
  uv_os_fd_t fd = -1;
  uv_fileno(&socket->handle, &fd);
  return fd;
}

// The supplementary groups that the peer had when it connected. None if they cannot be told: that
// lets in fewer, never more.
std::vector<gid_t> groups_of_peer(int fd) {
  std::vector<gid_t> groups(16);
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const int rc = ::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes);
    if (rc != 0 && errno != ERANGE) return {};
    groups.resize(bytes / sizeof(gid_t));  // what there is, or what it takes
    if (rc == 0) return groups;
  }
  return {};
}

Peer peer_of(int fd, SocketKind kind) {
  // The kernel does not say who that is.
  if (kind == SocketKind::tcp)
    return {.pid = 0, .uid = static_cast<uid_t>(-1), .gids = {}, .over_tcp = true};
  ucred credentials{};
  socklen_t size = sizeof credentials;
  // Without credentials the client is nobody, and not root.
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return {.pid = 0, .uid = static_cast<uid_t>(-1), .gids = {}};
  Peer peer{.pid = credentials.pid, .uid = credentials.uid, .gids = {credentials.gid}};
  const std::vector<gid_t> groups = groups_of_peer(fd);
  peer.gids.insert(peer.gids.end(), groups.begin(), groups.end());
  return peer;
}

Response plain_error_response(const HttpError& error) {
  Response response{.status = error.status, .body = error.message + "\n", .headers = {}};
  if (error.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

// Lives until libuv has let go of its bytes, which may be after the connection is gone.
struct Connection::PendingWrite {
  uv_write_t request{};
  std::string bytes;
};

Result<std::unique_ptr<Connection>> Connection::create(uv_loop_t* loop, UvSocket socket,
                                                       SocketKind kind, const ServerConfig& config,
                                                       Owner& owner) {
  std::unique_ptr<Connection> connection(new Connection(loop, std::move(socket), config, owner));
  const int fd = descriptor_of(connection->socket_);
  connection->peer_ = std::make_shared<const Peer>(peer_of(fd, kind));
  connection->hang_up_fd_ = Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!connection->hang_up_fd_) return kernel::fail_errno("duplicate a client's socket");
  connection->hang_up_ = TRY(Poll::create(loop, connection->hang_up_fd_.get()));
  return connection;
}

Connection::Connection(uv_loop_t* loop, UvSocket socket, const ServerConfig& config, Owner& owner)
    : config_(config),
      owner_(owner),
      socket_(std::move(socket)),
      parser_(config.parser),
      read_timer_(loop),
      write_timer_(loop) {
  socket_->handle.data = this;
}

void Connection::start() {
  resume_reading();
  watch_request_time();
}

void Connection::refuse(const HttpError& error) {
  assert(phase_ == Phase::reading);
  const Response response =
      config_.error_response ? config_.error_response(error) : plain_error_response(error);
  close_when_flushed_ = true;
  request_was_cut_short_ = true;
  phase_ = Phase::flushing;
  read_timer_.stop();
  suspend_reading();
  enqueue(serialize(response, /*method=*/"GET", ConnectionAfter::close));
  settle();
}

void Connection::finish() {
  close_when_flushed_ = true;
  if (phase_ == Phase::reading && parser_.state() == RequestParser::State::empty) close();
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  exchange_.reset();
  hang_up_.reset();
  hang_up_fd_.close();
  socket_.reset();
  read_timer_.stop();
  write_timer_.stop();
  on_drained_ = nullptr;
  const auto on_client_gone = std::exchange(on_client_gone_, nullptr);
  owner_.closed(*this);
  // Last: by now everything is in order, whatever the call does.
  if (on_client_gone) on_client_gone();
}

// ---- Receiving ---------------------------------------------------------------------------------

void Connection::resume_reading() {
  if (is_reading_) return;
  is_reading_ = true;
  uv_read_start(as_stream(socket_), on_alloc, on_read);
}

void Connection::suspend_reading() {
  if (!is_reading_) return;
  is_reading_ = false;
  uv_read_stop(as_stream(socket_));
}

void Connection::receive(std::string_view bytes) {
  if (phase_ != Phase::reading) return;  // lingering: thrown away
  input_.append(bytes);
  advance();
}

// The client has shut down its writing side, or is gone.
void Connection::receive_end() {
  suspend_reading();
  if (phase_ != Phase::reading || parser_.state() == RequestParser::State::empty) return close();
  refuse({400, "the connection ended before the request was complete"});
}

// Takes requests out of the input for as long as each is answered at once. A loop, not a recursion:
// a client may pipeline hundreds of requests in one read.
void Connection::advance() {
  if (is_advancing_) return;
  is_advancing_ = true;
  while (phase_ == Phase::reading && !input_.empty()) {
    input_.erase(0, parser_.feed(input_));
    if (parser_.state() == RequestParser::State::complete) {
      dispatch();
    } else if (parser_.state() == RequestParser::State::failed) {
      refuse(parser_.error());
    }
  }
  is_advancing_ = false;

  switch (phase_) {
    case Phase::reading:
      if (parser_.take_expectation()) enqueue(std::string(continue_response));
      resume_reading();
      watch_request_time();
      break;
    case Phase::responding:
    case Phase::streaming:
      suspend_reading();
      watch_for_hang_up();
      break;
    case Phase::flushing:
      suspend_reading();
      break;
    case Phase::lingering:
    case Phase::closed:
      break;
  }
}

void Connection::dispatch() {
  HttpRequest request = parser_.take();
  read_timer_.stop();
  request_time_runs_ = false;
  phase_ = Phase::responding;
  method_ = request.method;
  version_ = request.version;
  close_when_flushed_ = close_when_flushed_ || !request.keep_alive;
  exchange_ = std::make_shared<Connection*>(this);
  owner_.handle(std::move(request), Exchange(exchange_, peer_));
}

// Time runs from the first byte of a request to its last: more bytes do not extend it.
void Connection::watch_request_time() {
  const bool has_begun = parser_.state() != RequestParser::State::empty;
  if (has_begun && request_time_runs_) return;
  request_time_runs_ = has_begun;
  read_timer_.start(has_begun ? config_.request_timeout : config_.idle_timeout,
                    [this] { request_time_is_up(); });
}

void Connection::request_time_is_up() {
  if (!request_time_runs_) return close();
  refuse({408, "the request did not arrive in time"});
}

void Connection::watch_for_hang_up() {
  hang_up_->start({.hang_up = true}, [this](Poll::Events) { close(); });
}

// ---- Sending -----------------------------------------------------------------------------------

// libuv tries to write at once; only what the socket does not take waits. Errors come back from the
// loop and never from here, so no caller sees its connection close under its hands.
void Connection::enqueue(std::string bytes) {
  if (bytes.empty()) return;
  auto pending = std::make_unique<PendingWrite>();
  pending->bytes = std::move(bytes);
  pending->request.data = pending.get();
  total_enqueued_bytes_ += pending->bytes.size();
  const uv_buf_t buffer{.base = pending->bytes.data(), .len = pending->bytes.size()};
  [[maybe_unused]] const int rc =
      uv_write(&pending->request, as_stream(socket_), &buffer, /*nbufs=*/1, on_write);
  assert(rc == 0 && "the stream is open and writable");
  static_cast<void>(pending.release());  // on_write frees it
  if (queued_bytes() > 0 && !write_timer_.is_running()) watch_write_progress();
}

std::size_t Connection::queued_bytes() const {
  return uv_stream_get_write_queue_size(as_stream(socket_));
}

void Connection::wrote(int status) {
  if (status < 0) return close();
  if (queued_bytes() == 0) write_timer_.stop();
  if (is_over_high_water_ && queued_bytes() <= config_.write_high_water_bytes / 2) {
    is_over_high_water_ = false;
    const auto on_drained = on_drained_;  // a copy: the call may end the exchange
    if (on_drained) on_drained();
  }
  settle();
}

void Connection::watch_write_progress() {
  queued_at_mark_bytes_ = queued_bytes();
  written_at_mark_bytes_ = total_enqueued_bytes_ - queued_at_mark_bytes_;
  write_timer_.start(config_.write_stall_timeout, [this] { check_write_progress(); });
}

void Connection::check_write_progress() {
  if (queued_bytes() == 0) return;
  const std::size_t written = total_enqueued_bytes_ - queued_bytes() - written_at_mark_bytes_;
  if (written < std::min(queued_at_mark_bytes_, write_progress_bytes_min)) return close();
  watch_write_progress();
}

// ---- The exchange ------------------------------------------------------------------------------

void Connection::respond(const Response& response) {
  assert(phase_ == Phase::responding && "a stream has begun");
  if (phase_ != Phase::responding) return abort();
  enqueue(serialize(response, method_,
                    close_when_flushed_ ? ConnectionAfter::close : ConnectionAfter::keep_alive));
  finish_exchange();
}

void Connection::begin_stream(const StreamHead& head) {
  assert(phase_ == Phase::responding && "a stream has begun");
  if (phase_ != Phase::responding) return abort();
  phase_ = Phase::streaming;
  const bool has_chunks = version_ == HttpVersion::http_1_1;
  stream_framing_ = has_chunks ? StreamFraming::chunked : StreamFraming::until_close;
  close_when_flushed_ = close_when_flushed_ || !has_chunks;
  enqueue(
      serialize_head(head, stream_framing_,
                     close_when_flushed_ ? ConnectionAfter::close : ConnectionAfter::keep_alive));
}

WriteResult Connection::write(std::string_view bytes) {
  assert(phase_ == Phase::streaming && "begin_stream() comes first");
  if (phase_ != Phase::streaming) {
    abort();
    return WriteResult::gone;
  }
  if (method_ == "HEAD") return WriteResult::accepted;
  enqueue(stream_framing_ == StreamFraming::chunked ? serialize_chunk(bytes) : std::string(bytes));
  if (queued_bytes() > config_.write_high_water_bytes) is_over_high_water_ = true;
  return is_over_high_water_ ? WriteResult::full : WriteResult::accepted;
}

void Connection::end() {
  assert(phase_ == Phase::streaming && "begin_stream() comes first");
  if (phase_ != Phase::streaming) return abort();
  if (stream_framing_ == StreamFraming::chunked && method_ != "HEAD")
    enqueue(std::string(last_chunk));
  finish_exchange();
}

void Connection::abort() {
  on_client_gone_ = nullptr;
  close();
}

void Connection::set_on_drained(std::function<void()> on_drained) {
  on_drained_ = std::move(on_drained);
}

void Connection::set_on_client_gone(std::function<void()> on_client_gone) {
  on_client_gone_ = std::move(on_client_gone);
}

void Connection::finish_exchange() {
  exchange_.reset();
  on_drained_ = nullptr;
  on_client_gone_ = nullptr;
  is_over_high_water_ = false;
  hang_up_->stop();
  phase_ = Phase::flushing;
  settle();
}

// Goes on once the response has left: to the next request, or to the end. Waiting for it means that
// a client that pipelines requests and reads no responses is answered once, not a hundred times.
void Connection::settle() {
  if (phase_ != Phase::flushing || queued_bytes() > 0) return;
  write_timer_.stop();
  if (!close_when_flushed_) {
    phase_ = Phase::reading;
    advance();
  } else if (request_was_cut_short_) {
    linger();
  } else {
    close();
  }
}

void Connection::linger() {
  phase_ = Phase::lingering;
  ::shutdown(hang_up_fd_.get(), SHUT_WR);
  resume_reading();
  read_timer_.start(config_.linger_timeout, [this] { close(); });
}

// ---- Events: from libuv to the connection ------------------------------------------------------

void Connection::on_alloc(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
  auto& bytes = owner_of<Connection>(handle)->read_buffer_;
  *buffer = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
}

void Connection::on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
  auto* connection = owner_of<Connection>(stream);
  if (connection == nullptr || count == 0) return;  // 0: nothing there after all
  if (count == UV_EOF) return connection->receive_end();
  if (count < 0) return connection->close();
  connection->receive({buffer->base, static_cast<std::size_t>(count)});
}

void Connection::on_write(uv_write_t* request, int status) {
  const std::unique_ptr<PendingWrite> pending(static_cast<PendingWrite*>(request->data));
  if (auto* connection = owner_of<Connection>(request->handle)) connection->wrote(status);
}

}  // namespace paddock::supervisor
