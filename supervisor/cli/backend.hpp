#pragma once
// Backend: who answers a command's questions, the daemon or this process by itself. Both answer
// with RFC 0002's JSON, so that each command renders one form and cannot tell the two differently.

#include <memory>
#include <string>

#include "kernel/base/error.hpp"
#include "kernel/policy/request.hpp"
#include "supervisor/cli/options.hpp"

namespace paddock::supervisor::cli {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;  // the daemon's socket; empty: no daemon

  virtual kernel::Result<std::string> profiles() = 0;
  virtual kernel::Result<std::string> profile(const std::string& name) = 0;
  virtual kernel::Result<std::string> agent(const std::string& name) = 0;
  virtual kernel::Result<std::string> host() = 0;
  virtual kernel::Result<std::string> plan(const kernel::Request& request) = 0;
  // What this host enforces: embedded it is tried now, the daemon tried it when it started.
  virtual kernel::Result<std::string> doctor() = 0;
  // Do runs have another uid than this process?
  virtual bool runs_have_own_user() const = 0;
};

// The daemon if there is one.
kernel::Result<std::unique_ptr<Backend>> open_backend(const GlobalOptions& options);

// The request for this command line, with the start directory that its profile takes.
kernel::Result<kernel::Request> make_request(Backend& backend, const RequestOptions& options);

}  // namespace paddock::supervisor::cli
