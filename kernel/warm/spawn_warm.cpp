#include "kernel/warm/spawn_warm.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/run/channel.hpp"

namespace paddock::kernel {
namespace {

Result<void> send_request(const Fd& socket, const ForkRequest& request,
                          const std::vector<int>& descriptors) {
  alignas(cmsghdr) char ancillary[CMSG_SPACE(fork_descriptors_max * sizeof(int))] = {};
  const std::size_t bytes = descriptors.size() * sizeof(int);
  iovec part{const_cast<ForkRequest*>(&request), sizeof request};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary;
  header.msg_controllen = CMSG_SPACE(bytes);
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  ssize_t count = 0;
  while ((count = ::sendmsg(socket.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 &&
         errno == EINTR) {
  }
  if (count < 0) return fail_errno("ask a zygote for a fork");
  return {};
}

}  // namespace

Result<SpawnedRun> spawn_warm(const Plan& plan, const ZygoteLine& zygote, int cgroup_entrance,
                              int channel) {
  RunStreams streams = TRY(RunStreams::make());
  const Fd spec = TRY(memory_file("paddock-spec", encode(plan.launch)));
  std::vector<int> descriptors = {streams.input.read_end.get(), streams.output.write_end.get(),
                                  streams.errors.write_end.get(), streams.control_theirs.get(),
                                  spec.get()};
  const bool has_own_network = std::find(plan.new_namespaces.begin(), plan.new_namespaces.end(),
                                         "net") != plan.new_namespaces.end();
  const bool new_network = has_own_network && !plan.launch.watch_sockets;
  ForkRequest request{.new_network = new_network ? 1u : 0u, .channel = 0, .cgroup = 0};
  if (plan.launch.channel) {
    request.channel = 1;
    name_channel(channel);
    descriptors.push_back(channel);
  }
  if (cgroup_entrance >= 0) {
    request.cgroup = 1;
    descriptors.push_back(cgroup_entrance);
  }
  TRY_VOID(send_request(zygote.socket, request, descriptors));
  return streams.ours();
}

}  // namespace paddock::kernel
