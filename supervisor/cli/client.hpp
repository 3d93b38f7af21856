#pragma once
// Client: HTTP/1.1 to the daemon over its Unix socket. Blocking, one request at a time, keep-alive;
// an answer can also be read piece by piece, for streams. Boost.Beast's parser is used in
// client.cpp and its sockets nowhere.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/base/fd.hpp"

namespace paddock::supervisor::cli {

constexpr std::chrono::milliseconds connect_time_max{5'000};
// For answers that the daemon gives at once. A run's own answer has no such limit.
constexpr std::chrono::milliseconds answer_time_max{30'000};

struct HttpResponse {
  unsigned status = 0;
  std::string body;

  bool ok() const { return status >= 200 && status < 300; }
};

class Client {
 public:
  // Fails with not_found if nobody listens at `path` (no such file, or connection refused), and
  // with io for every other reason. The message names the path.
  static kernel::Result<Client> connect(const std::string& path);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // One whole exchange. `time_max` absent: waits as long as it takes.
  kernel::Result<HttpResponse> request(
      std::string_view method, std::string_view target, std::string_view body = {},
      std::optional<std::chrono::milliseconds> time_max = answer_time_max);

  // The same in pieces: send, then call read_some whenever fd() is readable. It appends what there
  // is of the body and says whether the answer is complete. Fails with io if the daemon hangs up
  // before that.
  kernel::Result<void> send(std::string_view method, std::string_view target,
                            std::string_view body);
  struct Progress {
    unsigned status = 0;  // 0: the header is not complete yet
    bool complete = false;
  };
  kernel::Result<Progress> read_some(std::string& body);

  int fd() const { return socket_.get(); }
  uid_t daemon_uid() const;  // of the process that listens

 private:
  struct Answer;  // holds the parser
  explicit Client(kernel::Fd socket);

  kernel::Fd socket_;
  std::unique_ptr<Answer> answer_;
};

}  // namespace paddock::supervisor::cli
