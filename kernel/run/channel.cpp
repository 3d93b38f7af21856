#include "kernel/run/channel.hpp"

#include <sys/socket.h>

namespace paddock::kernel {

void name_channel(int channel) {
  // No name but the family: the kernel picks one (unix(7), autobind). Of what is no Unix socket, or
  // has a name, this asks nothing.
  const sockaddr any{.sa_family = AF_UNIX, .sa_data = {}};
  ::bind(channel, &any, sizeof any.sa_family);
}

}  // namespace paddock::kernel
