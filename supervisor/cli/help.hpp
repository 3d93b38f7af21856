#pragma once
// The texts of --help: what each command is for, and an example to start from.

namespace paddock::supervisor::cli::help {

constexpr const char* about =
    "Runs programs that you do not trust, each inside a profile of limits and isolation.";
constexpr const char* footer = R"(Examples:
  paddock run --profile STRICT -c 'print(6 * 7)'     a Python program, no network, no files
  paddock run --profile STRICT --report -- make      a command, and a report of its end
  paddock doctor                                     what this host can isolate
  paddock run --help                                 more about one command

Exit codes: 0 the run succeeded; 2 it ran and failed, or was killed or timed out;
3 the host cannot give the isolation asked for, and nothing ran; 1 any other error.)";

constexpr const char* run =
    "Run a program under a profile, with the daemon or, where none runs, without one.";
constexpr const char* run_footer = R"(Its stdin, stdout and stderr are passed through as they come.

Examples:
  paddock run --profile STRICT -c 'print(6 * 7)'
  paddock run --profile STRICT --wall 10 --memory-mb 256 -- sh -c 'sort | uniq -c' < words
  paddock run --profile STRICT --bind-ro /srv/data --report -- ls -l /srv/data
  echo 'print(open("/etc/passwd").read())' | paddock run --agent python
  paddock run --json -- false                  the record: cause, times, what confined it
  paddock run --dry-run -- true                what would be done, and nothing is started
  paddock run --profile STRICT --warm -c 'print(6 * 7)'  sooner, if the daemon has an interpreter

A profile can be tightened here, not loosened. With a daemon, --bind-ro, --bind-rw, --network and
--env give what the profile's [requests] and [environment] grant; without one you are the operator,
and they are granted.

Exit codes: 0 it succeeded; 2 it failed, or was killed or timed out; 3 the host cannot give the
isolation asked for, and nothing ran; 1 any other error. With --exit-status: the program's own,
128+n for signal n, 124 for the time limit, 126 or 127 if it cannot be executed.)";

constexpr const char* ps = "List the daemon's runs.";
constexpr const char* ps_footer = R"(Examples:
  paddock ps             those that wait or run
  paddock ps --all       finished ones too, with the cause of their end)";

constexpr const char* kill = "End runs of the daemon: SIGTERM, the profile's grace, SIGKILL.";
constexpr const char* kill_footer = R"(Example:
  paddock kill r-0123456789abcdef)";

constexpr const char* profile = "Look at profiles.";
constexpr const char* profile_footer = R"(Examples:
  paddock profile list
  paddock profile show STRICT
  paddock profile check /etc/paddock/profiles)";

constexpr const char* profile_list = "List the profiles.";
constexpr const char* profile_list_footer = R"(Example:
  paddock profile list)";

constexpr const char* profile_show = "Print a profile, and the file that it comes from.";
constexpr const char* profile_show_footer = R"(Example:
  paddock profile show STRICT)";

constexpr const char* profile_check = "Check profiles: every mistake as file:line:column: message.";
constexpr const char* profile_check_footer = R"(Exits with 1 if there is a mistake.

Examples:
  paddock profile check mine.toml
  paddock profile check /etc/paddock/profiles
  paddock profile check                        all profiles and agents that would be loaded)";

constexpr const char* policy =
    "Print the exact confinement that a profile and the options give, and start nothing.";
constexpr const char* policy_footer = R"(Examples:
  paddock policy --profile STRICT
  paddock policy --profile STRICT --bind-ro /srv/data --wall 10 -- make test)";

constexpr const char* reload =
    "Make the daemon read its profiles, agents, languages and access.toml again.";
constexpr const char* reload_footer =
    R"(All or nothing: after a mistake the daemon keeps what it had.

Example:
  paddock profile check && paddock reload)";

constexpr const char* recover =
    "After a daemon was killed: end what is left of its runs, and give each its outcome.";
