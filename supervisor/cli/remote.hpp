#pragma once
// RemoteBackend: the daemon answers.

#include "supervisor/cli/backend.hpp"
#include "supervisor/cli/client.hpp"

namespace paddock::supervisor::cli {

class RemoteBackend final : public Backend {
 public:
  RemoteBackend(Client client, std::string socket)
      : client_(std::move(client)), socket_(std::move(socket)) {}

  std::string name() const override { return socket_; }
  kernel::Result<std::string> profiles() override;
  kernel::Result<std::string> profile(const std::string& name) override;
  kernel::Result<std::string> agent(const std::string& name) override;
  kernel::Result<std::string> host() override;
  kernel::Result<std::string> plan(const kernel::Request& request) override;
  kernel::Result<std::string> doctor() override;
  bool runs_have_own_user() const override;

  Client& client() { return client_; }

 private:
  Client client_;
  std::string socket_;
};

}  // namespace paddock::supervisor::cli
