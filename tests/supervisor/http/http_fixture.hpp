#pragma once
// A real server on a real loop in a temporary directory, and clients in the same thread: a test
// says what a client sends and runs the loop until what it expects has happened.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/fd.hpp"
#include "supervisor/http/server.hpp"
#include "supervisor/loop/event_loop.hpp"

namespace paddock::supervisor {

// A directory of mode 0700 that goes with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// One non-blocking client socket. What it receives collects in `received`.
class Client {
 public:
  explicit Client(const std::string& socket_path);
  explicit Client(std::uint16_t port);  // of 127.0.0.1

  void send(std::string_view bytes);                 // queues them; the fixture moves them along
  void shut_down_writing();                          // once everything is sent
  bool send_out_of_band();                           // false if the kernel cannot
  void vanish() { fd_.close(); }                     // like a killed client: no more reading either
  void move(std::size_t read_bytes_max = SIZE_MAX);  // sends and receives what can be done now
  bool has_sent_all() const { return to_send_.empty(); }

  std::string received;
  bool is_closed = false;  // the server has closed, or reset, its side

 private:
  kernel::Fd fd_;
  std::string to_send_;
  bool shut_down_when_sent_ = false;
};

struct HttpFixture {
  explicit HttpFixture(ServerConfig config = {});
  ~HttpFixture();

  // Runs the loop, and moves the bytes of `clients`, until `condition` holds; fails the test after
  // five seconds.
  void run_until(const std::function<bool()>& condition, const std::vector<Client*>& clients = {});
  // The same until the client has received `count` complete responses, or has been closed.
  void run_until_responses(Client& client, std::size_t count);
  void run_until_closed(Client& client);
  void run_for(std::chrono::milliseconds time, const std::vector<Client*>& clients = {});

  TemporaryDirectory directory;
  std::string socket_path = directory.file("paddock.sock");
  std::unique_ptr<EventLoop> loop = EventLoop::create().value();
  // What the server does with a request. By default: 200 with "METHOD PATH BODY".
  Server::Handler handler;
  std::vector<HttpRequest> requests;  // all that came
  std::unique_ptr<Server> server;
};

struct ReceivedResponse {
  int status = 0;
  std::string header;  // with its status line
  std::string body;    // chunks joined
  bool is_complete = false;
};

// Takes `bytes` apart by Content-Length or chunks; anything else lasts to the end.
std::vector<ReceivedResponse> parse_responses(std::string_view bytes);

// A GET with a Host, and maybe more header lines.
std::string get(std::string_view path, std::string_view header_lines = "");
std::string post(std::string_view path, std::string_view body);

}  // namespace paddock::supervisor
