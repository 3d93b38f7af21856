// `paddock top`: asks, shows, waits, again.

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "kernel/policy/names.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/stop_signals.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/cli/top_screen.hpp"
#include "supervisor/cli/top_text.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;

constexpr int refresh_ms = 2'000;
constexpr std::size_t columns_without_terminal = 200;

Result<TopAnswers> ask_all(Client& client) {
  TopAnswers answers;
  answers.health = TRY(ask(client, "GET", "/health"));
  answers.runs = TRY(ask(client, "GET", "/v1/runs?state=running"));
  answers.agents = TRY(ask(client, "GET", "/v1/agents"));
  // A daemon that keeps no budget of an agent says so; that is no reason to show nothing.
  const std::vector<std::string> agents = TRY(agents_with_status(answers.agents));
  for (const std::string& agent : agents) {
    if (!kernel::is_name(agent)) continue;
    HttpResponse budget = TRY(client.request("GET", "/v1/agents/" + agent + "/budget"));
    if (budget.ok()) answers.budgets.push_back(std::move(budget.body));
  }
  return answers;
}

Result<int> show_once(Client& client) {
  const TopAnswers answers = TRY(ask_all(client));
  const std::string text =
      TRY(top_text(answers, {.columns = columns_without_terminal, .lines = 0}, std::time(nullptr)));
  return print(text) ? exit_success : exit_error;
}

// The screen is restored on each way out: signals only end the loop.
Result<int> show_live(Client& client) {
  StopSignals signals = TRY(StopSignals::install());
  const TopScreen screen = TRY(TopScreen::open());
  for (;;) {
    const TopAnswers answers = TRY(ask_all(client));
    const std::string text = TRY(top_text(answers, screen.room(), std::time(nullptr)));
    if (!screen.show(text)) return exit_error;
    pollfd polled[] = {{signals.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    if (::poll(polled, 2, refresh_ms) < 0 && errno != EINTR) return kernel::fail_errno("poll");
    if (signals.seen() > 0) return exit_success;
    if ((polled[1].revents & (POLLHUP | POLLERR)) != 0 || screen.wants_to_end())
      return exit_success;
  }
}

Result<int> top(const Options& options) {
  Client client = TRY(require_daemon(options.global, "top"));
  return options.once || !has_terminal() ? show_once(client) : show_live(client);
}

}  // namespace

int top_command(const Options& options) {
  return end_with(top(options));
}

}  // namespace paddock::supervisor::cli
