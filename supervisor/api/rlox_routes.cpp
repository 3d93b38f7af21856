// The front door of rlox's clients.

#include <chrono>
#include <string>
#include <utility>

#include "supervisor/api/json.hpp"
#include "supervisor/api/run_code.hpp"
#include "supervisor/api/verify_admission.hpp"
#include "supervisor/doors/rlox.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Error;
using kernel::ErrorCode;

// Its client takes every answer without a reward for a reward of 0; but one that looks sees that it
// is none.
void refuse_rlox(const Exchange& exchange, const Error& error) {
  if (is_callers(error.code) || error.code == ErrorCode::too_busy)
    return respond_error(exchange, error);
  exchange.respond({.status = 503,
                    .content_type = "application/json",
                    .body = error_to_json(error),
                    .headers = {{"Retry-After", "1"}}});
}

}  // namespace

void post_rlox_verify(const ApiContext& context, const Call& call) {
  const auto arrived_at = kernel::Clock::now();
  auto verify = rlox::parse(call.request.body, door_profile(context, call));
  if (!verify) return respond_error(call.exchange, verify.error());
  auto batch = admit_batch(context, call.caller, std::move(verify->request));
  if (!batch) return refuse_rlox(call.exchange, batch.error());
  const auto submitted = context.verifier.submit(
      std::move(*batch),
      {.on_answer =
           [exchange = call.exchange, is_adversarial = verify->is_adversarial, arrived_at](
               std::size_t, const ItemAnswer& answer, const std::string&) {
             if (const auto fault = rlox::fault_of(answer)) return refuse_rlox(exchange, *fault);
             respond_json(exchange, 200,
                          rlox::render(answer, is_adversarial, kernel::Clock::now() - arrived_at));
           },
       .on_group = [](const GroupAnswer&) {},
       .on_end = [] {},
       .on_failure = [exchange =
                          call.exchange](const Error& error) { refuse_rlox(exchange, error); }});
  if (!submitted) return refuse_rlox(call.exchange, submitted.error());
  call.exchange.on_client_gone(
      [&verifier = context.verifier, id = *submitted] { verifier.cancel(id); });
}

}  // namespace paddock::supervisor
