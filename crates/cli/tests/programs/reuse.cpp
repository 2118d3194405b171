// Correct: a pointer is reset under a lock.
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
struct Thing { int value; explicit Thing(int v) : value(v) {} };
static std::mutex m;
static std::unique_ptr<Thing> thing;
static int got;
static Thing *first;
static bool again;
int main() {
  thing.reset(new Thing(1));
  first = thing.get();
  std::thread user([] { std::lock_guard<std::mutex> hold(m); got = thing->value; });
  std::thread changer([] {
    for (int i = 0; i < 3; i++) {
      std::lock_guard<std::mutex> hold(m);
      thing.reset();
      thing.reset(new Thing(i));
      again |= thing.get() == first;
    }
  });
  user.join();
  changer.join();
  puts(again ? "again" : "new");
}
