// `paddock policy`: the exact confinement that a command line would get.

#include "supervisor/cli/backend.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/policy_text.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;

Result<std::string> policy(const Options& options) {
  const auto backend = TRY(open_backend(options.global));
  RequestOptions asked = options.request;
  // The question is about the confinement; any program will do.
  if (asked.argv.empty() && asked.agent.empty()) asked.argv = {"true"};
  const kernel::Request request = TRY(make_request(*backend, asked));
  std::string plan = TRY(backend->plan(request));
  return options.json ? plan : policy_text(plan);
}

}  // namespace

int policy_command(const Options& options) {
  return end_with(policy(options));
}

}  // namespace paddock::supervisor::cli
