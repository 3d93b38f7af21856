#pragma once
// Server: accepts clients on one listening socket and owns their connections.

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/http/connection.hpp"
#include "supervisor/http/exchange.hpp"
#include "supervisor/http/listener.hpp"
#include "supervisor/http/request.hpp"
#include "supervisor/http/server_config.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/loop/uv_handle.hpp"

namespace paddock::supervisor {

class Server final : private Connection::Owner {
 public:
  // Called from the loop for each request; the handler owns the request and answers through the
  // exchange, at once or later. It must not destroy the server.
  using Handler = std::function<void(HttpRequest request, Exchange exchange)>;

  static kernel::Result<std::unique_ptr<Server>> start(uv_loop_t* loop, Listener listener,
                                                       ServerConfig config, Handler handler);

  // Closes everything without calling anybody back.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Closes the listening socket, removes its file, and closes idle connections. Requests in
  // progress are answered, and then their connections close. `on_idle` is called from the loop once
  // the last one has.
  void stop_accepting(std::function<void()> on_idle = {});

  // stop_accepting(), and closes every connection now: on_client_gone is called for each exchange
  // in progress.
  void close();

  // Refused ones that are still being told so included.
  std::size_t connection_count() const { return connections_.size(); }

 private:
  Server(uv_loop_t* loop, SocketKind kind, ServerConfig config, Handler handler);

  void accept();
  void tidy();
  void handle(HttpRequest request, Exchange exchange) override;
  void closed(Connection& connection) override;
  static void on_connection(uv_stream_t* listener, int status);

  uv_loop_t* loop_;
  ServerConfig config_;
  Handler handler_;
  SocketKind kind_;
  UvSocket listener_;
  SocketFile file_;  // declared after the socket: the file goes first
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> closed_connections_;  // freed on the next turn
  Timer tidy_timer_;
  std::function<void()> on_idle_;
};

}  // namespace paddock::supervisor
