#include "supervisor/daemon/daemon.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "kernel/confine/privilege.hpp"
#include "kernel/run/strays.hpp"
#include "supervisor/agents/agent_events.hpp"
#include "supervisor/agents/budget_events.hpp"
#include "supervisor/api/canary_run.hpp"
#include "supervisor/api/errors.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/config/paths.hpp"
#include "supervisor/config/private_directory.hpp"
#include "supervisor/ledger/file_names.hpp"
#include "supervisor/recovery/recover.hpp"
#include "supervisor/telemetry/log.hpp"
#include "supervisor/warm/zygote_name.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Result;
using std::chrono::milliseconds;

constexpr std::size_t descriptors_per_run =
    14;  // pipes, pidfds, control, the files of a step; and memory files at start
constexpr std::size_t descriptors_per_connection = 2;
constexpr std::size_t descriptors_per_item = 2;
constexpr std::size_t descriptors_besides = 128;

// Enough descriptors for every limit at once, as far as the hard limit allows.
void raise_descriptor_limit(const DaemonConfig& config) {
  // An item of a verify request has a judge beside the slots, and the ends of their channel. A run
  // that waits may have its files in a memory file.
  const std::size_t needed =
      (config.runs.alive_max + config.verify.items_alive + finding_max + config.zygotes_max) *
          descriptors_per_run +
      config.verify.items_alive * descriptors_per_item + config.runs.queued_max +
      config.connections_max * descriptors_per_connection + descriptors_besides;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < needed)
    log(LogLevel::warning, "limit.open_files",
        fmt::format("the limit on open files is {}, and {} would be needed for {} runs and {} "
                    "connections at once; raise LimitNOFILE",
                    limit.rlim_cur, needed, config.runs.alive_max, config.connections_max),
        {{"limit", log_count(limit.rlim_cur)}, {"needed", log_count(needed)}});
}

ServerConfig server_config(const DaemonConfig& config) {
  ServerConfig server;
  server.connections_max = config.connections_max;
  server.parser.body_bytes_max = config.body_bytes_max;
  server.error_response = [](const HttpError& error) {
    const bool is_stranger = error.status == 401 || error.status == 421;  // on TCP
    Response response{.status = error.status,
                      .content_type = "application/json",
                      .body = error_to_json({is_stranger ? kernel::ErrorCode::forbidden
                                                         : kernel::ErrorCode::invalid_request,
                                             error.message}),
                      .headers = {}};
    if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  };
  return server;
}

// The path that a listening Unix socket is bound to.
std::string bound_path(int fd) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return {address.sun_path, ::strnlen(address.sun_path, sizeof address.sun_path)};
}

// Without a symbolic link: none is followed to what a run sees.
std::string real_path(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  return error ? path : real;
}

// Each live run of a root's daemon takes a host uid, a candidate and its judge one each.
void keep_to_host_uids(DaemonConfig& config) {
  if (::geteuid() != 0) return;
  config.verify.items_alive =
      std::min<std::size_t>(config.verify.items_alive, std::max(1u, config.host_uids.count / 2));
  if (config.runs.alive_max <= config.host_uids.count) return;
  log(LogLevel::warning, "limit.host_uids",
      fmt::format("runs_alive is {}, and there are {} host_uids: no more runs than that at once",
                  config.runs.alive_max, config.host_uids.count),
      {{"runs_alive", log_count(config.runs.alive_max)},
       {"host_uids", log_count(config.host_uids.count)}});
  config.runs.alive_max = config.host_uids.count;
}

// So does each zygote, and its forks have its own. Runs come first: nobody may be out of uids for
// one.
void settle_zygotes(DaemonConfig& config) {
  if (config.zygotes_max == 0) config.zygotes_max = zygotes_for(config.verify.items_alive);
  if (::geteuid() != 0) return;
  const std::size_t uids = config.host_uids.count;
  const std::size_t taken =
      std::min(uids, config.runs.alive_max + config.verify.items_alive + finding_max);
  config.zygotes_max = std::min(config.zygotes_max, uids - taken);
}

