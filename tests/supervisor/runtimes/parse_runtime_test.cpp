#include "supervisor/runtimes/parse_runtime.hpp"

#include "kernel/policy/scratch_directory.hpp"
#include "supervisor/runtimes/warm_wish.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::Diagnostic;

namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::vector<Diagnostic>& diagnostics) {
  Lines lines;
  for (const Diagnostic& diagnostic : diagnostics) lines.push_back(to_string(diagnostic));
  return lines;
}

Lines mistakes(std::string_view text) {
  std::vector<Diagnostic> diagnostics;
  const auto runtime = parse_runtime(text, "r.toml", diagnostics);
  CHECK(runtime.has_value() == diagnostics.empty());
  return lines_of(diagnostics);
}

constexpr std::string_view minimal = "name = \"x\"\nsource = \"m\"\n[run]\ncommand = [\"x\"]\n";

struct Loaded {
  Runtimes runtimes;
  Lines mistakes;
};

Loaded load(const std::vector<std::string>& directories,
            const std::map<std::string, kernel::Profile>* profiles = nullptr) {
  std::vector<Diagnostic> diagnostics;
  Loaded loaded;
  loaded.runtimes = load_runtimes(directories, profiles, diagnostics);
  loaded.mistakes = lines_of(diagnostics);
  return loaded;
}

std::string runtime_text(const std::string& name, const std::string& more = "") {
  return "name = \"" + name + "\"\nsource = \"m\"\n" + more + "\n[run]\ncommand = [\"x\"]\n";
}

}  // namespace

TEST_CASE("a runtime has every key where the operator wrote it") {
  std::vector<Diagnostic> diagnostics;
  const auto runtime = parse_runtime(R"(
name = "cpp"
aliases = ["c++", "g++"]
source = "src/main.cpp"
profile = "STRICT"
[compile]
command = ["g++", "src/main.cpp"]
artifact = "a.out"
wall_seconds = 1.5
[run]
command = ["./a.out", ""]
[version]
command = ["g++", "--version"]
)",
                                     "r.toml", diagnostics);
  REQUIRE(runtime);
  Runtime expected;
  expected.name = "cpp";
  expected.aliases = {"c++", "g++"};
  expected.source = "src/main.cpp";
  expected.profile = "STRICT";
  expected.compile = CompileStep{.command = {"g++", "src/main.cpp"},
                                 .artifact = "a.out",
                                 .wall_clock = std::chrono::milliseconds(1500)};
  expected.run = {"./a.out", ""};
  expected.version = {"g++", "--version"};
  expected.file = "r.toml";
  CHECK(*runtime == expected);
  CHECK(mistakes(minimal).empty());
}

TEST_CASE("a runtime needs a name, a source and a command") {
  CHECK(mistakes("") ==
        Lines{"r.toml:1:1: name is missing",
              "r.toml:1:1: source is missing: what the code is called in the workspace",
              "r.toml:1:1: [run] command is missing: write [\"program\", \"argument\"]"});
  CHECK(mistakes("name = \"x\"\nsource = \"m\"\n[compile]\n[run]\n[version]\n") ==
        Lines{"r.toml:3:1: [compile] command is missing: write [\"program\", \"argument\"]",
              "r.toml:3:1: [compile] artifact is missing: the file that is the result",
              "r.toml:4:1: [run] command is missing: write [\"program\", \"argument\"]",
              "r.toml:5:1: [version] command is missing: write [\"program\", \"argument\"]"});
}

TEST_CASE("all mistakes of a runtime come at once, each with its place") {
  const Lines lines = mistakes(R"(name = "a/b"
aliases = ["ok", "not ok", "ok"]
source = "../main"
profle = "STRICT"
[compile]
command = []
artifact = "/bin/sh"
wall_seconds = "soon"
[run]
command = [""]
)");
  REQUIRE(lines.size() == 10);
  CHECK(lines[0] == "r.toml:1:8: name 'a/b' is not of the form [A-Za-z0-9_-]{1,64}");
  CHECK(lines[1] == "r.toml:2:12: alias 'ok' is there twice");
  CHECK(lines[2] == "r.toml:2:18: alias 'not ok' is not of the form [A-Za-z0-9_+#.-]{1,64}");
  CHECK(lines[3] == "r.toml:2:28: alias 'ok' is there twice");
  CHECK(lines[4] == "r.toml:3:10: source: the file name '../main' has '.' or '..' as a part");
  CHECK(lines[5] == "r.toml:4:1: unknown key 'profle' at the top level; did you mean 'profile'?");
  CHECK(lines[6] == "r.toml:6:11: command names no program");
  CHECK(lines[7] == "r.toml:7:12: artifact: the file name '/bin/sh' is not relative");
}

