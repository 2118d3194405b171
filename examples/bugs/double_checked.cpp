// Double-checked locking with a plain pointer.
// bug: race race global instance
#include <atomic>
#include <mutex>
#include <thread>

struct Settings {
    int level = 3;
};

static std::mutex lock;
#ifdef FIXED
static std::atomic<Settings *> instance;
#else
static Settings *instance;
#endif

static int level() {
    if (!instance) {
        std::lock_guard<std::mutex> guard(lock);
        if (!instance)
            instance = new Settings;
    }
    Settings *settings = instance;
    return settings->level;
}

int main() {
    int a = 0, b = 0;
    instance = nullptr;
    std::thread first([&a] { a = level(); });
    std::thread second([&b] { b = level(); });
    first.join();
    second.join();
    return a == 3 && b == 3 ? 0 : 1;
}