constexpr const char* recover_footer =
    R"(A daemon does the same when it starts; this is for when none shall. Twice is the same as once.
It is refused while a daemon has the ledger.

Examples:
  paddock recover
  paddock recover --config /etc/paddock/paddockd.toml --json

Exit codes: 0 it is done, or nothing was to be done; 1 something could not be killed, or any other
error.)";

constexpr const char* drain =
    "Let the daemon's runs finish and take no new ones; it stays up until it is stopped.";
constexpr const char* drain_footer =
    R"(Waits until no run is left, and says how many finished and how many were ended at the deadline
(SIGTERM, the profile's grace, SIGKILL). Interrupting the command does not end the drain.

Examples:
  paddock drain                     the daemon's own drain_seconds
  paddock drain --deadline 10m && systemctl stop paddockd
  paddock drain --cancel            takes runs again)";

constexpr const char* explain =
    "Tell why a run ended as it did: the limit, what was observed, what to change.";
constexpr const char* explain_footer =
    R"(Asks the daemon. Where none is named and none runs, or with --embedded, it reads the ledger of the
default state directory; paddock ledger show --state-dir DIR reads another.

Examples:
  paddock explain r-0123456789abcdef
  paddock explain r-0123456789abcdef --json)";

constexpr const char* top = "Show the daemon's runs and agents, again and again.";
constexpr const char* top_footer = R"(q ends it. Without a terminal it prints once.

Examples:
  paddock top
  paddock top --once)";

constexpr const char* events = "Print what has happened, from the ledger: one JSON object a line.";
constexpr const char* events_footer = R"(Examples:
  paddock events --limit 20
  paddock events -f --kind run.finished
  paddock events -f --after 1042       goes on where it was left)";

constexpr const char* verify =
    "Judge code by its tests, each candidate in a sandbox of its own, and print the rewards.";
constexpr const char* verify_footer =
    R"(Each line of the input is one item: its id, the code, the tests (rfcs/0010). With a daemon, or
where none runs, with one of its own for as long as it takes. The summary goes to stderr.

Examples:
  paddock verify items.jsonl
  paddock verify items.jsonl --json > answers.jsonl
  generate | paddock verify - --stream --all-or-nothing

An item: {"id": "a", "code": "def f(x): return x + 1",
          "tests": {"kind": "call", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]}}

Exit codes: 0 each item has a verdict, pass or fail; 2 at least one is invalid: no number, and the
cause says why; 3 the host cannot give the isolation asked for; 1 any other error.)";

constexpr const char* doctor =
    "Tell what this host can enforce, by trying what each profile forbids.";
constexpr const char* doctor_footer =
    R"(Under each profile a run tries to get out and past its limits. What is missing is named,
with its cause and the way to mend it. Of a daemon it tells what that found when it started or
reloaded.

Examples:
  paddock doctor
  paddock doctor --profile NODE && echo 'Node is isolated here exactly as the profile says'
  paddock doctor --json

Exit codes: 0 the profile that --profile names is enforced here as it is written; 3 it is refused, a
probe got through, or it runs without something that it asks for "if" the host has it (the text says
which); 1 any other error.)";

constexpr const char* ledger = "Look at the record of all runs, with a daemon or without one.";
constexpr const char* ledger_footer = R"(Examples:
  paddock ledger verify
  paddock ledger show r-0123456789abcdef)";

constexpr const char* ledger_verify = "Check that the ledger has not been edited since.";
constexpr const char* ledger_verify_footer =
    R"(Recomputes the chain of all events and compares every row with them. Names the first thing
that does not fit. Who can write the file can also cut off its end and recompute the rest: note the
head that this prints somewhere else, and give it with --head the next time.

Examples:
  paddock ledger verify
  paddock ledger verify --file /backup/ledger.db
  paddock ledger verify --config /etc/paddock/paddockd.toml
  paddock ledger verify --head 1042:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

Of a daemon that --socket or PADDOCK_SOCKET names, name the ledger too: --state-dir, --config or
--file.

