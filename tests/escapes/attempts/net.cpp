// Attempts on the network: the host's loopback, its Unix sockets, and families of sockets that are
// attack surface or ways around a network namespace.

#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "escapes/attempts/sockets.hpp"
#include "escapes/attempts/tools.hpp"

namespace paddock::escapes {
namespace {

Outcome makes_socket(int family, int type, int protocol) {
  return succeeded_if(::socket(family, type | SOCK_CLOEXEC, protocol) >= 0);
}

Outcome connects_tcp(const char* address, int port) {
  return succeeded_if(connect_inet(SOCK_STREAM, address, port) >= 0);
}

Outcome send_udp(const Arguments& arguments) {
  const int fd = connect_inet(SOCK_DGRAM, "127.0.0.1", arguments.number("udp"));
  if (fd < 0) return refused();
  if (::send(fd, "x", 1, 0) != 1) return refused();
  // What nobody listens to comes back as an error of the next call.
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == ECONNREFUSED ? refused() : succeeded();
}

Outcome connects_unix(Naming naming, const std::string& name, int type) {
  if (name.empty()) return refused(ENOENT);
  return succeeded_if(connect_unix(naming, name, type) >= 0);
}

// A descriptor of the sandbox given away is an opening into it.
Outcome send_descriptor_out(const Arguments& arguments) {
  const int to = connect_unix(Naming::abstract, arguments.text("abstract"), SOCK_STREAM);
  if (to < 0) return refused();
  char byte = 'x';
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int root = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::memcpy(CMSG_DATA(header), &root, sizeof root);
  return succeeded_if(::sendmsg(to, &message, MSG_NOSIGNAL) == 1);
}

// Any interface besides "lo".
Outcome see_host_interfaces(const Arguments&) {
  const std::string devices = content_of("/proc/net/dev");
  std::size_t interfaces = 0;
  for (const char c : devices) interfaces += c == ':' ? 1 : 0;
  if (interfaces == 0) return refused(ENODATA);
  return interfaces > 1 ? succeeded() : refused(ENODATA, "loopback only");
}

Outcome send_on_inherited_socket(const Arguments& arguments) {
  return succeeded_if(::send(arguments.number("socketfd"), "x", 1, MSG_NOSIGNAL) == 1);
}

Outcome bind_low_port(const Arguments&) {
  for (const int port : {7, 9, 13, 17, 19, 37})
    if (listen_inet(port) >= 0) return succeeded();
  return refused();
}

struct Ring {
  int fd = -1;
  io_uring_params parameters{};
  char* rings = nullptr;
  io_uring_sqe* entries = nullptr;
};

bool open_ring(Ring& ring) {
  ring.fd = static_cast<int>(::syscall(SYS_io_uring_setup, 2, &ring.parameters));
  if (ring.fd < 0) return false;
  const auto map = [&](std::size_t size, off_t offset) {
    return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, offset);
  };
  ring.rings = static_cast<char*>(map(4096, IORING_OFF_SQ_RING));
  ring.entries = static_cast<io_uring_sqe*>(map(4096, IORING_OFF_SQES));
  return ring.rings != MAP_FAILED && ring.entries != MAP_FAILED;
}

// A socket made by io_uring: a filter on socket(2) does not see it.
Outcome make_socket_by_io_uring(const Arguments&) {
  Ring ring;
  if (!open_ring(ring)) return refused();
  constexpr unsigned char operation_socket = 45;  // IORING_OP_SOCKET, Linux 5.19
  io_uring_sqe& entry = ring.entries[0];
  entry = {};
  entry.opcode = operation_socket;
  entry.fd = AF_INET;
  entry.off = SOCK_STREAM;
  const auto word = [&](std::uint32_t offset) {
    return reinterpret_cast<std::uint32_t*>(ring.rings + offset);
  };
  *word(ring.parameters.sq_off.array) = 0;
  *word(ring.parameters.sq_off.tail) = 1;
  if (::syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) != 1)
    return refused();
  const auto* done =
      reinterpret_cast<const io_uring_cqe*>(ring.rings + ring.parameters.cq_off.cqes);
  return done->res >= 0 ? succeeded() : refused(-done->res);
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Attempts net_attempts() {
  using A = const Arguments&;
  return {
      {"net_host_loopback", [](A a) { return connects_tcp("127.0.0.1", a.number("port")); }},
      {"net_host_loopback6",
       [](A a) { return succeeded_if(connect_inet6_loopback(a.number("port6")) >= 0); }},
      {"net_udp", send_udp},
      // 192.0.2.0/24 is for documentation: connect(2) of a datagram socket only asks for a route.
      {"net_route_to_world",
       [](A) { return succeeded_if(connect_inet(SOCK_DGRAM, "192.0.2.1", 53) >= 0); }},
      {"net_metadata_service",
       [](A) { return succeeded_if(connect_inet(SOCK_DGRAM, "169.254.169.254", 80) >= 0); }},
      {"net_abstract_unix_host",
       [](A a) { return connects_unix(Naming::abstract, a.text("abstract"), SOCK_STREAM); }},
      {"net_pathname_unix_host",
       [](A a) { return connects_unix(Naming::pathname, a.text("socket"), SOCK_STREAM); }},
      {"net_dbus_system",
       [](A) {
         return connects_unix(Naming::pathname, "/run/dbus/system_bus_socket", SOCK_STREAM);
       }},
      {"net_systemd_private",
       [](A) { return connects_unix(Naming::pathname, "/run/systemd/private", SOCK_STREAM); }},
      {"net_ssh_agent",
       [](A) { return connects_unix(Naming::pathname, variable("SSH_AUTH_SOCK"), SOCK_STREAM); }},
      {"net_scm_rights_out", send_descriptor_out},
      {"net_inherited_socket", send_on_inherited_socket},
      {"net_bind_lowport", bind_low_port},
      {"net_host_interfaces", see_host_interfaces},
      {"net_inet_socket", [](A) { return makes_socket(AF_INET, SOCK_STREAM, 0); }},
      {"net_inet6_socket", [](A) { return makes_socket(AF_INET6, SOCK_STREAM, 0); }},
      {"net_icmp", [](A) { return makes_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }},
      {"net_raw_ip", [](A) { return makes_socket(AF_INET, SOCK_RAW, IPPROTO_RAW); }},
      {"net_sctp", [](A) { return makes_socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP); }},
      {"net_mptcp", [](A) { return makes_socket(AF_INET, SOCK_STREAM, 262); }},
      {"net_raw_packet", [](A) { return makes_socket(AF_PACKET, SOCK_RAW, 0); }},
      {"net_vsock_socket", [](A) { return makes_socket(AF_VSOCK, SOCK_STREAM, 0); }},
      {"net_netlink_route", [](A) { return makes_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }},
      {"net_netlink_audit", [](A) { return makes_socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT); }},
      {"net_netlink_netfilter",
       [](A) { return makes_socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER); }},
      {"net_netlink_sock_diag",
       [](A) { return makes_socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG); }},
      {"net_netlink_uevent",
       [](A) { return makes_socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT); }},
      {"net_netlink_generic",
       [](A) { return makes_socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC); }},
      {"net_alg", [](A) { return makes_socket(AF_ALG, SOCK_SEQPACKET, 0); }},
      {"net_xdp", [](A) { return makes_socket(AF_XDP, SOCK_RAW, 0); }},
      {"net_key", [](A) { return makes_socket(AF_KEY, SOCK_RAW, 2); }},
      {"net_bluetooth", [](A) { return makes_socket(AF_BLUETOOTH, SOCK_RAW, 1); }},
      {"net_can", [](A) { return makes_socket(AF_CAN, SOCK_RAW, 1); }},
      {"net_tipc", [](A) { return makes_socket(AF_TIPC, SOCK_RDM, 0); }},
      {"net_x25", [](A) { return makes_socket(AF_X25, SOCK_SEQPACKET, 0); }},
      {"net_rds", [](A) { return makes_socket(AF_RDS, SOCK_SEQPACKET, 0); }},
      {"net_smc", [](A) { return makes_socket(AF_SMC, SOCK_STREAM, 0); }},
      {"net_qipcrtr", [](A) { return makes_socket(AF_QIPCRTR, SOCK_DGRAM, 0); }},
      {"net_iouring_socket", make_socket_by_io_uring},
  };
}

}  // namespace paddock::escapes
