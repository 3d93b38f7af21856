#include "kernel/confine/seccomp_rules.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <random>
#include <set>

#include "kernel/confine/seccomp.hpp"
#include "kernel/confine/seccomp_compile.hpp"
#include "kernel/confine/seccomp_evaluator.hpp"
#include "kernel/confine/seccomp_filters.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

using CallNames = std::vector<std::string_view>;
using Program = std::vector<sock_filter>;

constexpr SeccompUse both_lists[] = {SeccompUse::strict, SeccompUse::default_list};

constexpr std::uint32_t native_audit_arch =
#if defined(__aarch64__)
    AUDIT_ARCH_AARCH64;
#else
    AUDIT_ARCH_X86_64;
#endif

std::string ask(const Program& program, std::uint32_t number, const Arguments& arguments = {}) {
  return verdict_of(program, {number, arguments, native_audit_arch});
}

// What the rules say, read directly: the order is the one that seccomp_rules.hpp gives.
bool holds(const ArgumentTests& tests, const Arguments& arguments) {
  return std::all_of(tests.begin(), tests.end(), [&](const ArgumentTest& test) {
    const std::uint64_t value = arguments.at(test.argument);
    return test.kind == ArgumentTest::Kind::at_most ? value <= test.value
                                                    : (value & test.mask) == test.value;
  });
}

std::string word_of(SeccompAction action) {
  switch (action) {
    case SeccompAction::allow:
      return "allow";
    case SeccompAction::not_permitted:
      return "EPERM";
    case SeccompAction::no_such_call:
      return "ENOSYS";
    case SeccompAction::no_family:
      return "EAFNOSUPPORT";
    case SeccompAction::kill:
      return "kill";
  }
  return "";
}

bool contains(const CallNames& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string expected(const SeccompRules& rules, std::string_view name, const Arguments& arguments) {
  for (const Denial& denial : rules.denied)
    if (contains(denial.names, name) && holds(denial.only_if, arguments))
      return word_of(denial.action);
  for (const Bound& bound : rules.bounded) {
    if (!contains(bound.names, name)) continue;
    const bool fits = std::any_of(bound.alternatives.begin(), bound.alternatives.end(),
                                  [&](const auto& tests) { return holds(tests, arguments); });
    return fits ? "allow" : word_of(bound.otherwise);
  }
  return !rules.rest_is_refused || contains(rules.allowed, name) ? "allow" : "EPERM";
}

// Every value and mask of every rule, with and without what a 32-bit comparison would not see.
std::vector<std::uint64_t> interesting_values() {
  std::set<std::uint64_t> values = {0, 1, ~std::uint64_t{0}, 0xffffffff, std::uint64_t{1} << 63};
  const auto add = [&](const ArgumentTests& tests) {
    for (const ArgumentTest& test : tests)
      for (const std::uint64_t value : {test.value, test.mask, test.value + 1, test.value - 1})
        for (const std::uint64_t upper : {std::uint64_t{0}, std::uint64_t{1} << 32})
          values.insert(value | upper);
  };
  for (const SeccompUse use : both_lists) {
    for (const Denial& denial : rules_of(use).denied) add(denial.only_if);
    for (const Bound& bound : rules_of(use).bounded)
      for (const ArgumentTests& tests : bound.alternatives) add(tests);
  }
  for (unsigned bit = 0; bit < 64; ++bit) values.insert(std::uint64_t{1} << bit);
  return {values.begin(), values.end()};
}

// Calls whose verdict depends on their arguments, so that these are tried with many.
bool looks_at_arguments(std::string_view name) {
  for (const SeccompUse use : both_lists) {
    for (const Denial& denial : rules_of(use).denied)
      if (!denial.only_if.empty() && contains(denial.names, name)) return true;
    for (const Bound& bound : rules_of(use).bounded)
      if (contains(bound.names, name)) return true;
  }
  return false;
}

class RandomArguments {
 public:
  Arguments next() {
    Arguments arguments{};
    for (std::uint64_t& argument : arguments) argument = values_[generator_() % values_.size()];
    return arguments;
  }

 private:
  const std::vector<std::uint64_t> values_ = interesting_values();
  std::mt19937 generator_{4711};
};

}  // namespace

