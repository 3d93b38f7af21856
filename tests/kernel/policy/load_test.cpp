// load_catalog: directories, permissions, and what one file says about another.

#include "kernel/policy/load.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

std::vector<std::string> lines_of(const LoadResult& result) {
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : result.diagnostics) lines.push_back(to_string(diagnostic));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a catalog holds the profiles and agents of its directories") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  const std::string agents = scratch.directory("agents");
  scratch.file("profiles/a.toml", "name = \"A\"\n");
  scratch.file("profiles/b.toml", "name = \"B\"\n");
  scratch.file("profiles/notes.txt", "not TOML at all [");
  scratch.file("profiles/.a.toml", "nor this [");
  scratch.file("agents/x.toml", "name = \"x\"\nprofile = \"A\"\ncommand = [\"true\"]\n");
  const LoadResult result = load_catalog({profiles}, {agents});
  CHECK(lines_of(result) == Lines{});
  CHECK(result.ok());
  REQUIRE(result.catalog.profiles.size() == 2);
  CHECK(result.catalog.profiles.at("A").source == profiles + "/a.toml");
  CHECK(result.catalog.agents.at("x").command == Lines{"true"});
}

TEST_CASE("a later directory overrides an earlier one by name") {
  const ScratchDirectory scratch;
  const std::string shipped = scratch.directory("shipped");
  const std::string own = scratch.directory("own");
  scratch.file("shipped/a.toml", "name = \"A\"\nlimits.nproc = 1\n");
  scratch.file("shipped/b.toml", "name = \"B\"\nlimits.nproc = 1\n");
  scratch.file("own/mine.toml", "name = \"A\"\nlimits.nproc = 2\n");
  const LoadResult result = load_catalog({shipped, own}, {});
  REQUIRE(result.ok());
  CHECK(result.catalog.profiles.at("A").limits.nproc == 2);
  CHECK(result.catalog.profiles.at("B").limits.nproc == 1);
}

TEST_CASE("the same name twice in one directory is a mistake that names both places") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  scratch.file("profiles/a.toml", "name = \"A\"\n");
  scratch.file("profiles/b.toml", "# copy\nname = \"A\"\n");
  CHECK(lines_of(load_catalog({profiles}, {})) ==
        Lines{profiles + "/b.toml:2:8: name 'A' is already used at " + profiles + "/a.toml:1"});
}

TEST_CASE("all mistakes of all files come at once, by directory and name") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  const std::string agents = scratch.directory("agents");
  scratch.file("profiles/a.toml", "name = \"A\"\n[limits]\nnproc = 0\nnofile = 0\n");
  scratch.file("profiles/b.toml", "name = \n");
  scratch.file("agents/x.toml", "name = \"x\"\nprofile = \"A\"\n");
  const Lines lines = lines_of(load_catalog({profiles}, {agents}));
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].find(profiles + "/a.toml:3:9: nproc is 0") == 0);
  CHECK(lines[1].find(profiles + "/a.toml:4:10: nofile is 0") == 0);
  CHECK(lines[2].find(profiles + "/b.toml:1:") == 0);
  CHECK(lines[3].find(agents + "/x.toml:1:1: command is missing") == 0);
}

TEST_CASE("an agent of an unknown profile is a mistake that names the nearest") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  const std::string agents = scratch.directory("agents");
  scratch.file("profiles/a.toml", "name = \"STRICT\"\n");
  scratch.file("agents/x.toml", "name = \"x\"\nprofile = \"STRIKT\"\ncommand = [\"true\"]\n");
  scratch.file("agents/y.toml", "name = \"y\"\nprofile = \"other\"\ncommand = [\"true\"]\n");
  CHECK(lines_of(load_catalog({profiles}, {agents})) ==
        Lines{
            agents + "/x.toml:2:11: unknown profile 'STRIKT'; did you mean 'STRICT'?",
            agents + "/y.toml:2:11: unknown profile 'other'; known are 'STRICT'",
        });
}

