#pragma once
// Talking to the supervisor from inside the launch chain.

#include "kernel/confine/launch_wire.hpp"

namespace paddock::launch {

void send(const kernel::ControlMessage& message);
void send_with_descriptor(const kernel::ControlMessage& message, int fd);

// One packet of exactly `size` bytes, and the descriptors that came with it, close-on-exec; how
// many, at most fork_descriptors_max. 0: no such packet, or none with descriptors.
size_t receive_with_descriptors(int socket, void* bytes, size_t size, int* descriptors,
                                size_t descriptors_max);

// Between the processes of a run.
bool send_descriptor(int socket, int fd);
int receive_descriptor(int socket);  // close-on-exec; -1: none came

// Reports that `step` failed with `error` and ends this process. Every set-up step is fatal: a run
// is confined as planned or does not start.
[[noreturn]] void die(const char* step, int error);

}  // namespace paddock::launch