Exit codes: 0 it is whole, or empty; 2 it has been edited, or the head is not in it; 1 it cannot be
read, or any other error.)";

constexpr const char* ledger_show = "Print a run as the ledger has it, with its events.";
constexpr const char* ledger_show_footer = R"(Examples:
  paddock ledger show r-0123456789abcdef
  paddock ledger show r-0123456789abcdef --json --file /backup/ledger.db)";

constexpr const char* agent = "Long-running agents: the daemon keeps them alive.";
constexpr const char* agent_footer = R"(Any template of an agents directory can be started.

Examples:
  paddock agent start heartbeat
  paddock agent logs heartbeat -f
  paddock agent stop heartbeat)";

constexpr const char* budget = "What agents may use, and have used.";
constexpr const char* budget_footer =
    R"(An agent whose budget is spent is frozen until it is granted more.

Examples:
  paddock budget show
  paddock budget grant heartbeat beats 1000)";

constexpr const char* budget_show = "Show the budget of an agent, or of all.";
constexpr const char* budget_show_footer = R"(Example:
  paddock budget show heartbeat)";

constexpr const char* budget_grant = "Grant an agent more of one dimension.";
constexpr const char* budget_grant_footer = R"(It goes on if nothing else of its budget is spent.

Example:
  paddock budget grant heartbeat beats 1000)";

constexpr const char* key = "Keys that verdicts are signed with.";
constexpr const char* key_footer =
    R"(With its key a trainer finds out whether a verdict is the daemon's and about what it asked.
A tenant without a key gets verdicts without a code.

Examples:
  paddock key new research > trainer.key
  paddock key show-id research)";

constexpr const char* key_new = "Make a tenant's first key, and print it: this once.";
constexpr const char* key_new_footer =
    R"(A key that is there is not replaced. What is printed is 64 hexadecimal digits; keep them from others:
who has them can sign verdicts.

Example:
  (umask 077; paddock key new research > trainer.key)

Exit codes: 0; 1 there is a key already, or any other error.)";

constexpr const char* key_rotate = "Make a tenant's key, and replace the one that there is.";
constexpr const char* key_rotate_footer =
    R"(Verdicts from now on have the new one's key_id. It is printed this once.

Example:
  (umask 077; paddock key rotate research > trainer.key))";

constexpr const char* key_show_id = "Print the id of a tenant's key, as verdicts have it.";
constexpr const char* key_show_id_footer = R"(Example:
  paddock key show-id research

Exit codes: 0; 1 it has no key, or any other error.)";

constexpr const char* agent_list = "List the templates, and what becomes of each.";
constexpr const char* agent_list_footer = R"(Example:
  paddock agent list)";

constexpr const char* agent_status = "Tell what an agent does, and how its last run ended.";
constexpr const char* agent_status_footer = R"(Example:
  paddock agent status heartbeat

Exit codes: 0; 2 it has failed and is not started again; 1 any other error.)";

constexpr const char* agent_start = "Start an agent, and again after each restart of the daemon.";
constexpr const char* agent_start_footer = R"(Example:
  paddock agent start heartbeat

Exit codes: 0 it runs, or is tried again; 2 it has failed; 1 any other error.)";

constexpr const char* agent_stop = "Stop an agent: its stop message, SIGTERM, SIGKILL.";
constexpr const char* agent_stop_footer = R"(It stays stopped until somebody starts it.

Example:
  paddock agent stop heartbeat)";

constexpr const char* agent_restart = "Stop an agent and start it, with its template as it is now.";
constexpr const char* agent_restart_footer = R"(Example:
  paddock reload && paddock agent restart heartbeat)";

constexpr const char* agent_logs = "Print what an agent wrote.";
constexpr const char* agent_logs_footer = R"(Examples:
  paddock agent logs heartbeat -n 20
  paddock agent logs heartbeat -f
  paddock agent logs heartbeat --json | jq .text)";

}  // namespace paddock::supervisor::cli::help