TEST_CASE("the artifact of a runtime is not its source") {
  CHECK(mistakes("name = \"x\"\nsource = \"m\"\n[compile]\ncommand = [\"x\"]\nartifact = \"m\"\n"
                 "[run]\ncommand = [\"x\"]\n") ==
        Lines{"r.toml:5:12: artifact 'm' is the source itself"});
}

TEST_CASE("what is no TOML is one mistake with its place") {
  const Lines lines = mistakes("name = \n");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("r.toml:1:"));
}

TEST_CASE("a later directory's runtime takes the place of an earlier one's") {
  const ScratchDirectory scratch;
  const std::string first = scratch.directory("first");
  const std::string second = scratch.directory("second");
  scratch.file("first/a.toml", runtime_text("a", "aliases = [\"one\"]"));
  scratch.file("first/b.toml", runtime_text("b"));
  scratch.file("second/a.toml", runtime_text("a", "aliases = [\"two\"]"));
  const Loaded loaded = load({first, second});
  CHECK(loaded.mistakes.empty());
  REQUIRE(loaded.runtimes.size() == 2);
  REQUIRE(find_runtime(loaded.runtimes, "two") != nullptr);
  CHECK(find_runtime(loaded.runtimes, "two")->name == "a");
  CHECK(find_runtime(loaded.runtimes, "b")->name == "b");
  CHECK(find_runtime(loaded.runtimes, "one") == nullptr);
}

TEST_CASE("a word that two runtimes claim is a mistake") {
  const ScratchDirectory scratch;
  const std::string directory = scratch.directory("r");
  scratch.file("r/1.toml", runtime_text("a", "aliases = [\"word\", \"b\"]"));
  scratch.file("r/2.toml", runtime_text("b", "aliases = [\"word\"]"));
  scratch.file("r/3.toml", runtime_text("b"));
  CHECK(load({directory}).mistakes ==
        Lines{directory + "/3.toml:1:8: name 'b' is already used at " + directory + "/2.toml:1",
              directory + "/1.toml:3:20: alias 'b' is that of runtime 'b'"});
}

TEST_CASE("a runtime's profile must be there") {
  const ScratchDirectory scratch;
  const std::string directory = scratch.directory("r");
  scratch.file("r/a.toml", runtime_text("a", "profile = \"STRIC\""));
  const std::map<std::string, kernel::Profile> profiles = {{"STRICT", {}}};
  CHECK(load({directory}, &profiles).mistakes ==
        Lines{directory + "/a.toml:3:11: unknown profile 'STRIC'; did you mean 'STRICT'?"});
  CHECK(load({directory}).mistakes.empty());
}

TEST_CASE("a directory of runtimes that is not there is a mistake") {
  CHECK(load({"/nonexistent/runtimes"}).mistakes.size() == 1);
}

TEST_CASE("the shipped runtimes are without a mistake") {
  const Loaded loaded = load({PADDOCK_RUNTIMES});
  CHECK(loaded.mistakes.empty());
  CHECK(loaded.runtimes.size() == 5);
  for (const char* word : {"python", "python3", "bash", "c", "cpp", "c++", "nodejs", "javascript"})
    CHECK(find_runtime(loaded.runtimes, word) != nullptr);
  CHECK(find_runtime(loaded.runtimes, "cobol") == nullptr);
}

TEST_CASE("what to install is one line for people") {
  std::vector<Diagnostic> diagnostics;
  const std::string text = "install = \"apt-get install x\"\n" + std::string(minimal);
  const auto runtime = parse_runtime(text, "r.toml", diagnostics);
  REQUIRE(runtime);
  CHECK(runtime->install == "apt-get install x");
  for (const char* wrong : {"install = \"\"\n", "install = \"a\\nb\"\n"})
    CHECK(mistakes(wrong + std::string(minimal)) ==
          Lines{"r.toml:1:11: install must be one line of 1 to 256 bytes"});
}

