#include "kernel/policy/environment.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace paddock::kernel {
namespace {

using namespace std::string_view_literals;

// On the list: a variable by which a program that was not asked to loads a file as code, runs a
// command, or changes what its allocator and libraries check. Not on it: variables that choose
// among what is installed (PATH, LANG, TZ, TERM), that say where data is (TMPDIR, LOCPATH, TZDIR,
// SSL_CERT_FILE), or that name the pager and editor of a person at a terminal (PAGER, GIT_PAGER,
// EDITOR): agent runners set those to `cat` and `true` as a matter of course.

constexpr std::array hijack_prefixes{
    "LD_"sv,         // ld.so(8): LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH and what a later glibc adds
    "DYLD_"sv,       // the same for programs of other systems under emulation
    "BASH_FUNC_"sv,  // bash imports functions from it (CVE-2014-6271 was its parser)
    "MALLOC_"sv,     // glibc: MALLOC_TRACE writes a file, MALLOC_CHECK_ changes the allocator
    "GCONV_"sv,      // GCONV_PATH: iconv(3) loads shared objects from it
};

constexpr std::array hijack_names{
    // C library: what ld.so(8) drops for set-user-ID programs, besides the prefixes above
    "GLIBC_TUNABLES"sv,
    "HOSTALIASES"sv,
    "RESOLV_HOST_CONF"sv,
    "RES_OPTIONS"sv,
    "GETCONF_DIR"sv,
    "NLSPATH"sv,
    "LOCALDOMAIN"sv,
    "NIS_PATH"sv,
    // OpenSSL: its configuration and these directories name modules to load
    "OPENSSL_CONF"sv,
    "OPENSSL_ENGINES"sv,
    "OPENSSL_MODULES"sv,
    // shells: files that are sourced, words that are expanded or run
    "BASH_ENV"sv,
    "ENV"sv,
    "ZDOTDIR"sv,
    "FPATH"sv,
    "IFS"sv,
    "SHELLOPTS"sv,
    "BASHOPTS"sv,
    "BASH_LOADABLES_PATH"sv,
    "PS4"sv,
    "PROMPT_COMMAND"sv,
    // Python
    "PYTHONPATH"sv,
    "PYTHONSTARTUP"sv,
    "PYTHONHOME"sv,
    "PYTHONINSPECT"sv,
    "PYTHONUSERBASE"sv,
    "PYTHONBREAKPOINT"sv,
    "PYTHONPLATLIBDIR"sv,
    "PYTHONEXECUTABLE"sv,
    "PYTHONPYCACHEPREFIX"sv,
    "PYTEST_ADDOPTS"sv,
    "PYTEST_PLUGINS"sv,
    // Node
    "NODE_OPTIONS"sv,
    "NODE_PATH"sv,
    "NODE_REPL_EXTERNAL_MODULE"sv,
    "ELECTRON_RUN_AS_NODE"sv,
    // Perl
    "PERL5OPT"sv,
    "PERL5LIB"sv,
    "PERLLIB"sv,
    "PERL5DB"sv,
    // Julia, .NET, and the JVM's build tools
    "JULIA_LOAD_PATH"sv,
    "COR_PROFILER"sv,
    "COR_PROFILER_PATH"sv,
    "CORECLR_PROFILER"sv,
    "CORECLR_PROFILER_PATH"sv,
    "DOTNET_STARTUP_HOOKS"sv,
    "MAVEN_OPTS"sv,
    "GRADLE_OPTS"sv,
    // Toolkits that load plug-ins
    "GTK_MODULES"sv,
    "GTK_PATH"sv,
    "QT_PLUGIN_PATH"sv,
    "PERL5SHELL"sv,
    // Ruby
    "RUBYOPT"sv,
    "RUBYLIB"sv,
    "RUBYSHELL"sv,
    "GEM_PATH"sv,
    "GEM_HOME"sv,
    "BUNDLE_GEMFILE"sv,
    // JVM
    "JAVA_TOOL_OPTIONS"sv,
    "_JAVA_OPTIONS"sv,
    "JDK_JAVA_OPTIONS"sv,
    "JDK_JAVAC_OPTIONS"sv,
    "CLASSPATH"sv,
    // Lua, PHP, R, Erlang, awk, Tcl, .NET
    "LUA_INIT"sv,
    "LUA_PATH"sv,
    "LUA_CPATH"sv,
    "PHPRC"sv,
    "PHP_INI_SCAN_DIR"sv,
    "R_PROFILE"sv,
    "R_PROFILE_USER"sv,
    "R_ENVIRON"sv,
    "R_ENVIRON_USER"sv,
    "R_LIBS"sv,
    "R_LIBS_USER"sv,
    "ERL_AFLAGS"sv,
    "ERL_FLAGS"sv,
    "ERL_ZFLAGS"sv,
    "ERL_LIBS"sv,
    "AWKPATH"sv,
    "AWKLIBPATH"sv,
    "TCLLIBPATH"sv,
    "DOTNET_STARTUP_HOOKS"sv,
    "CORECLR_PROFILER"sv,
    "CORECLR_PROFILER_PATH"sv,
    // compilers and make: where their sub-programs come from, flags that run commands
    "GCC_EXEC_PREFIX"sv,
    "COMPILER_PATH"sv,
    "LIBRARY_PATH"sv,
    "MAKEFLAGS"sv,
    "GNUMAKEFLAGS"sv,
    "MAKEFILES"sv,
    "RUSTC_WRAPPER"sv,
    "RUSTC_WORKSPACE_WRAPPER"sv,
    // git: variables that name a program, a directory of programs, or configuration that does
    "GIT_SSH"sv,
    "GIT_SSH_COMMAND"sv,
    "GIT_EXTERNAL_DIFF"sv,
    "GIT_EXEC_PATH"sv,
    "GIT_ASKPASS"sv,
    "GIT_PROXY_COMMAND"sv,
    "GIT_TEMPLATE_DIR"sv,
    "GIT_CONFIG"sv,
    "GIT_CONFIG_GLOBAL"sv,
    "GIT_CONFIG_SYSTEM"sv,
    "GIT_CONFIG_PARAMETERS"sv,
    "GIT_CONFIG_COUNT"sv,  // without it git ignores GIT_CONFIG_KEY_0 and its like
    // programs that other tools start
    "SSH_ASKPASS"sv,
    "SUDO_ASKPASS"sv,
    "LESSOPEN"sv,
    "LESSCLOSE"sv,
    "BROWSER"sv,
    "VIMINIT"sv,
    "EXINIT"sv,
    "TAR_OPTIONS"sv,
    "RSYNC_RSH"sv,
};

}  // namespace

bool is_loader_hijack(std::string_view name) {
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return std::any_of(hijack_prefixes.begin(), hijack_prefixes.end(), begins) ||
         std::find(hijack_names.begin(), hijack_names.end(), name) != hijack_names.end();
}

Result<void> check_environment_name(std::string_view where, std::string_view name) {
  constexpr auto code = ErrorCode::sandbox_policy_error;
  if (name.empty()) return fail(code, fmt::format("{} has an empty name", where));
  if (name.find('\0') != std::string_view::npos) {
    return fail(code, fmt::format("{} has a name that contains a NUL byte", where));
  }
  if (name.find('=') != std::string_view::npos) {
    return fail(code, fmt::format("{} has the name '{}', which contains '='", where, name));
  }
  if (is_loader_hijack(name)) {
    return fail(code, fmt::format("{} names '{}', by which code can be loaded into a program that "
                                  "trusts its environment; no profile may allow it",
                                  where, name));
  }
  return {};
}

}  // namespace paddock::kernel
