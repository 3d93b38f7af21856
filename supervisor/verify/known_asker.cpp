#include "supervisor/verify/known_asker.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernel/base/random.hpp"

namespace paddock::supervisor {
namespace {

constexpr std::size_t read_bytes_max = 16u << 10;
constexpr std::uint64_t token_mask = (1ull << 48) - 1;  // as the judge draws them

std::uint64_t draw_token() {
  return kernel::random_bits() & token_mask;
}

}  // namespace

KnownAsker::KnownAsker(std::shared_ptr<kernel::Fd> channel, KnownAnswersPtr known)
    : channel_(std::move(channel)), dialogue_(std::move(known), draw_token) {}

kernel::Result<void> KnownAsker::start(uv_loop_t* loop, OnOver on_over) {
  poll_ = TRY(Poll::create(loop, channel_->get()));
  on_over_ = std::move(on_over);
  poll_->start({.readable = true}, [this](Poll::Events) { step(); });
  return {};
}

void KnownAsker::stop() {
  poll_.reset();
  channel_.reset();
}

void KnownAsker::step() {
  read();
  if (dialogue_.is_over()) over();
}

void KnownAsker::finish() {
  while (!dialogue_.is_over())
    if (!read()) dialogue_.give_up();
  over();
}

// No more than the known answer has: what comes behind it is for whoever reads next.
bool KnownAsker::read() {
  std::array<char, read_bytes_max> bytes{};
  const std::size_t wanted = std::min(bytes.size(), dialogue_.wanted());
  const ssize_t count = ::recv(channel_->get(), bytes.data(), wanted, 0);  // which never blocks
  if (count < 0 && errno == EAGAIN) return false;
  if (count <= 0) {
    dialogue_.give_up();
  } else {
    dialogue_.came({bytes.data(), static_cast<std::size_t>(count)},
                   KnownDialogue::Time::clock::now());
  }
  ask();
  return true;
}

// One that the socket has no room for, since its candidate reads no more than the token, is the
// judge's to send, who waits.
void KnownAsker::ask() {
  const auto question = dialogue_.question();
  if (!question) return;
  const ssize_t count = ::send(channel_->get(), question->data(), question->size(), MSG_NOSIGNAL);
  if (count == static_cast<ssize_t>(question->size()))
    return dialogue_.asked(KnownDialogue::Time::clock::now());
  dialogue_.give_up();
}

void KnownAsker::over() {
  poll_.reset();
  const int flags = ::fcntl(channel_->get(), F_GETFL);
  ::fcntl(channel_->get(), F_SETFL, flags & ~O_NONBLOCK);
  channel_.reset();
  const OnOver on_over = std::exchange(on_over_, nullptr);
  on_over();
}

}  // namespace paddock::supervisor
