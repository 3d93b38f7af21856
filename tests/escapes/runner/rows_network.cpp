#include "escapes/runner/rows.hpp"

namespace paddock::escapes {

Group network_rows() {
  constexpr std::string_view alone =
      "an IP socket in a network namespace with nothing in it reaches nothing";
  const auto once = Scenario::report;
  const auto network = open(reason::host_network);
  const auto no_network = stopped({"EAFNOSUPPORT", "ECONNREFUSED", "ENETUNREACH", "EADDRNOTAVAIL"});
  const auto no_family = stopped({"EAFNOSUPPORT", "EPERM"});
  const auto no_privilege = stopped({"EPERM", "EACCES", "EAFNOSUPPORT"});
  const auto no_call = stopped({"ENOSYS", "EPERM"});
  return {
      "network",
      {
          {"net_host_loopback", network, no_network},
          {"net_host_loopback6", network, no_network, once, {"ECONNREFUSED", "EADDRNOTAVAIL"}},
          {"net_udp", network, no_network},
          {"net_route_to_world", network, no_network, once, {"ENETUNREACH"}},
          {"net_metadata_service", network, no_network, once, {"ENETUNREACH"}},
          {"net_abstract_unix_host", network, stopped({"ECONNREFUSED", "EPERM"})},
          {"net_pathname_unix_host", open(reason::host_files), stopped({"ENOENT"})},
          {"net_dbus_system", open(reason::host_files), stopped({"ENOENT"}), once, {"ENOENT"}},
          {"net_systemd_private",
           open(reason::host_files),
           stopped({"ENOENT"}),
           once,
           {"ENOENT", "ECONNREFUSED"}},
          {"net_ssh_agent", stopped({"ENOENT"}), stopped({"ENOENT"})},
          {"net_scm_rights_out", network, stopped({"ECONNREFUSED", "EPERM"})},
          {"net_inherited_socket", stopped({"EBADF"}), stopped({"EBADF"})},
          {"net_bind_lowport", no_privilege, no_privilege},
          {"net_host_interfaces", network, stopped({"ENODATA"}), once, {"ENODATA"}},
          {"net_inet_socket", network, open(alone)},
          {"net_inet6_socket", network, open(alone)},
          {"net_icmp", no_privilege, no_privilege},
          {"net_raw_ip", no_privilege, no_privilege},
          {"net_sctp", network, open(alone)},
          {"net_mptcp", network, open(alone), once, {"ENOPROTOOPT"}},
          {"net_raw_packet", no_privilege, no_family},
          {"net_vsock_socket", no_family, no_family},
          {"net_netlink_route", network, open(alone)},
          {"net_netlink_audit", no_family, no_family},
          {"net_netlink_netfilter", no_family, no_family},
          {"net_netlink_sock_diag", network, no_family},
          {"net_netlink_uevent", network, no_family},
          {"net_netlink_generic", no_family, no_family},
          {"net_alg", no_family, no_family},
          {"net_xdp", no_family, no_family},
          {"net_key", no_family, no_family},
          {"net_bluetooth", no_family, no_family},
          {"net_can", no_family, no_family},
          {"net_tipc", no_family, no_family},
          {"net_x25", no_family, no_family},
          {"net_rds", no_family, no_family},
          {"net_smc", no_family, no_family},
          {"net_qipcrtr", no_family, no_family},
          {"net_iouring_socket", no_call, no_call, once, {"EINVAL"}},
      },
  };
}

}  // namespace paddock::escapes
