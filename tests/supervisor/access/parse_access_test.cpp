#include "supervisor/access/parse_access.hpp"

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

AccessContext sample_context() {
  AccessContext context;
  context.daemon_uid = 990;
  context.host_uids = {.first = 60578, .count = 606};
  context.profiles = std::set<std::string>{"DEFAULT", "STRICT", "SEALED"};
  context.uid_named = [](const std::string& name) -> kernel::Result<uid_t> {
    if (name == "alice") return uid_t{1001};
    return kernel::fail(kernel::ErrorCode::not_found, "there is no user '" + name + "'");
  };
  context.gid_named = [](const std::string& name) -> kernel::Result<gid_t> {
    if (name == "rl") return gid_t{2001};
    if (name == "strangers") return gid_t{2002};
    if (name == "runs") return gid_t{60600};
    return kernel::fail(kernel::ErrorCode::not_found, "there is no group '" + name + "'");
  };
  context.may_give_to = [](gid_t group) { return group != 2002; };
  return context;
}

struct Parsed {
  AccessRules rules;
  std::vector<std::string> mistakes;  // "line:column: message"
};

Parsed parse(const std::string& text, const AccessContext& context = sample_context()) {
  Parsed parsed;
  std::vector<kernel::Diagnostic> diagnostics;
  parsed.rules = parse_access(text, "access.toml", context, diagnostics);
  for (const auto& diagnostic : diagnostics) {
    CHECK(diagnostic.file == "access.toml");
    parsed.mistakes.push_back(std::to_string(diagnostic.line) + ":" +
                              std::to_string(diagnostic.column) + ": " + diagnostic.message);
  }
  return parsed;
}

using Mistakes = std::vector<std::string>;

// A tenant that is right but for `line`, its sixth.
Mistakes mistakes_of_line(const std::string& line, const std::string& without = "") {
  std::string text = "[[tenant]]\n";
  for (const std::string kept :
       {"name = \"a\"", "uids = [1000]", "verbs = [\"run\"]", "gids = [5]"})
    text += (kept.starts_with(without + " ") ? "" : kept) + "\n";
  return parse(text + line + "\n").mistakes;
}

}  // namespace

TEST_CASE("a whole file becomes rules, with numbers in place of names") {
  const Parsed parsed = parse(R"(socket_group = "rl"

[[tenant]]
name     = "research"
class    = "internal"
uids     = [1000, "alice"]
gids     = ["rl", 77]
verbs    = ["run", "read", "kill", "agent", "budget", "verify", "operate"]
profiles = ["STRICT", "SEALED"]
sees     = "all"
runs_alive   = 16
runs_queued  = 128
queued_bytes = "1MiB"

[[tenant]]
name  = "guests"
uids  = [1002]
verbs = ["read"]
sees  = "own"
)");
  CHECK(parsed.mistakes == Mistakes{});
  CHECK(parsed.rules.socket_group == gid_t{2001});
  REQUIRE(parsed.rules.tenants.size() == 2);
  CHECK(parsed.rules.tenants[0] == Tenant{.name = "research",
                                          .metrics_class = "internal",
                                          .uids = {1000, 1001},
                                          .gids = {2001, 77},
                                          .verbs = all_verbs(),
                                          .profiles = std::set<std::string>{"STRICT", "SEALED"},
                                          .sees = Sees::all,
                                          .alive_max = 16,
                                          .queued_max = 128,
                                          .queued_bytes_max = 1u << 20});
  CHECK(parsed.rules.tenants[1] == Tenant{.name = "guests",
                                          .metrics_class = "default",
                                          .uids = {1002},
                                          .gids = {},
                                          .verbs = {Verb::read},
                                          .profiles = std::nullopt,
                                          .sees = Sees::own,
                                          .alive_max = std::nullopt,
                                          .queued_max = std::nullopt,
                                          .queued_bytes_max = std::nullopt});
}

