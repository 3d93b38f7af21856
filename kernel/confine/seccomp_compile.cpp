#include "kernel/confine/seccomp_compile.hpp"

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {
namespace {

std::uint32_t libseccomp_action_of(SeccompAction action) {
  switch (action) {
    case SeccompAction::allow:
      return SCMP_ACT_ALLOW;
    case SeccompAction::not_permitted:
      return SCMP_ACT_ERRNO(EPERM);
    case SeccompAction::no_such_call:
      return SCMP_ACT_ERRNO(ENOSYS);
    case SeccompAction::no_family:
      return SCMP_ACT_ERRNO(EAFNOSUPPORT);
    case SeccompAction::kill:
      return SCMP_ACT_KILL_PROCESS;
  }
  return SCMP_ACT_KILL_PROCESS;
}

// Nothing where this architecture has no such call, as aarch64 has no open.
Result<std::optional<int>> syscall_number(std::string_view name) {
  const auto& newer = newer_calls();
  const auto row = std::find_if(newer.begin(), newer.end(),
                                [&](const NewerCall& call) { return call.name == name; });
  if (row != newer.end()) return row->number;
  const int number = seccomp_syscall_resolve_name(std::string(name).c_str());
  if (number == __NR_SCMP_ERROR)
    return fail(ErrorCode::internal, "libseccomp knows no system call '" + std::string(name) + "'");
  if (number < 0) return std::nullopt;
  return number;
}

scmp_arg_cmp comparison_of(const ArgumentTest& test) {
  if (test.kind == ArgumentTest::Kind::at_most)
    return {.arg = test.argument, .op = SCMP_CMP_LE, .datum_a = test.value, .datum_b = 0};
  return {
      .arg = test.argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = test.mask, .datum_b = test.value};
}

// One libseccomp program under construction.
class Stage {
 public:
  static Result<Stage> make(SeccompAction otherwise) {
    Stage stage(seccomp_init(libseccomp_action_of(otherwise)));
    if (!stage.context_) return fail(ErrorCode::internal, "libseccomp: seccomp_init failed");
    // The default would kill one thread alone.
    TRY_VOID(stage.set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    TRY_VOID(stage.set(SCMP_FLTATR_CTL_OPTIMIZE, 2));  // a binary tree of numbers
    return stage;
  }

  Result<void> add(SeccompAction action, std::string_view name, const ArgumentTests& tests) {
    const std::optional<int> number = TRY(syscall_number(name));
    if (!number) return {};
    std::vector<scmp_arg_cmp> comparisons;
    for (const ArgumentTest& test : tests) comparisons.push_back(comparison_of(test));
    return check(
        seccomp_rule_add_exact_array(context_.get(), libseccomp_action_of(action), *number,
                                     static_cast<unsigned>(comparisons.size()), comparisons.data()),
        name);
  }

  Result<void> add(const Bound& bound) {
    for (const std::string_view name : bound.names)
      for (const ArgumentTests& tests : bound.alternatives)
        TRY_VOID(add(SeccompAction::allow, name, tests));
    return {};
  }

  // The library only writes to descriptors before its version 2.6.
  Result<BpfProgram> finish() const {
    const Fd file(::memfd_create("seccomp", MFD_CLOEXEC));
    if (!file) return fail_errno("create a memory file");
    TRY_VOID(check(seccomp_export_bpf(context_.get(), file.get()), "export"));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return fail_errno("fstat");
    BpfProgram program(static_cast<std::size_t>(status.st_size) / sizeof(sock_filter));
    const auto bytes = static_cast<ssize_t>(program.size() * sizeof(sock_filter));
    if (::pread(file.get(), program.data(), static_cast<std::size_t>(bytes), 0) != bytes)
      return fail_errno("read a filter");
    return program;
  }

 private:
  explicit Stage(scmp_filter_ctx context) : context_(context, &seccomp_release) {}

  static Result<void> check(int status, std::string_view what) {
    if (status == 0) return {};
    return fail(ErrorCode::internal,
                "libseccomp: " + std::string(what) + ": " + errno_text(-status));
  }

  Result<void> set(scmp_filter_attr attribute, std::uint32_t value) {
    return check(seccomp_attr_set(context_.get(), attribute, value), "set an attribute");
  }

  std::unique_ptr<void, decltype(&seccomp_release)> context_;
};

Result<BpfProgram> denials(const std::vector<Denial>& rows) {
  Stage stage = TRY(Stage::make(SeccompAction::allow));
  for (const Denial& denial : rows)
    for (const std::string_view name : denial.names)
      TRY_VOID(stage.add(denial.action, name, denial.only_if));
  return allowed_goes_on(TRY(stage.finish()));
}

// The bounded calls whose failing arguments get `otherwise`, and no others.
Result<BpfProgram> bounds(const std::vector<Bound>& rows, SeccompAction otherwise) {
  Stage stage = TRY(Stage::make(otherwise));
  std::vector<std::uint32_t> numbers;
  for (const Bound& bound : rows) {
    if (bound.otherwise != otherwise) continue;
    TRY_VOID(stage.add(bound));
    for (const std::string_view name : bound.names)
      if (const std::optional<int> number = TRY(syscall_number(name)))
        numbers.push_back(static_cast<std::uint32_t>(*number));
  }
  return only_for(numbers, allowed_goes_on(TRY(stage.finish())));
}

// What is not allowed here is not allowed at all, the bounded calls included.
Result<BpfProgram> allow_list(const SeccompRules& rules) {
  Stage stage = TRY(Stage::make(SeccompAction::not_permitted));
  for (const std::string_view name : rules.allowed)
    TRY_VOID(stage.add(SeccompAction::allow, name, {}));
  for (const Bound& bound : rules.bounded) {
    if (bound.otherwise == SeccompAction::not_permitted) {
      TRY_VOID(stage.add(bound));
    } else {
      for (const std::string_view name : bound.names)
        TRY_VOID(stage.add(SeccompAction::allow, name, {}));  // judged before
    }
  }
  return stage.finish();
}

}  // namespace

Result<Architecture> native_architecture() {
  switch (seccomp_arch_native()) {
    case SCMP_ARCH_X86_64:
      return Architecture::x86_64;
    case SCMP_ARCH_AARCH64:
      return Architecture::aarch64;
    default:
      return fail(ErrorCode::sandbox_not_available,
                  "there are no seccomp rules for this processor architecture");
  }
}

Result<BpfProgram> compile_seccomp(const SeccompRules& rules) {
  BpfProgram filter = refuse_unjudged_numbers(TRY(native_architecture()));
  const auto append = [&](const BpfProgram& part) {
    filter.insert(filter.end(), part.begin(), part.end());
  };
  append(TRY(denials(rules.denied)));
  append(TRY(bounds(rules.bounded, SeccompAction::no_family)));
  if (rules.rest_is_refused) {
    append(TRY(allow_list(rules)));
  } else {
    append(TRY(bounds(rules.bounded, SeccompAction::not_permitted)));
    append(allow_everything());
  }
  if (filter.size() > BPF_MAXINSNS)
    return fail(ErrorCode::internal, "the seccomp filter is too long for the kernel");
  return filter;
}

}  // namespace paddock::kernel
