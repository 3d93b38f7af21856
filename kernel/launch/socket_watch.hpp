#pragma once
// Whether a process of the run asks for a socket. A zygote's forks share its network namespace for
// as long as none of them has: nothing else can leave a trace in it, and making and unmaking one
// takes longer than the rest of a fork (rfcs/0013).

namespace paddock::launch {

// In the agent's process, before its filter: from now on each socket and socketpair of it and its
// descendants waits for the init, which gets the listener through `gate`.
void watch_sockets(int gate);

// In the init. The listener; ends the process if none comes.
int receive_listener(int gate);

// In the init, when the listener is readable: lets the call go on. Never blocks.
void let_socket_go_on(int listener);

}  // namespace paddock::launch
