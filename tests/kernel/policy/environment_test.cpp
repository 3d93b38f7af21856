#include "kernel/policy/environment.hpp"

#include "support/catch.hpp"

using namespace paddock::kernel;

TEST_CASE("variables that load code into other programs are loader-hijack names") {
  const auto name = GENERATE(
      "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_ANYTHING_NEW", "DYLD_INSERT_LIBRARIES",
      "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "PYTHONUSERBASE",
      "NODE_OPTIONS", "NODE_PATH", "BASH_ENV", "ENV", "BASH_FUNC_ls%%", "PERL5OPT", "PERL5LIB",
      "PERLLIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
      "CLASSPATH", "GCONV_PATH", "GLIBC_TUNABLES", "MALLOC_TRACE", "NLSPATH", "HOSTALIASES",
      "RESOLV_HOST_CONF", "GETCONF_DIR", "IFS", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND",
      "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "GIT_CONFIG_COUNT");
  INFO(name);
  CHECK(is_loader_hijack(name));
  const auto checked = check_environment_name("request.environment", name);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == ErrorCode::sandbox_policy_error);
  CHECK(checked.error().message.find(std::string("request.environment names '") + name + "'") == 0);
}

TEST_CASE("ordinary settings are not loader-hijack names") {
  const auto name =
      GENERATE("LANG", "LC_ALL", "LOCPATH", "TZ", "TERM", "PATH", "HOME", "TMPDIR", "PAGER",
               "GIT_PAGER", "GIT_AUTHOR_NAME", "NODE_ENV", "PYTHONUNBUFFERED", "PYTHONHASHSEED",
               "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS", "ENVIRONMENT", "OLD_PWD", "ld_preload",
               "JAVA_HOME", "OPENAI_API_KEY");
  INFO(name);
  CHECK(check_environment_name("allow", name));
}

TEST_CASE("a name that cannot be one is refused") {
  using namespace std::string_literals;
  CHECK(check_environment_name("allow", "").error().message == "allow has an empty name");
  CHECK(check_environment_name("allow", "A=B").error().message ==
        "allow has the name 'A=B', which contains '='");
  CHECK(check_environment_name("allow", "A\0B"s).error().message ==
        "allow has a name that contains a NUL byte");
}
