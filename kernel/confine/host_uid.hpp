#pragma once
// Host uids for runs. Started as root, paddock gives each run a uid of its own: RLIMIT_NPROC limits
// nothing on uid 0, and bubblewrap run as root keeps what root has.

#include <sys/types.h>

#include <string>
#include <utility>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {

struct HostUidRange {
  // 60578 to 61183: the gap that systemd's list of uids leaves unused, between systemd-homed's
  // users and its dynamic service users, and inside the 65536 ids that most containers map. Source:
  // systemd's "Users, Groups, UIDs and GIDs".
  uid_t first = 60578;
  uid_t count = 606;

  bool contains(uid_t uid) const { return uid >= first && uid - first < count; }
};

// A uid that no other run on this host has, until the lease is destroyed. Every supervisor on the
// host takes its leases from the same lock files, so a daemon and a `paddock run` cannot collide.
class HostUidLease {
 public:
  // Takes the next free uid after the one leased last, so that a uid rests between two runs. Only
  // for root. Fails with too_busy if all are in use and with io if the lock files cannot be made.
  static Result<HostUidLease> take(const HostUidRange& range,
                                   const std::string& lock_directory = "/run/paddock-uids");

  // This very uid, shared with other runs that ask for it and with nobody else: for runs that work
  // in a directory which belongs to it. Fails with too_busy if one run has it for itself.
  static Result<HostUidLease> share(uid_t uid,
                                    const std::string& lock_directory = "/run/paddock-uids");

  // This very uid and for nobody else: for who ends what runs under it. Fails with too_busy if a
  // run of a living supervisor has it.
  static Result<HostUidLease> take_this(uid_t uid, const std::string& lock_directory);

  // For the owner of a directory that outlives its runs: as long as `directory` is there and
  // belongs to this uid, take() passes it by, also when no lease of it is left. The lease becomes a
  // shared one. The lock files, and this with them, are gone after a boot: say it again. Fails with
  // io.
  Result<void> keep_for(const std::string& directory);

  HostUidLease(HostUidLease&&) noexcept = default;
  HostUidLease& operator=(HostUidLease&& other) noexcept {
    std::swap(uid_, other.uid_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~HostUidLease();

  uid_t uid() const { return uid_; }

 private:
  HostUidLease(uid_t uid, Fd lock) : uid_(uid), lock_(std::move(lock)) {}

  uid_t uid_;
  Fd lock_;  // flock: the kernel drops it with the process, however that ends
};

}  // namespace paddock::kernel
