#include "escapes/runner/options.hpp"

#include <CLI/CLI.hpp>

namespace paddock::escapes {

std::optional<Options> parse_options(int argc, char** argv, int& exit_code) {
  Options options;
  CLI::App app(
      "Tries to escape from paddock's profiles. Each attempt first runs unconfined, where it must\n"
      "succeed, and then under each profile, where it must be stopped in the way that the profile\n"
      "promises. Harmless: attempts go for files and processes that paddock-escapes makes itself.");
  std::vector<std::string> profiles;
  app.add_option("--profile", profiles, "a profile to try; may be repeated (DEFAULT and STRICT)");
  app.add_option("--only", options.only, "only attempts that match this pattern: 'fs_*'");
  app.add_option("--cgroup-base", options.cgroup_base,
                 "cgroup v2 directory for the runs; found by itself if there is one; 'none'");
  app.add_flag("--warm", options.warm,
               "the runs are forks of a zygote; of profiles that use bubblewrap (STRICT)");
  app.add_flag("--json", options.json, "the results as JSON");
  app.add_flag("--list", options.list, "the names of the attempts, and nothing else");
  app.footer(
      "Exit status: 0 nothing escaped, 1 something did or a control failed, 2 usage or error,\n"
      "3 the host cannot give a profile.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  if (options.warm) options.profiles = {"STRICT"};
  if (!profiles.empty()) options.profiles = profiles;
  return options;
}

}  // namespace paddock::escapes