TEST_CASE("a runtime's [warm] has every key where the operator wrote it, or its default") {
  std::vector<Diagnostic> diagnostics;
  const std::string text = runtime_text("py") + "[warm]\ninterpreter = [\"python3\", \"-I\"]\n";
  const auto sparse = parse_runtime(text, "r.toml", diagnostics);
  REQUIRE(sparse);
  REQUIRE(sparse->warm);
  CHECK(sparse->warm->runtime == "py");
  CHECK(sparse->warm->program.interpreter == Lines{"python3", "-I"});
  CHECK(sparse->warm->program.modules == default_warm_modules());
  CHECK(sparse->warm->program.programs.empty());
  CHECK(sparse->warm->limits == ZygoteLimits{});
  const auto full = parse_runtime(text +
                                      "modules = [\"os.path\", \"_json\"]\nzygotes = 3\n"
                                      "idle = \"90s\"\nmemory = \"64MiB\"\nruns = 7\n",
                                  "r.toml", diagnostics);
  REQUIRE(full);
  CHECK(full->warm->program.modules == Lines{"os.path", "_json"});
  CHECK(full->warm->limits ==
        ZygoteLimits{
            .zygotes = 3, .idle = std::chrono::seconds(90), .memory_bytes = 64u << 20, .runs = 7});
  CHECK(parse_runtime(minimal, "r.toml", diagnostics)->warm == nullptr);
}

TEST_CASE("what stands where a table should be is told once, and not as something missing") {
  const std::string tail = "\n[run]\ncommand = [\"x\"]\n";
  for (const char* name : {"warm", "compile", "version"}) {
    INFO(name);
    const Lines one =
        mistakes("name = \"py\"\nsource = \"x\"\n" + std::string(name) + " = 3" + tail);
    REQUIRE(one.size() == 1);
    CHECK(one[0].find(std::string(name) + " must be a table, not") != std::string::npos);
  }
}

TEST_CASE("mistakes of a [warm] come with their places") {
  const std::string head = runtime_text("py") + "[warm]\n";  // line 6
  CHECK(mistakes(head) ==
        Lines{"r.toml:6:1: [warm] interpreter is missing: write the words before -c"});
  const Lines lines = mistakes(head + R"(interpreter = ["python3", "-c"]
modules = ["os", "no module", "a..b", "1a"]
zygotes = 1000
idle = "soon"
memory = "1MiB"
runs = 0
module = []
)");
  REQUIRE(lines.size() == 9);
  CHECK(lines[0] == "r.toml:7:15: interpreter has a -c, which comes with the code of each run");
  CHECK(lines[1] == "r.toml:8:18: 'no module' is not the name of a module");
  CHECK(lines[2] == "r.toml:8:31: 'a..b' is not the name of a module");
  CHECK(lines[3] == "r.toml:8:39: '1a' is not the name of a module");
  CHECK(lines[4] == "r.toml:9:11: zygotes 1000 is more than 256");
  CHECK(lines[5].starts_with("r.toml:10:8: "));
  CHECK(lines[6] == "r.toml:11:10: memory must be 16MiB or more");
  CHECK(lines[7].starts_with("r.toml:12:8: "));
  CHECK(lines[8].starts_with("r.toml:13:1: unknown key 'module'"));
  CHECK(mistakes(head + "interpreter = []\n") ==
        Lines{"r.toml:7:15: interpreter names no program"});
  const Lines unknown = mistakes(head + "interpreter = [\"python3\"]\nfoo = 1\n");
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].find("'modules'") != std::string::npos);
}

TEST_CASE("a command is a fork of the runtime whose interpreter it begins with") {
  std::vector<Diagnostic> diagnostics;
  Runtimes runtimes;
  runtimes["py"] = *parse_runtime(
      runtime_text("py") + "[warm]\ninterpreter = [\"python3\", \"-I\"]\n", "r.toml", diagnostics);
  runtimes["x"] = *parse_runtime(minimal, "r.toml", diagnostics);
  CHECK(warm_wish_for(runtimes, {"python3", "-I", "-c", "1"}) == runtimes["py"].warm);
  CHECK(warm_wish_for(runtimes, {"python3", "-I", "-c", "1", "more"}) == runtimes["py"].warm);
  for (const Lines& other : {Lines{"python3", "-c", "1"}, Lines{"python3", "-I", "-c"},
                             Lines{"python3", "-I", "x", "-c"}, Lines{"python3"}, Lines{}}) {
    const auto wish = warm_wish_for(runtimes, other);
    REQUIRE(wish);
    CHECK(wish->runtime == "none");
    CHECK_FALSE(wish->cold_because.empty());
  }
}

TEST_CASE("the shipped runtime of Python has the modules that are the default") {
  std::vector<Diagnostic> diagnostics;
  const Runtimes runtimes = load_runtimes({PADDOCK_RUNTIMES}, nullptr, diagnostics);
  REQUIRE(runtimes.contains("python"));
  REQUIRE(runtimes.at("python").warm);
  CHECK(runtimes.at("python").warm->program.modules == default_warm_modules());
  CHECK(runtimes.at("python").warm->limits == ZygoteLimits{});
}