void log_recovery(const RecoveryReport& report) {
  if (const std::string summary = summary_of(report); !summary.empty())
    log(report.problem.empty() ? LogLevel::warning : LogLevel::error,
        report.problem.empty() ? "recovery.done" : "recovery.unrecorded", "recovery: " + summary);
}

// Before anything is served: what the last daemon left is ended and has its outcome.
Result<std::unique_ptr<Ledger>> open_ledger(uv_loop_t* loop, const DaemonConfig& config,
                                            const kernel::Sandbox& sandbox) {
  const std::string path = ledger_path(config.state_directory);
  const RecoveryOptions options{.ledger = path,
                                .runtime_directory = config.runtime_directory,
                                .cgroup_base = sandbox.cgroup().base,
                                .reach = {.host_uids = config.host_uids}};
  auto writer = LedgerWriter::open(path, config.ledger_sync);
  if (!writer) {
    log_recovery(TRY(recover_without_writing(writer.error(), options)));
    return tl::unexpected<kernel::Error>(writer.error());
  }
  RecoveryReport report = TRY(recover(*writer, options));
  log_recovery(report);
  auto ledger = TRY(Ledger::start(loop, path, std::move(*writer), config.ledger));
  for (Transition& outcome : report.unrecorded)
    ledger->commit(std::move(outcome), IfUnwritten::keep, {});
  return ledger;
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::create(DaemonConfig config, ServiceManager services) {
  auto loop = TRY(EventLoop::create());
  TRY_VOID(ensure_state_directory(config.state_directory));
  config.state_directory = real_path(config.state_directory);
  keep_to_host_uids(config);
  settle_zygotes(config);
  raise_descriptor_limit(config);
  kernel::become_subreaper();
  kernel::Sandbox sandbox = TRY(
      kernel::Sandbox::open({.cgroup_base = config.cgroup_base, .host_uids = config.host_uids}));
  TRY_VOID(kernel::keep_only_needed_capabilities());
  std::unique_ptr<Ledger> ledger = TRY(open_ledger(loop->get(), config, sandbox));

  LedgerReader reader = TRY(LedgerReader::open(ledger_path(config.state_directory)));
  std::vector<AgentRow> known_agents = TRY(reader.agents());
  const std::vector<BudgetRow> known_budgets = TRY(reader.budgets());
  auto disk_worker = TRY(Worker::create(loop->get(), "paddockd-disk"));

  std::unique_ptr<Daemon> daemon(new Daemon(std::move(config), std::move(services), std::move(loop),
                                            std::move(sandbox), std::move(ledger),
                                            std::move(disk_worker)));
  daemon->known_agents_ = std::move(known_agents);
  daemon->budgets_.restore(known_budgets);
  daemon->agents_.keep_uids();
  // Signals come before readiness: a reload may follow it at once.
  TRY_VOID(daemon->handle_signals());
  // Profiles are read once, here: a bad one must stop the daemon, not the third request.
  TRY_VOID(daemon->load_config());
  TRY_VOID(daemon->listen());
  // Whoever connects meanwhile waits: nothing is accepted before serve().
  TRY_VOID(daemon->examine());
  return daemon;
}

Daemon::Daemon(DaemonConfig config, ServiceManager services, std::unique_ptr<EventLoop> loop,
               kernel::Sandbox sandbox, std::unique_ptr<Ledger> ledger,
               std::unique_ptr<Worker> disk_worker)
    : config_(std::move(config)),
      services_(std::move(services)),
      loop_(std::move(loop)),
      sandbox_(std::move(sandbox)),
      ledger_(std::move(ledger)),
      last_words_{*ledger_},
      config_store_(CatalogStore(config_.profile_directories, config_.agent_directories),
                    config_.access_file, default_access_files(), config_.host_uids,
                    config_.runtime_directories, config_.tcp ? config_.tcp->token_file : ""),
      health_(sandbox_),
      events_(loop_->get(), *ledger_),
      metrics_(PADDOCK_VERSION),
      recorder_(*ledger_,
                [this](const std::string& kind, auto took) {
                  metrics_.ledger_committed(took);
                  if (kind == agent_restarting_event) metrics_.agent_restarted();
                  if (kind == budget_breached_event) metrics_.budget_breached();
                }),
      loop_lag_(loop_->get()),
      keys_(config_.state_directory),
      disk_worker_(std::move(disk_worker)),
      budgets_({.loop = loop_->get(),
                .runs = runs_,
                .recorder = recorder_,
                .on_spent = [this](const std::string& agent) { agents_.budget_spent(agent); },
                .on_granted = [this](const std::string& agent) { agents_.budget_granted(agent); }}),
      agents_({.loop = loop_->get(),
               .sandbox = sandbox_,
               .runs = runs_,
               .recorder = recorder_,
               .catalog = config_store_.catalogs(),
               .health = health_,
               .disk_worker = *disk_worker_,
               .state_directory = config_.state_directory,
               .accountant = &budgets_}),
      run_metrics_(metrics_,
                   [this](const std::string& tenant) {
                     return metrics_class_of(config_store_.access(), tenant);
                   }),
      warm_(warm_parts(), {.zygotes_max = config_.zygotes_max,
                           .starting_max = std::max(1u, std::thread::hardware_concurrency()),
                           .slots = config_.verify.items_alive}),
      runs_(loop_->get(), sandbox_, recorder_, config_.runs, &run_metrics_, &warm_),
      verifier_({.loop = loop_->get(),
                 .runs = runs_,
                 .recorder = recorder_,
                 .look_up = look_up_in(*ledger_),
                 .key_of = [this](const std::string& tenant) { return keys_.find(tenant); },
                 .on_verdict =
                     [this](const ItemAnswer& answer) {
                       metrics_.verdict_given(name_of(answer.verdict), answer.cause);
                     }},
                config_.verify),
      history_(*ledger_),
      gold_items_(loop_->get(), runs_,
                  [this](const std::string& profile) {
                    return gold_items_under(profile, config_store_.catalog(), verify_wishes_);
                  }),
      canary_(
          loop_->get(), runs_, [this] { return ledger_->problem(); },
          [this] { return canary_run(config_store_.catalog(), sandbox_, health_.refusals()); },
          &gold_items_),
      versions_(runs_,
                [this](const Runtime& runtime, const std::vector<std::string>& command) {
                  return version_run(runtime, command, config_store_.catalog(), sandbox_,
                                     health_.refusals());
                }),
      api_({.loop = loop_->get(),
            .sandbox = sandbox_,
            .runs = runs_,
            .history = history_,
            .config_store = config_store_,
            .health = health_,
            .agents = agents_,
            .budgets = budgets_,
            .known_uids = {.daemon = ::geteuid(), .runs = config_.host_uids},
            .tcp = tcp_,
            .versions = versions_,
            .on_reload = [this](const auto& diagnostics) { report_reload(diagnostics); },
            .events = events_,
            .open_streams = open_streams_,
            .metrics = metrics_,
            .metrics_now = [this] { return metrics_now(); },
            .canary = canary_,
            .ledger_failure = [this] { return ledger_->failure(); },
            .drain_deadline = config_.drain,
            .on_drain = [this](std::string_view step) { report_drain(step); },
            .verifier = verifier_,
            .warm = warm_,
            .verify_wishes = verify_wishes_,
            .keys = keys_,
            .disk_worker = *disk_worker_,
            .on_key = [this](const auto& tenant, const auto& key,
                             auto if_present) { report_key(tenant, key, if_present); }}),
      watchdog_timer_(loop_->get()),
      farewell_timer_(loop_->get()) {}

// Zygotes and their forks go first: to the run table what it has not started are strays.
Daemon::~Daemon() {
  warm_.abandon();
}

Daemon::LastWords::~LastWords() {
  if (const auto finished = ledger.finish(); !finished)
    log(LogLevel::error, "ledger.unwritten", finished.error().message);
}

WarmPool::Parts Daemon::warm_parts() {
  return {.loop = loop_->get(),
          .sandbox = sandbox_,
          .tag = zygote_tag(ledger_path(config_.state_directory)),
          .on_start = [this](const std::string& runtime,
                             bool warm) { metrics_.warm_start(runtime, warm); },
          .on_end = [this](const std::string& runtime,
                           std::string_view end) { metrics_.zygote_ended(runtime, end); },
          .on_failure =
              [](const std::string& runtime, const std::string& why) {
                log(LogLevel::warning, "warm.failed", fmt::format("warm {}: {}", runtime, why),
                    {{"runtime", runtime}, {"problem", why}});
              }};
}

Result<void> Daemon::handle_signals() {
  TRY_VOID(loop_->handle_signal(SIGHUP, [this] { reload(); }));
  TRY_VOID(loop_->handle_signal(SIGTERM, [this] { shut_down(); }));
  TRY_VOID(loop_->handle_signal(SIGINT, [this] { shut_down(); }));
  return {};
}

// ---- Sockets -----------------------------------------------------------------------------------

Result<Listener> Daemon::listener(const std::string& path, const std::string& name,
                                  std::vector<PassedSocket>& passed) {
  const auto matching = std::find_if(passed.begin(), passed.end(), [&](const PassedSocket& socket) {
    return bound_path(socket.fd.get()).ends_with("/" + name);
  });
  if (matching == passed.end()) return bind_listener(path, socket_group_);
  kernel::Fd fd = std::move(matching->fd);
  passed.erase(matching);
  // What the unit file says of a group is less than what access.toml does.
  if (socket_group_) TRY_VOID(open_socket_to(bound_path(fd.get()), socket_group_));
  return adopt_listener(std::move(fd));
}

Result<void> Daemon::listen() {
  socket_group_ = config_store_.access().socket_group;
  TRY_VOID(ensure_runtime_directory(config_.runtime_directory, socket_group_));
  std::vector<PassedSocket> passed = services_.take_sockets();
  Listener main_listener =
      TRY(listener(main_socket_path(config_.runtime_directory), "paddock.sock", passed));
  Listener trainer_listener =
      TRY(listener(trainer_socket_path(config_.runtime_directory), "trainer.sock", passed));
  for (const PassedSocket& socket : passed)
    log(LogLevel::warning, "socket.ignored",
        "the service manager passed a socket '" + socket.name +
            "' that is neither paddock.sock nor trainer.sock, ignoring it",
        {{"name", socket.name}});
  main_server_ = TRY(Server::start(loop_->get(), std::move(main_listener), server_config(config_),
                                   [this](HttpRequest request, Exchange exchange) {
                                     api_.handle(std::move(request), exchange);
                                   }));
  trainer_server_ =
      TRY(Server::start(loop_->get(), std::move(trainer_listener), server_config(config_),
                        [this](HttpRequest request, Exchange exchange) {
                          api_.handle_trainer(std::move(request), exchange);
                        }));
  return config_.tcp ? listen_on_tcp() : Result<void>();
}

Result<void> Daemon::listen_on_tcp() {
  const TcpConfig& tcp = *config_.tcp;
  tcp_.tenant = tcp.tenant;
  tcp_.profile = tcp.profile;
  TRY_VOID(tcp_caller(tcp_, config_store_.access(), {}).map([](const Caller&) {}));
  if (!config_store_.catalog().profiles.contains(tcp.profile))
    return kernel::fail(
        kernel::ErrorCode::unknown_profile,
        "[tcp] " + unknown_name("profile", tcp.profile, config_store_.catalog().profiles));
  Listener listener = TRY(bind_loopback(tcp.listen));
  const LoopbackAddress address = address_of(listener);
  tcp_.port = address.port;
  ServerConfig server = server_config(config_);
  server.parser.check_head = [this](const HttpRequest& head) { return refusal_of(tcp_, head); };
  tcp_server_ = TRY(Server::start(loop_->get(), std::move(listener), std::move(server),
                                  [this](HttpRequest request, Exchange exchange) {
                                    api_.handle_trainer(std::move(request), exchange);
                                  }));
  log(LogLevel::info, "daemon.listening_tcp",
      fmt::format("listening on {} for tenant '{}' under profile {}", to_string(address),
                  tcp.tenant, tcp.profile),
      {{"address", to_string(address)}, {"tenant", tcp.tenant}, {"profile", tcp.profile}});
  return {};
}

// ---- Life --------------------------------------------------------------------------------------

void Daemon::serve() {
  const std::string socket = main_socket_path(config_.runtime_directory);
  const std::size_t profiles = config_store_.catalog().profiles.size();
  const std::size_t agents = config_store_.catalog().agents.size();
  log(LogLevel::info, "daemon.listening",
      fmt::format("listening on {} with {} profiles and {} agents", socket, profiles, agents),
      {{"socket", socket}, {"profiles", log_count(profiles)}, {"agents", log_count(agents)}});
  if (!sandbox_.cgroup().problem.empty())
    log(LogLevel::warning, "host.no_cgroup", "cgroups: " + sandbox_.cgroup().problem);
  services_.ready(status());
  feed_watchdog();
  agents_.start_wanted(std::exchange(known_agents_, {}));
  loop_lag_.start();
  ledger_->on_turn([this] { report_ledger(); });
  if (!ledger_->failure().empty()) report_ledger();
  loop_->run();
  // What is left to do takes a moment, and one more signal must not cut it short.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&stop_signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
}

// The first signal drains, the second kills what still runs, a third leaves it to the end of the
// process, where everything is killed.
void Daemon::shut_down() {
  switch (++stop_signals_) {
    case 1:
      log(LogLevel::info, "daemon.stopping",
          fmt::format("draining: {} runs alive, {} queued; at most {} ms", runs_.alive(),
                      runs_.queued(), config_.drain.count()),
          {{"alive", log_count(runs_.alive())}, {"queued", log_count(runs_.queued())}});
      services_.stopping("draining");
      agents_.drain();
      verifier_.drain();
      warm_.renew();
      runs_.drain(config_.drain, DrainUntil::end_of_daemon,
                  [this](const DrainResult&) { drained(); });
      return;
    case 2:
      log(LogLevel::info, "daemon.killing", fmt::format("killing {} runs", runs_.alive()),
          {{"alive", log_count(runs_.alive())}});
      runs_.kill_all(kernel::Cause::shutdown);
      return;
    default:
      loop_->stop();
  }
}

// Outcomes are on their way to their clients: they get a moment to read them.
void Daemon::drained() {
  warm_.close();
  // Thousands of verdicts may be on their way through the ledger; who is done ends it sooner.
  constexpr milliseconds farewell{10'000};
  std::vector<Server*> servers = {main_server_.get(), trainer_server_.get()};
  if (tcp_server_) servers.push_back(tcp_server_.get());
  // What is answered last is still sent.
  const auto open = std::make_shared<std::size_t>(servers.size());
  for (Server* server : servers) {
    server->stop_accepting([this, open] {
      if (--*open == 0) loop_->stop();
    });
  }
  farewell_timer_.start(farewell, [this] { loop_->stop(); });
}

// From the loop itself, so that a stuck loop is noticed.
void Daemon::feed_watchdog() {
  const auto interval = services_.watchdog_interval();
  if (!interval || stop_signals_ > 0) return;
  services_.watchdog();
  watchdog_timer_.start(std::chrono::duration_cast<milliseconds>(*interval / 3),
                        [this] { feed_watchdog(); });
}

}  // namespace paddock::supervisor
