// Budgets: looked at, and granted more.

#include "supervisor/api/api.hpp"
#include "supervisor/api/json.hpp"

namespace paddock::supervisor {

void get_budget(const ApiContext& context, const Call& call) {
  if (!find_agent(context, call)) return;
  const Budget* budget = context.budgets.find(call.id);
  respond_json(call.exchange, 200, budget_to_json(call.id, budget == nullptr ? Budget() : *budget));
}

void grant_budget(const ApiContext& context, const Call& call) {
  const auto agent = find_agent(context, call);
  if (!agent) return;
  const auto grant = parse_grant_request(call.request.body);
  if (!grant) return respond_error(call.exchange, grant.error());
  context.budgets.grant(*agent, grant->dimension, grant->amount,
                        [&context, call](const kernel::Result<void>& granted) {
                          if (!granted) return respond_error(call.exchange, granted.error());
                          respond_json(call.exchange, 200,
                                       budget_to_json(call.id, *context.budgets.find(call.id)));
                        });
}

}  // namespace paddock::supervisor