TEST_CASE("a broken profile is one mistake, and its agents are not a second") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  const std::string agents = scratch.directory("agents");
  scratch.file("agents/x.toml", "name = \"x\"\nprofile = \"A\"\ncommand = [\"true\"]\n");
  scratch.file("profiles/a.toml", "name = \"A\"\nnproc = 1\n");
  CHECK(load_catalog({profiles}, {agents}).diagnostics.size() == 1);
  scratch.file("profiles/a.toml", "name = \"A\"\n[[[\n");
  CHECK(load_catalog({profiles}, {agents}).diagnostics.size() == 1);
}

TEST_CASE("an agent that cannot run under its profile is a mistake") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  const std::string agents = scratch.directory("agents");
  scratch.file("profiles/a.toml", "name = \"A\"\n");
  scratch.file("agents/x.toml",
               "name = \"x\"\nprofile = \"A\"\ncommand = [\"true\"]\nworkdir = \"/nope\"\n");
  CHECK(lines_of(load_catalog({profiles}, {agents})) ==
        Lines{agents + "/x.toml:2:11: under profile 'A': workdir '/nope' is not a directory"});
}

TEST_CASE("a missing directory, or a file in its place, is a mistake") {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("file", "");
  CHECK(lines_of(load_catalog({scratch.path() + "/nope"}, {file})) ==
        Lines{
            scratch.path() + "/nope: directory cannot be opened: No such file or directory",
            file + ": directory cannot be opened: Not a directory",
        });
}

TEST_CASE("a directory that others may write is not read") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  scratch.file("profiles/a.toml", "name = \"A\"\n");
  for (const unsigned mode : {0777u, 0775u, 0757u}) {
    ScratchDirectory::set_mode(profiles, mode);
    const LoadResult result = load_catalog({profiles}, {});
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(result.diagnostics[0].file == profiles);
    CHECK(result.diagnostics[0].message.find("directory may be written by others") == 0);
    CHECK(result.catalog.profiles.empty());
  }
}

TEST_CASE("a file that others may write is not read, the rest of the directory is") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  const std::string file = scratch.file("profiles/a.toml", "name = \"A\"\n");
  scratch.file("profiles/b.toml", "name = \"B\"\nnproc = 1\n");
  ScratchDirectory::set_mode(file, 0666);
  const Lines lines = lines_of(load_catalog({profiles}, {}));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == file + ": may be written by others than its owner (mode 0666); chmod go-w it");
}

TEST_CASE("the file at the end of a symbolic link is the one that is judged") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  const std::string target = scratch.file("target", "name = \"A\"\n");
  std::filesystem::create_symlink(target, profiles + "/a.toml");
  CHECK(load_catalog({profiles}, {}).catalog.profiles.count("A") == 1);
  ScratchDirectory::set_mode(target, 0602);
  CHECK(load_catalog({profiles}, {}).diagnostics.size() == 1);
}

TEST_CASE("a file that belongs to another user is not read") {
  // Only root can give a file away; an ordinary user has no such file to test with.
  if (::geteuid() != 0) return;
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  const std::string file = scratch.file("profiles/a.toml", "name = \"A\"\n");
  REQUIRE(::chown(file.c_str(), 12345, 12345) == 0);
  CHECK(lines_of(load_catalog({profiles}, {})) ==
        Lines{file + ": belongs to uid 12345, neither to root nor to this process's user"});
  REQUIRE(::chown(profiles.c_str(), 12345, 12345) == 0);
  CHECK(lines_of(load_catalog({profiles}, {})).front().find(profiles + ": directory belongs") == 0);
}

TEST_CASE("what is no regular file, or too large, is a mistake and not a hang") {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  REQUIRE(::mkfifo((profiles + "/a.toml").c_str(), 0600) == 0);
  scratch.directory("profiles/b.toml");
  std::filesystem::create_symlink("/nonexistent", profiles + "/c.toml");
  scratch.file("profiles/d.toml", std::string((1u << 20) + 1, '#'));
  scratch.file("profiles/e.toml", "name = \"E\"\n" + std::string((1u << 20) - 11, '#'));
  CHECK(lines_of(load_catalog({profiles}, {})) ==
        Lines{
            profiles + "/a.toml: is not a regular file",
            profiles + "/b.toml: is not a regular file",
            profiles + "/c.toml: cannot be opened: No such file or directory",
            profiles + "/d.toml: is larger than 1048576 bytes",
        });
}