TEST_CASE("an empty file lets in nobody but the operator") {
  CHECK(parse("").mistakes == Mistakes{});
  CHECK(parse("").rules == AccessRules{});
}

TEST_CASE("every mistake is named with its place, all of them at once") {
  CHECK(parse(R"(socket_grup = "rl"
[[tenant]]
name = "a b"
uids = [1000, "bob", 0, 990, 60578, -1, 4294967295, 1.5]
verb = ["run"]

[[tenant]]
name = "b"
uids = [1001, 1001, "nobody-here"]
verbs = ["run", "reed"]
profiles = ["STRIKT"]
sees = "everything"
runs_alive = 0
)")
            .mistakes ==
        Mistakes{
            "1:1: unknown key 'socket_grup' at the top level; did you mean 'socket_group'?",
            "2:1: verbs is missing: what the tenant may do, of 'run', 'read', 'kill', 'agent', "
            "'budget', 'verify', 'operate'",
            "3:8: name 'a b' is not of the form [A-Za-z0-9_-]{1,64}",
            "4:37: uids[5] is negative",
            "4:53: uids[7] must be a number or a name, not a fraction",
            "5:1: unknown key 'verb' in [[tenant]]; did you mean 'verbs'?",
            "9:15: uid 1001 is already listed for tenant 'b'",
            "9:21: there is no user 'nobody-here'",
            "10:17: unknown verb 'reed'; did you mean 'read'?",
            "11:13: unknown profile 'STRIKT'; did you mean 'STRICT'?",
            "12:8: sees is 'everything'; known are 'own', 'all'",
            "13:14: runs_alive is 0, at least 1; leave it out for the default",
        });
}

TEST_CASE("the uids of the operator, of runs, and those that are none are no tenant's") {
  const auto mistakes = [](const std::string& uid) {
    return mistakes_of_line("uids = [" + uid + "]", "uids");
  };
  CHECK(mistakes("1") == Mistakes{});
  CHECK(mistakes("0") == Mistakes{"6:9: uid 0 is the operator's, who may do everything already"});
  CHECK(mistakes("990") ==
        Mistakes{"6:9: uid 990 is the operator's, who may do everything already"});
  CHECK(mistakes("60577") == Mistakes{});
  CHECK(mistakes("60578") == Mistakes{"6:9: uid 60578 is one of those for runs (60578-61183): no "
                                      "run may ask for anything"});
  CHECK(mistakes("61183").size() == 1);
  CHECK(mistakes("61184") == Mistakes{});
  CHECK(mistakes("4294967294") == Mistakes{});
  CHECK(mistakes("4294967295") == Mistakes{"6:9: uids: 4294967295 is more than 4294967294"});
  CHECK(mistakes("\"bob\"") == Mistakes{"6:9: there is no user 'bob'"});
  CHECK(mistakes("").front() == "6:8: uids is empty; leave it out");
  CHECK(mistakes_of_line("gids = [60578]", "gids").size() == 1);
  CHECK(mistakes_of_line("gids = [0]", "gids") == Mistakes{});
}

TEST_CASE("a uid, a group and a name belong to one tenant, however they are written") {
  CHECK(parse(R"([[tenant]]
name  = "a"
uids  = ["alice"]
gids  = ["rl"]
verbs = []
[[tenant]]
name  = "a"
uids  = [1001]
gids  = [2001]
verbs = []
[[tenant]]
name  = "c"
uids  = [2001]
verbs = []
)")
            .mistakes == Mistakes{"7:9: name 'a' is already used at line 2",
                                  "8:10: uid 1001 is already listed for tenant 'a'",
                                  "9:10: gid 2001 is already listed for tenant 'a'"});
  CHECK(parse("[[tenant]]\nname=\"a\"\nuids=[7]\nverbs=[]\n"
              "[[tenant]]\nname=\"b\"\nuids=[7]\nverbs=[]\n")
            .mistakes == Mistakes{"7:7: uid 7 is already of tenant 'a'"});
}

