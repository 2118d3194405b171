// What the standard library of C++ builds on all that.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::recursive_timed_mutex nests;
static std::shared_mutex rw;
static std::condition_variable changed;
static std::once_flag once;
static int value, made, destroyed;

struct Base {
    virtual ~Base() {}
    virtual int number() { return 1; }
};
struct Derived : Base {
    int number() override { return 2; }
};
struct Own {
    int used = 0;
    ~Own() { std::lock_guard<std::mutex> guard(lock); destroyed += used; }
};
static thread_local Own own;

struct Slow {
    int content;
    Slow() { std::this_thread::yield(); content = 42; }
};
static Slow &single() {
    static Slow slow;
    return slow;
}

static void work(std::map<std::string, int> &shared, int me) {
    own.used = 1;
    std::call_once(once, [] { made++; });
    for (int i = 0; i < 10; i++) {
        std::unique_lock<std::mutex> guard(lock);
        shared["key" + std::to_string(i % 3)] += me;
        value++;
        changed.notify_all();
    }
    {
        std::lock_guard<std::recursive_timed_mutex> a(nests), b(nests);
        value += 0;
    }
    {
        std::shared_lock<std::shared_mutex> read(rw);
        if (single().content != 42) std::puts("early");
    }
    std::unique_lock<std::shared_mutex> write(rw);
    std::unique_ptr<Base> object(new Derived);
    if (object->number() != 2) std::puts("lost");
}

int main() {
    std::map<std::string, int> shared;
    std::vector<std::thread> threads;
    for (int i = 1; i <= 3; i++) threads.emplace_back(work, std::ref(shared), i);
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [] { return value >= 30; });
        changed.wait_for(guard, std::chrono::milliseconds(2));
    }
    for (auto &thread : threads) thread.join();
    std::future<int> later = std::async(std::launch::async, [] { return single().content; });
    std::promise<std::string> promise;
    std::thread sender([&] { promise.set_value("sent"); });
    bool ok = later.get() == 42 && promise.get_future().get() == "sent";
    sender.join();
    std::future<void> throws = std::async(std::launch::async, [] { throw std::runtime_error("expected"); });
    try { throws.get(); ok = false; } catch (const std::runtime_error &) { }
    int sum = 0;
    for (auto &entry : shared) sum += entry.second;
    ok = ok && value == 30 && made == 1 && destroyed == 3 && sum == 60;
    std::puts(ok ? "ok" : "wrong");
    return !ok;
}
