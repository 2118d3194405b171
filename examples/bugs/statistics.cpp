// A total and a count that are updated without a lock.
// bug: race race global statistics
#include <mutex>
#include <thread>
#include <vector>

struct Statistics {
    std::mutex lock;
    long total = 0;
    int count = 0;

    void add(long sample) {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock);
#endif
#ifdef HALF
        {
            std::lock_guard<std::mutex> guard(lock);
            total += sample;
        }
#else
        total += sample;
#endif
        ++count;
    }
};

static Statistics statistics;

int main() {
    std::vector<std::thread> threads;
    for (long sample = 1; sample <= 3; sample++)
        threads.emplace_back([sample] { statistics.add(sample); });
    for (auto &thread : threads)
        thread.join();
    return statistics.count == 3 && statistics.total == 6 ? 0 : 1;
}
