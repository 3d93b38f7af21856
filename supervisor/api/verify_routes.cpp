// POST /v1/verify: one answer when all items have theirs, or each as it comes.

#include <fmt/format.h>

#include <memory>

#include "supervisor/api/api.hpp"
#include "supervisor/api/verify_admission.hpp"
#include "supervisor/verify/parse_items.hpp"

namespace paddock::supervisor {
namespace {

// `json` is an object on one line.
std::string event_line(std::string_view event, std::string_view json) {
  std::string line = "{\"event\":\"";
  line += event;
  line += "\",";
  line += json.substr(1);
  line += '\n';
  return line;
}

// A stream has no such bound: there each answer is sent when it comes.
constexpr std::size_t collected_bytes_max = 64u << 20;

struct Collected {
  std::vector<std::string> answers;  // in the order of the request
  std::string groups;
  std::size_t bytes = 0;  // of all answers; beyond the bound they are counted and not kept
};

std::string body_of(const Collected& collected) {
  std::string body = "{\"items\":[";
  for (std::size_t i = 0; i < collected.answers.size(); ++i) {
    if (i > 0) body += ',';
    body += collected.answers[i];
  }
  body += "],\"groups\":[";
  body += collected.groups;
  body += "]}";
  return body;
}

kernel::Error too_large(const Collected& collected) {
  return {kernel::ErrorCode::invalid_request,
          fmt::format("the answers have {} bytes, and at most {} come at once: ask for them with "
                      "\"stream\": true; under the same request_id nothing runs again",
                      collected.bytes, collected_bytes_max)};
}

BatchObserver answer_when_all_have_ended(const Exchange& exchange, std::size_t items) {
  const auto collected = std::make_shared<Collected>();
  collected->answers.resize(items);
  return {.on_answer =
              [collected](std::size_t index, const ItemAnswer&, const std::string& json) {
                collected->bytes += json.size();
                if (collected->bytes <= collected_bytes_max) collected->answers[index] = json;
              },
          .on_group =
              [collected](const GroupAnswer& group) {
                if (!collected->groups.empty()) collected->groups += ',';
                collected->groups += group_to_json(group);
              },
          .on_end =
              [exchange, collected] {
                if (collected->bytes > collected_bytes_max)
                  return respond_error(exchange, too_large(*collected));
                respond_json(exchange, 200, body_of(*collected));
              },
          .on_failure = [exchange](const kernel::Error& error) { respond_error(exchange, error); }};
}

// A client that does not read what it has gets no more items started for it.
class AnswerStream {
 public:
  AnswerStream(Verifier& verifier, Exchange exchange)
      : verifier_(verifier), exchange_(std::move(exchange)) {}

  void set_batch(Verifier::BatchId batch) { batch_ = batch; }

  void write(const std::string& line) {
    begin();
    if (exchange_.write(line) == WriteResult::full) verifier_.pause(batch_, true);
  }
  void end(std::size_t items) {
    write("{\"event\":\"end\",\"items\":" + std::to_string(items) + "}\n");
    exchange_.end();
  }
  void fail(const kernel::Error& error) { respond_error(exchange_, error); }

 private:
  void begin() {
    if (std::exchange(has_begun_, true)) return;
    exchange_.begin_stream({.status = 200, .content_type = "application/x-ndjson", .headers = {}});
    exchange_.on_drained([&verifier = verifier_, batch = batch_] { verifier.pause(batch, false); });
  }

  Verifier& verifier_;
  Exchange exchange_;
  Verifier::BatchId batch_ = 0;
  bool has_begun_ = false;
};

BatchObserver answer_one_by_one(const std::shared_ptr<AnswerStream>& stream, std::size_t items) {
  return {.on_answer = [stream](
                           std::size_t, const ItemAnswer&,
                           const std::string& json) { stream->write(event_line("verdict", json)); },
          .on_group =
              [stream](const GroupAnswer& group) {
                stream->write(event_line("group", group_to_json(group)));
              },
          .on_end = [stream, items] { stream->end(items); },
          .on_failure = [stream](const kernel::Error& error) { stream->fail(error); }};
}

}  // namespace

void post_verify(const ApiContext& context, const Call& call) {
  auto request = parse_items(call.request.body);
  if (!request) return respond_error(call.exchange, request.error());
  const bool is_streamed = request->stream;
  auto batch = admit_batch(context, call.caller, std::move(*request));
  if (!batch) return respond_error(call.exchange, batch.error());
  const std::size_t items = batch->items.size();
  const auto stream = std::make_shared<AnswerStream>(context.verifier, call.exchange);
  const auto id = context.verifier.submit(
      std::move(*batch), is_streamed ? answer_one_by_one(stream, items)
                                     : answer_when_all_have_ended(call.exchange, items));
  if (!id) return respond_error(call.exchange, id.error());
  stream->set_batch(*id);
  call.exchange.on_client_gone([&verifier = context.verifier, id = *id] { verifier.cancel(id); });
}

}  // namespace paddock::supervisor
