// `paddock doctor`: what this host can enforce, by trying what each profile forbids.

#include "supervisor/cli/backend.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/doctor_text.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;

Result<int> doctor(const Options& options) {
  const auto backend = TRY(open_backend(options.global));
  TRY(backend->profile(options.profile));  // before anything is tried: is there such a one?
  DoctorAnswers answers;
  answers.host = TRY(backend->host());
  answers.doctor = TRY(backend->doctor());
  answers.daemon = backend->name();
  const std::string text = TRY(options.json ? doctor_json(answers) : doctor_text(answers));
  const bool enforced = TRY(is_enforced(answers, options.profile));
  if (!print(text)) return exit_error;
  return enforced ? exit_success : exit_cannot_isolate;
}

}  // namespace

int doctor_command(const Options& options) {
  return end_with(doctor(options));
}

}  // namespace paddock::supervisor::cli
