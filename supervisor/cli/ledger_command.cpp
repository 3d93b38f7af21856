// `paddock ledger`: the record of all runs, read from its file, with a daemon or without one.

#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon_files.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/ledger_text.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/verify.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

Result<int> verify_chain(const Options& options) {
  std::optional<LedgerHead> remembered;
  if (!options.ledger_head.empty()) remembered = TRY(parse_ledger_head(options.ledger_head));
  const std::string file = TRY(ledger_file_of(options));
  const Verification found = TRY(verify_ledger(file, remembered));
  if (!print(options.json ? verification_json(found, file) : verification_text(found, file)))
    return exit_error;
  return found.edit ? exit_ledger_edited : exit_success;
}

Result<int> show_run(const Options& options) {
  const std::string file = TRY(ledger_file_of(options));
  LedgerReader reader = TRY(LedgerReader::open(file));
  const auto run = TRY(reader.run(options.run));
  if (!run)
    return fail(ErrorCode::not_found, "no run '" + options.run + "' in ledger '" + file + "'");
  return print(options.json ? stored_run_json(*run, file) : stored_run_text(*run, file))
             ? exit_success
             : exit_error;
}

}  // namespace

int ledger_verify_command(const Options& options) {
  return end_with(verify_chain(options));
}

int ledger_show_command(const Options& options) {
  return end_with(show_run(options));
}

}  // namespace paddock::supervisor::cli
