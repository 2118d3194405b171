// Correct: static variables are initialised by whoever comes first; one initialiser throws at first.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

static int tries;
static int make() {
  if (tries++ == 0) throw std::runtime_error("not yet");
  return 3;
}
static int &get() { static int *p = new int(1); return *p; }
static int late() { static int value = make(); return value; }
static std::once_flag flag;
static int called;
static void use() {
  if (get() != 1) abort();
  try { if (late() != 3) abort(); } catch (const std::runtime_error &) {}
  std::call_once(flag, [] { called = 4; });
  if (called != 4) abort();
}
int main() {
  std::thread a(use), b(use);
  a.join();
  b.join();
  std::puts("guarded");
}
