#include "supervisor/http/server.hpp"

#include <sys/socket.h>

#include <utility>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

// Clients over the maximum that are told so politely at the same time; any more are just closed.
constexpr std::size_t refused_connections_max = 32;

}  // namespace

Result<std::unique_ptr<Server>> Server::start(uv_loop_t* loop, Listener listener,
                                              ServerConfig config, Handler handler) {
  std::unique_ptr<Server> server(
      new Server(loop, listener.kind, std::move(config), std::move(handler)));
  const int rc = listener.kind == SocketKind::tcp
                     ? uv_tcp_open(&server->listener_->tcp, listener.fd.get())
                     : uv_pipe_open(&server->listener_->pipe, listener.fd.get());
  if (rc < 0)
    return fail(ErrorCode::io, std::string("open the listening socket: ") + uv_strerror(rc));
  listener.fd.release();  // closed with the handle from now on
  server->file_ = std::move(listener.file);
  if (const int listening = uv_listen(as_stream(server->listener_), SOMAXCONN, on_connection);
      listening < 0)
    return fail(ErrorCode::io, std::string("listen: ") + uv_strerror(listening));
  return server;
}

Server::Server(uv_loop_t* loop, SocketKind kind, ServerConfig config, Handler handler)
    : loop_(loop),
      config_(std::move(config)),
      handler_(std::move(handler)),
      kind_(kind),
      listener_(new_socket(loop, kind, this)),
      tidy_timer_(loop) {}

Server::~Server() = default;

void Server::stop_accepting(std::function<void()> on_idle) {
  file_.remove();
  listener_.reset();
  on_idle_ = std::move(on_idle);
  // Collected first: finish() may close a connection and so change the table.
  std::vector<Connection*> connections;
  for (const auto& entry : connections_) connections.push_back(entry.first);
  for (Connection* connection : connections) connection->finish();
  tidy_timer_.start(std::chrono::milliseconds(0), [this] { tidy(); });
}

void Server::close() {
  stop_accepting(std::move(on_idle_));
  std::vector<Connection*> connections;
  for (const auto& entry : connections_) connections.push_back(entry.first);
  for (Connection* connection : connections) connection->close();
}

void Server::accept() {
  UvSocket socket = new_socket(loop_, kind_, nullptr);
  if (uv_accept(as_stream(listener_), as_stream(socket)) < 0) return;  // the client is gone again
  // A response goes out in one piece; the pieces of a stream are not to wait for each other.
  if (kind_ == SocketKind::tcp) uv_tcp_nodelay(&socket->tcp, 1);
  if (connections_.size() >= config_.connections_max + refused_connections_max) return;
  auto created = Connection::create(loop_, std::move(socket), kind_, config_, *this);
  if (!created) return;  // no descriptors left: the client sees its connection close
  Connection* connection = created->get();
  const bool has_room = connections_.size() < config_.connections_max;
  connections_.emplace(connection, std::move(*created));
  if (has_room) {
    connection->start();
  } else {
    connection->refuse({503, "too many connections"});
  }
}

void Server::tidy() {
  closed_connections_.clear();
  if (listener_ == nullptr && connections_.empty()) {
    const auto on_idle = std::exchange(on_idle_, nullptr);
    if (on_idle) on_idle();
  }
}

void Server::handle(HttpRequest request, Exchange exchange) {
  handler_(std::move(request), std::move(exchange));
}

void Server::closed(Connection& connection) {
  auto node = connections_.extract(&connection);
  closed_connections_.push_back(std::move(node.mapped()));
  tidy_timer_.start(std::chrono::milliseconds(0), [this] { tidy(); });
}

void Server::on_connection(uv_stream_t* listener, int status) {
  auto* server = owner_of<Server>(listener);
  if (server == nullptr || status < 0) return;
  server->accept();
}

}  // namespace paddock::supervisor
