// The feed: verdicts and groups, as a trainer reads them.

#include "supervisor/api/api.hpp"
#include "supervisor/verify/feed_line.hpp"
#include "supervisor/verify/verdict_transition.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

Result<std::string> kind_prefix(const HttpRequest& request) {
  const auto kind = request.query.find("kind");
  if (kind == request.query.end()) return std::string(feed_kind_prefix);
  if (kind->second == "verdict") return std::string(verdict_event);
  if (kind->second == "group") return std::string(group_event);
  return fail(ErrorCode::invalid_request, "kind: must be verdict or group");
}

Result<AdvantageKind> advantage_kind(const HttpRequest& request) {
  const auto name = request.query.find("advantages");
  if (name == request.query.end()) return AdvantageKind::grpo;
  if (const auto kind = advantage_kind_named(name->second)) return *kind;
  return fail(ErrorCode::invalid_request, "advantages: must be grpo, no_std or rloo");
}

}  // namespace

void get_feed(const ApiContext& context, const Call& call) {
  auto query = parse_stream_query(call.request);
  if (!query) return respond_error(call.exchange, query.error());
  auto prefix = kind_prefix(call.request);
  if (!prefix) return respond_error(call.exchange, prefix.error());
  query->kind_prefix = std::move(*prefix);
  const auto advantages = advantage_kind(call.request);
  if (!advantages) return respond_error(call.exchange, advantages.error());
  open_event_stream(
      context, call, std::move(*query), Verb::verify,
      [kind = *advantages](const StoredEvent& event) { return feed_line(event, kind); });
}

}  // namespace paddock::supervisor
