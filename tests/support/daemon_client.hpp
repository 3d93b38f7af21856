#pragma once
// A small blocking HTTP client for Unix sockets and TCP: whole calls for most tests, and raw bytes in and
// out for those that misbehave. Every wait has an end: what does not come in time is thrown as a
// std::runtime_error, which fails the test with its text.

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

// A key that is not there fails the test that asked for it instead of ending the program.
[[noreturn]] inline void fail_json(const char* condition) {
  throw std::logic_error(std::string("JSON: ") + condition);
}
#define JSON_ASSERT(condition) ((condition) ? void() : fail_json(#condition))
#include <nlohmann/json.hpp>

#include "kernel/base/fd.hpp"

struct HttpReply {
  int status = 0;
  std::string head;  // status line and header lines
  std::string body;  // chunks joined

  // The value of a header field; empty if it is absent. `name` as the daemon writes it.
  std::string header(std::string_view name) const;
  nlohmann::json json() const;
  std::string error_code() const;  // "code" of an error body, or what is there instead
  std::string error_message() const;
};

// One connection.
class HttpConnection {
 public:
  explicit HttpConnection(const std::string& socket_path,
                          std::chrono::milliseconds timeout = std::chrono::seconds(30));
  explicit HttpConnection(std::uint16_t port,  // of 127.0.0.1
                          std::chrono::milliseconds timeout = std::chrono::seconds(30));

  void send(std::string_view bytes);  // raw
  // "METHOD TARGET HTTP/1.1" with Host, Content-Length and `header_lines` ("Name: value\r\n"...).
  void send_request(std::string_view method, std::string_view target, std::string_view body = "",
                    std::string_view header_lines = "");
  HttpReply receive_reply();

  // For a streamed reply: its head, then one JSON object for each call; null at its end.
  HttpReply receive_head();
  nlohmann::json receive_event();

  std::string receive_to_end();  // until the daemon closes, or resets, the connection
  bool is_closed_within(std::chrono::milliseconds time);
  void shut_down_writing();
  void vanish() { fd_.close(); }  // as a killed client does
  int fd() const { return fd_.get(); }

 private:
  bool receive_more();  // false at the end
  std::string take_line();
  std::string take(std::size_t bytes);
  void wait_for(short events);

  paddock::kernel::Fd fd_;
  std::chrono::steady_clock::time_point deadline_;
  std::string received_;
  std::string stream_;  // of the streamed body: decoded and not yet handed out
  bool stream_ended_ = false;
};

// One request on a connection of its own.
HttpReply http(const std::string& socket_path, std::string_view method, std::string_view target,
               const nlohmann::json& body = nullptr);