TEST_CASE("no list is no filter") {
  const auto filter = seccomp_filter(SeccompUse::off);
  REQUIRE(filter);
  CHECK(filter->empty());
}

TEST_CASE("a filter is whole instructions, short enough for the kernel, and always the same") {
  for (const SeccompUse use : both_lists) {
    const auto filter = seccomp_filter(use);
    REQUIRE(filter);
    CHECK(filter->size() % sizeof(sock_filter) == 0);
    CHECK(filter->size() / sizeof(sock_filter) > 100);
    CHECK(filter->size() / sizeof(sock_filter) <= BPF_MAXINSNS);
    CHECK(as_bytes(compile_seccomp(rules_of(use)).value()) == *filter);
  }
  CHECK(seccomp_filter(SeccompUse::strict) != seccomp_filter(SeccompUse::default_list));
}

TEST_CASE("the compiled filters say what the rules say, whatever the arguments") {
  RandomArguments random;
  for (const SeccompUse use : both_lists) {
    const Program program = filter_of(use);
    const SeccompRules& rules = rules_of(use);
    std::size_t wrong = 0;
    for (std::uint32_t number = 0; number <= newest_judged_number; ++number) {
      const auto name = syscall_name(number);
      if (!name) continue;
      for (int rounds = looks_at_arguments(*name) ? 1000 : 3; rounds > 0; --rounds) {
        const Arguments arguments = random.next();
        if (ask(program, number, arguments) == expected(rules, *name, arguments)) continue;
        ++wrong;
        UNSCOPED_INFO(*name << " with " << std::hex << arguments[0] << ", " << arguments[1] << ", "
                            << arguments[2] << ", " << arguments[3]);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("STRICT allows nothing that the default list refuses") {
  RandomArguments random;
  const Program strict = filter_of(SeccompUse::strict);
  const Program by_default = filter_of(SeccompUse::default_list);
  std::size_t weaker = 0;
  for (std::uint32_t number = 0; number < 1024; ++number)
    for (int rounds = looks_at_arguments(syscall_name(number).value_or("")) ? 1000 : 3; rounds > 0;
         --rounds) {
      const Arguments arguments = random.next();
      if (ask(strict, number, arguments) != "allow") continue;
      if (ask(by_default, number, arguments) == "allow") continue;
      ++weaker;
      UNSCOPED_INFO(syscall_name(number).value_or("?") << " (" << number << ")");
    }
  CHECK(weaker == 0);
}

TEST_CASE("what is never allowed is refused under both lists, whatever the arguments") {
  struct Row {
    const char* name;
    const char* strict;
    const char* by_default;
  };
  // Written down once more, so that a row that goes missing in the table is missed here.
  const Row never[] = {
      {"clone3", "ENOSYS", "ENOSYS"},
      {"openat2", "ENOSYS", "ENOSYS"},
      {"io_uring_setup", "ENOSYS", "ENOSYS"},
      {"io_uring_enter", "ENOSYS", "ENOSYS"},
      {"io_uring_register", "ENOSYS", "ENOSYS"},
      {"userfaultfd", "ENOSYS", "ENOSYS"},
      {"memfd_secret", "ENOSYS", "ENOSYS"},
      {"process_vm_readv", "ENOSYS", "ENOSYS"},
      {"process_vm_writev", "ENOSYS", "ENOSYS"},
      {"pidfd_getfd", "ENOSYS", "ENOSYS"},
      {"statmount", "ENOSYS", "ENOSYS"},
      {"listmount", "ENOSYS", "ENOSYS"},
      {"unshare", "EPERM", "EPERM"},
      {"setns", "EPERM", "EPERM"},
      {"mount", "EPERM", "EPERM"},
      {"umount2", "EPERM", "EPERM"},
      {"fsopen", "EPERM", "EPERM"},
      {"fsconfig", "EPERM", "EPERM"},
      {"fsmount", "EPERM", "EPERM"},
      {"fspick", "EPERM", "EPERM"},
      {"move_mount", "EPERM", "EPERM"},
      {"open_tree", "EPERM", "EPERM"},
      {"open_tree_attr", "EPERM", "EPERM"},
      {"mount_setattr", "EPERM", "EPERM"},
      {"pivot_root", "EPERM", "EPERM"},
      {"chroot", "EPERM", "EPERM"},
      {"ptrace", "EPERM", "allow"},  // seccomp_rules.cpp says why
      {"kcmp", "EPERM", "EPERM"},
      {"bpf", "EPERM", "EPERM"},
      {"perf_event_open", "EPERM", "EPERM"},
      {"keyctl", "EPERM", "EPERM"},
      {"add_key", "EPERM", "EPERM"},
      {"request_key", "EPERM", "EPERM"},
      {"kexec_load", "kill", "EPERM"},
      {"kexec_file_load", "kill", "EPERM"},
      {"init_module", "kill", "EPERM"},
      {"finit_module", "kill", "EPERM"},
      {"delete_module", "EPERM", "EPERM"},
      {"open_by_handle_at", "kill", "EPERM"},
      {"name_to_handle_at", "EPERM", "EPERM"},
      {"reboot", "EPERM", "EPERM"},
      {"swapon", "EPERM", "EPERM"},
      {"swapoff", "EPERM", "EPERM"},
      {"acct", "EPERM", "EPERM"},
      {"quotactl", "EPERM", "EPERM"},
      {"quotactl_fd", "EPERM", "EPERM"},
      {"syslog", "EPERM", "EPERM"},
      {"settimeofday", "EPERM", "EPERM"},
      {"clock_settime", "EPERM", "EPERM"},
      {"iopl", "EPERM", "EPERM"},
      {"ioperm", "EPERM", "EPERM"},
      {"modify_ldt", "EPERM", "EPERM"},
      {"fanotify_init", "EPERM", "EPERM"},
      {"move_pages", "EPERM", "EPERM"},
      {"migrate_pages", "EPERM", "EPERM"},
      {"vhangup", "EPERM", "EPERM"},
  };
  RandomArguments random;
  const Program strict = filter_of(SeccompUse::strict);
  const Program by_default = filter_of(SeccompUse::default_list);
  for (const Row& row : never) {
    INFO(row.name);
    CHECK_FALSE(contains(rules_of(SeccompUse::strict).allowed, row.name));
    const auto number = syscall_number(row.name);
    if (!number) continue;  // aarch64 has no iopl
    for (int round = 0; round < 20; ++round) {
      const Arguments arguments = round == 0 ? Arguments{} : random.next();
      REQUIRE(ask(strict, *number, arguments) == row.strict);
      REQUIRE(ask(by_default, *number, arguments) == row.by_default);
    }
  }
}

TEST_CASE("each call is judged in one place of the rules") {
  for (const SeccompUse use : both_lists) {
    std::multiset<std::string_view> places;
    for (const Denial& denial : rules_of(use).denied)
      if (denial.only_if.empty()) places.insert(denial.names.begin(), denial.names.end());
    for (const Bound& bound : rules_of(use).bounded)
      places.insert(bound.names.begin(), bound.names.end());
    places.insert(rules_of(use).allowed.begin(), rules_of(use).allowed.end());
    for (const std::string_view name : places) {
      INFO(name);
      CHECK(places.count(name) == 1);
    }
  }
}

TEST_CASE("a foreign architecture is fatal whatever the number") {
  for (const SeccompUse use : both_lists) {
    const Program program = filter_of(use);
    for (const std::uint32_t architecture :
         {std::uint32_t{AUDIT_ARCH_I386}, std::uint32_t{AUDIT_ARCH_ARM},
          std::uint32_t{AUDIT_ARCH_RISCV64}, std::uint32_t{0}}) {
      for (std::uint32_t number = 0; number < 1024; ++number)
        REQUIRE(verdict_of(program, {number, {}, architecture}) == "kill");
      for (const std::uint32_t number : {9999u, 0x40000000u, 0x7fffffffu, 0xffffffffu})
        REQUIRE(verdict_of(program, {number, {}, architecture}) == "kill");
    }
  }
}

TEST_CASE("an x32 number is fatal on x86-64") {
  if (native_audit_arch != AUDIT_ARCH_X86_64) return;  // no other architecture has them
  constexpr std::uint32_t x32 = 0x40000000;
  for (const SeccompUse use : both_lists) {
    const Program program = filter_of(use);
    for (std::uint32_t number = 0; number < 1024; ++number)
      REQUIRE(ask(program, x32 + number) == "kill");
    CHECK(ask(program, 0xfffffffe) == "kill");
  }
}

TEST_CASE("a number that nobody has judged does not exist") {
  for (const SeccompUse use : both_lists) {
    const Program program = filter_of(use);
    for (std::uint32_t number = newest_judged_number + 1; number < 2000; ++number)
      REQUIRE(ask(program, number) == "ENOSYS");
    for (const auto& [first, last] : unused_numbers(native_architecture().value()))
      for (std::uint32_t number = first; number <= last; ++number)
        REQUIRE(ask(program, number) == "ENOSYS");
    CHECK(ask(program, 9999) == "ENOSYS");
    CHECK(ask(program, 0x3fffffff) == "ENOSYS");
  }
}

// The part of a filter that is not libseccomp's can be run for an architecture that this is not.
TEST_CASE("exactly the unjudged numbers are refused on each architecture") {
  struct Row {
    Architecture architecture;
    std::uint32_t audit;
    std::vector<std::uint32_t> refused;
    std::vector<std::uint32_t> judged;
  };
  const Row rows[] = {
      {Architecture::x86_64,
       AUDIT_ARCH_X86_64,
       {335, 336, 422, 423, 470, 1023, 0x3fffffff},
       {0, 244, 259, 295, 334, 424, 469, 0x40000000, 0x40000209, 0xffffffff}},
      {Architecture::aarch64,
       AUDIT_ARCH_AARCH64,
       {244, 259, 295, 335, 403, 423, 470, 0x40000000, 0xfffffffe},
       {0, 243, 260, 294, 424, 469, 0xffffffff}},
  };
  for (const Row& row : rows) {
    Program program = refuse_unjudged_numbers(row.architecture);
    const Program rest = allow_everything();
    program.insert(program.end(), rest.begin(), rest.end());
    for (const std::uint32_t number : row.refused) {
      INFO(number);
      CHECK(verdict_of(program, {number, {}, row.audit}) == "ENOSYS");
      // What comes next decides on a foreign architecture.
      CHECK(verdict_of(program, {number, {}, AUDIT_ARCH_I386}) == "allow");
    }
    for (const std::uint32_t number : row.judged) {
      INFO(number);
      CHECK(verdict_of(program, {number, {}, row.audit}) == "allow");
    }
  }
}

TEST_CASE("what the launcher still calls behind the filter is allowed") {
  for (const SeccompUse use : both_lists) {
    const Program program = filter_of(use);
    for (const char* name : {"read", "write", "sendto", "sendmsg", "close_range", "dup2", "dup3",
                             "execve", "execveat", "exit_group", "rt_sigaction", "rt_sigprocmask",
                             "rt_sigreturn", "wait4", "waitid", "kill", "getpid", "brk", "mmap"}) {
      INFO(name);
      const auto number = syscall_number(name);
      if (number) CHECK(ask(program, *number) == "allow");  // aarch64 has no dup2
    }
  }
}

TEST_CASE("rules that name an unknown call give no filter at all") {
  SeccompRules rules;
  rules.allowed = {"read", "raed"};
  rules.rest_is_refused = true;
  const auto filter = compile_seccomp(rules);
  REQUIRE_FALSE(filter);
  CHECK(filter.error() == Error{ErrorCode::internal, "libseccomp knows no system call 'raed'"});
}