TEST_CASE("what a tenant cannot be without is asked for") {
  CHECK(mistakes_of_line("") == Mistakes{});
  CHECK(mistakes_of_line("", "name") == Mistakes{"1:1: name is missing"});
  CHECK(mistakes_of_line("", "verbs").size() == 1);
  CHECK(mistakes_of_line("", "uids") == Mistakes{});  // it has a group
  CHECK(parse("[[tenant]]\nname = \"a\"\nverbs = []\n").mistakes ==
        Mistakes{"1:1: a tenant needs uids or gids: nobody is it otherwise"});
  CHECK(mistakes_of_line("class = \"a b\"") ==
        Mistakes{"6:9: class 'a b' is not of the form [A-Za-z0-9_-]{1,64}"});
}

TEST_CASE("tenants are a list of tables, and nothing else is taken for one") {
  CHECK(parse("tenant = 1\n").mistakes ==
        Mistakes{"1:10: tenant must be a list of tables, [[tenant]], not an integer"});
  CHECK(parse("[tenant]\nname = \"a\"\n").mistakes.front() ==
        "1:1: tenant must be a list of tables, [[tenant]], not a table");
  CHECK(parse("tenant = [1, 2]\n").mistakes.size() == 1);
  CHECK(parse("[[tenants]]\nname = \"a\"\n").mistakes ==
        Mistakes{"1:3: unknown key 'tenants' at the top level; did you mean 'tenant'?"});
  CHECK(parse("[[tenant]]\nname = \"a\"\nuids = [1]\nverbs = []\n"
              "[\"tenant[0]\"]\nverbs = [\"operate\"]\n")
            .mistakes ==
        Mistakes{"5:2: unknown table 'tenant[0]' at the top level; did you mean 'tenant'?"});
  CHECK(parse("x = [").mistakes.size() == 1);
}

TEST_CASE("the sockets' group is one that this daemon can give them, and none of the runs'") {
  CHECK(parse("socket_group = \"nobody-here\"\n").mistakes ==
        Mistakes{"1:16: there is no group 'nobody-here'"});
  CHECK(parse("socket_group = \"runs\"\n").mistakes ==
        Mistakes{"1:16: group 'runs' is one of those for runs"});
  CHECK(parse("socket_group = \"strangers\"\n").mistakes ==
        Mistakes{"1:16: the daemon's user is no member of group 'strangers', and so cannot give "
                 "the sockets to it"});
  CHECK(parse("socket_group = 5\n").mistakes.size() == 1);
}

TEST_CASE("of profiles that could not be read nothing is said") {
  AccessContext context = sample_context();
  context.profiles.reset();
  const Parsed parsed =
      parse("[[tenant]]\nname = \"a\"\nuids = [1]\nverbs = []\nprofiles = [\"ANY\"]\n", context);
  CHECK(parsed.mistakes == Mistakes{});
  CHECK(parsed.rules.tenants[0].profiles == std::set<std::string>{"ANY"});
}

TEST_CASE("the host's own user database is asked, and a name that it lacks is none") {
  const AccessContext context = host_access_context({});
  CHECK(context.uid_named("root") == kernel::Result<uid_t>(uid_t{0}));
  CHECK(context.gid_named("root") == kernel::Result<gid_t>(gid_t{0}));
  const auto nobody = context.uid_named("no-such-user-here");
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().message == "there is no user 'no-such-user-here'");
  CHECK_FALSE(context.gid_named("no-such-group-here"));
  CHECK(context.may_give_to(::getegid()));
}

TEST_CASE("a verb has one name, and a name one verb") {
  CHECK(all_verbs().size() == 7);
  for (const Verb verb : all_verbs()) CHECK(verb_named(name_of(verb)) == verb);
  for (const char* name : {"", "Run", "write", "read "}) CHECK_FALSE(verb_named(name));
}
