#include "supervisor/http/exchange.hpp"

#include <utility>

#include "supervisor/http/connection.hpp"

namespace paddock::supervisor {

Exchange::Exchange() : Exchange({}, std::make_shared<const Peer>()) {}

Exchange::Exchange(std::weak_ptr<Connection*> connection, std::shared_ptr<const Peer> peer)
    : connection_(std::move(connection)), peer_(std::move(peer)) {}

// Safe to use after the temporary owner is gone: a Connection is freed on a later turn of the loop.
Connection* Exchange::connection() const {
  const auto connection = connection_.lock();
  return connection ? *connection : nullptr;
}

bool Exchange::is_open() const {
  return !connection_.expired();
}

void Exchange::respond(const Response& response) const {
  if (auto* target = connection()) target->respond(response);
}

void Exchange::begin_stream(const StreamHead& head) const {
  if (auto* target = connection()) target->begin_stream(head);
}

WriteResult Exchange::write(std::string_view bytes) const {
  auto* target = connection();
  return target != nullptr ? target->write(bytes) : WriteResult::gone;
}

void Exchange::end() const {
  if (auto* target = connection()) target->end();
}

void Exchange::abort() const {
  if (auto* target = connection()) target->abort();
}

void Exchange::on_drained(std::function<void()> on_drained) const {
  if (auto* target = connection()) target->set_on_drained(std::move(on_drained));
}

void Exchange::on_client_gone(std::function<void()> on_client_gone) const {
  if (auto* target = connection()) target->set_on_client_gone(std::move(on_client_gone));
}

}  // namespace paddock::supervisor
