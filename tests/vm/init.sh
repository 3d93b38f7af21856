#!/bin/sh
# The virtual machine's first process: makes the file systems and cgroups that a test needs, runs the
# command that the host left in /command.sh as the user of /command.user, writes "exit STATUS" to the
# third serial port, and turns the machine off.

export PATH=/usr/sbin:/usr/bin
busybox=/usr/bin/busybox

# The initramfs as such can be neither left by pivot_root nor the root of a user namespace: a bind
# mount of it can.
if [ ! -e /proc/self ]; then
  $busybox mount -o bind / /mnt
  cd /mnt
  $busybox mount -t proc -o nosuid,nodev,noexec proc proc
  $busybox mount -o move . /
  exec $busybox chroot . /init
fi

$busybox mount -t sysfs -o nosuid,nodev,noexec sys /sys
$busybox mount -t devtmpfs -o nosuid dev /dev
mkdir -p /dev/shm /dev/pts
ln -s /proc/self/fd /dev/fd
ln -s /proc/self/fd/0 /dev/stdin
ln -s /proc/self/fd/1 /dev/stdout
ln -s /proc/self/fd/2 /dev/stderr
$busybox mount -t devpts -o nosuid,noexec,ptmxmode=0666 devpts /dev/pts
for directory in /dev/shm /tmp /var/tmp; do
  $busybox mount -t tmpfs -o mode=1777,nodev,size=50% tmpfs $directory
done
$busybox mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run
$busybox mount -t cgroup2 -o nsdelegate,nosuid,nodev,noexec cgroup2 /sys/fs/cgroup
$busybox ip link set lo up
$busybox hostname paddock-vm
stty -F /dev/ttyS1 -opost
stty -F /dev/ttyS2 -opost
# A disk of the machine is its swap: without swap nothing would show that a run may not use any. A
# kernel without a driver for it has none. The driver takes a moment to find the disk.
if [ -e /sys/bus/pci/drivers/nvme ]; then
  tries=100
  while [ ! -b /dev/nvme0n1 ] && [ $tries -gt 0 ]; do sleep 0.1; tries=$((tries - 1)); done
  $busybox mkswap /dev/nvme0n1 >/dev/null && $busybox swapon /dev/nvme0n1 || exit 1
fi
# Ubuntu's kernel refuses user namespaces to programs without an AppArmor profile; there is none here.
knob=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
[ ! -e $knob ] || echo 0 >$knob

# As systemd does for a service with Delegate=yes: the command is in the cgroup that it may divide.
cgroup=/sys/fs/cgroup/system.slice/paddock-test.service
mkdir -p $cgroup
echo "+memory +pids +cpu" >/sys/fs/cgroup/cgroup.subtree_control
echo "+memory +pids +cpu" >/sys/fs/cgroup/system.slice/cgroup.subtree_control
python3 -c "import os; os.setxattr('$cgroup', 'trusted.delegate', b'1')"

user=$(cat /command.user)
as=
if [ "$user" = user ]; then
  chown 1000:1000 $cgroup $cgroup/cgroup.procs $cgroup/cgroup.subtree_control $cgroup/cgroup.threads
  mkdir -p /run/user/1000
  chmod 700 /run/user/1000
  chown 1000:1000 /run/user/1000 /home/paddock-test
  as="setpriv --reuid 1000 --regid 1000 --init-groups"
  export HOME=/home/paddock-test USER=paddock-test XDG_RUNTIME_DIR=/run/user/1000
else
  export HOME=/root USER=root
fi
export LANG=C.UTF-8

# Through a pipe: tests see no terminal, and no descriptor of the console.
cd /
{
  sh -c "echo \$\$ >$cgroup/cgroup.procs && exec $as bash /command.sh" </dev/null 2>&1
  echo "exit $?" >/dev/ttyS2
  echo 1 >$cgroup/cgroup.kill  # what the command left: it could hold the pipe open
} | cat >/dev/ttyS1
# Not before both serial ports have sent what they have.
stty -F /dev/ttyS1 opost
stty -F /dev/ttyS2 opost
$busybox poweroff -f
