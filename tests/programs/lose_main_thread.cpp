// lose_main_thread MARK: exits with 0 and leaves a process whose main thread has ended and which
// lives on in another thread. The kernel shows such a process as a zombie.

#include <pthread.h>
#include <unistd.h>

#include <cstdio>

namespace {

void* live_on(void*) {
  for (;;) ::pause();
}

}  // namespace

int main() {
  if (::fork() == 0) {
    ::setsid();
    pthread_t thread{};
    if (::pthread_create(&thread, nullptr, live_on, nullptr) != 0) ::_exit(1);
    ::pthread_exit(nullptr);
  }
  ::usleep(100'000);
  std::puts("left");
}
