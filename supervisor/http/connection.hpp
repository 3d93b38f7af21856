#pragma once
// Connection: one client. It reads a request, hands it out, sends the response, and starts again.
//
//   reading ──request──> responding ──begin_stream──> streaming
//     ^  \                   │ respond                   │ end
//     │   \refused           v                           v
//     │    `──────────>  flushing  <─────────────────────'
//     └──keep-alive────────'   \──close──> (lingering ->) closed
//
// One request at a time: while one is answered nothing is read, so pipelined requests wait in the
// kernel and a client that does not stop sending is held up there. Instead, the connection watches
// for the hang-up of its peer. End of file is not that: `shutdown(SHUT_WR)` gives it too, and such
// a client still reads its response.

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kernel/base/error.hpp"
#include "kernel/base/fd.hpp"
#include "supervisor/http/exchange.hpp"
#include "supervisor/http/parser.hpp"
#include "supervisor/http/response.hpp"
#include "supervisor/http/server_config.hpp"
#include "supervisor/loop/poll.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/loop/uv_handle.hpp"

namespace paddock::supervisor {

class Connection {
 public:
  class Owner {
   public:
    virtual void handle(HttpRequest request, Exchange exchange) = 0;
    // The last call. The connection must live on to the next turn of the loop: it may be in the
    // middle of one of its functions.
    virtual void closed(Connection& connection) = 0;

   protected:
    ~Owner() = default;
  };

  // Takes over an accepted `socket`. `config` and `owner` outlive the connection. Fails with io
  // when descriptors have run out.
  static kernel::Result<std::unique_ptr<Connection>> create(uv_loop_t* loop, UvSocket socket,
                                                            SocketKind kind,
                                                            const ServerConfig& config,
                                                            Owner& owner);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  // Answers with an error whatever the client sends, and closes.
  void refuse(const HttpError& error);
  // Closes when the request in progress is answered; at once if there is none.
  void finish();
  // Closes now. An exchange in progress hears that its client is gone.
  void close();

  // For Exchange.
  void respond(const Response& response);
  void begin_stream(const StreamHead& head);
  WriteResult write(std::string_view bytes);
  void end();
  void abort();
  void set_on_drained(std::function<void()> on_drained);
  void set_on_client_gone(std::function<void()> on_client_gone);

 private:
  enum class Phase { reading, responding, streaming, flushing, lingering, closed };
  struct PendingWrite;

  Connection(uv_loop_t* loop, UvSocket socket, const ServerConfig& config, Owner& owner);

  void resume_reading();
  void suspend_reading();
  void receive(std::string_view bytes);
  void receive_end();
  void advance();
  void dispatch();
  void watch_request_time();
  void request_time_is_up();
  void watch_for_hang_up();

  void enqueue(std::string bytes);
  std::size_t queued_bytes() const;
  void wrote(int status);
  void watch_write_progress();
  void check_write_progress();

  void finish_exchange();
  void settle();
  void linger();

  static void on_alloc(uv_handle_t* handle, std::size_t suggested, uv_buf_t* buffer);
  static void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer);
  static void on_write(uv_write_t* request, int status);

  const ServerConfig& config_;
  Owner& owner_;
  std::shared_ptr<const Peer> peer_;
  Phase phase_ = Phase::reading;

  UvSocket socket_;
  kernel::Fd hang_up_fd_;          // a duplicate: one loop watches a descriptor only once
  std::unique_ptr<Poll> hang_up_;  // declared after its descriptor, so it stops watching first

  // Receiving.
  std::array<char, 16384> read_buffer_{};
  std::string input_;  // received and not parsed yet: at most one read, less the request it ended
  RequestParser parser_;
  bool is_reading_ = false;
  bool is_advancing_ = false;
  bool request_time_runs_ = false;
  Timer read_timer_;  // idle, request or linger time, by phase

  // The exchange in progress. Resetting the pointer makes every Exchange stale.
  std::shared_ptr<Connection*> exchange_;
  std::function<void()> on_drained_;
  std::function<void()> on_client_gone_;
  std::string method_;
  HttpVersion version_ = HttpVersion::http_1_1;
  StreamFraming stream_framing_ = StreamFraming::chunked;

  // Sending.
  bool close_when_flushed_ = false;
  bool request_was_cut_short_ = false;  // then the client may still be sending it
  bool is_over_high_water_ = false;
  std::size_t total_enqueued_bytes_ = 0;
  std::size_t written_at_mark_bytes_ = 0;  // when the write timer was last started
  std::size_t queued_at_mark_bytes_ = 0;
  Timer write_timer_;
};

}  // namespace paddock::supervisor
