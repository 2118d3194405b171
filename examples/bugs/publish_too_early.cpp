// A ring buffer whose index is published before the slot is filled.
// bug: race race global slot
#include <atomic>
#ifdef HALF
#include <mutex>
#endif
#include <thread>

static int slot[4];
static std::atomic<int> head;
static int wrong;
#ifdef HALF
static std::mutex lock;
#endif

int main() {
    head.store(0);
    slot[0] = 0;
    std::thread producer([] {
#ifdef FIXED
        slot[0] = 11;
        head.store(1);
#else
        head.store(1);
#ifdef HALF
        std::lock_guard<std::mutex> guard(lock); // The consumer does not take it.
#endif
        slot[0] = 11;
#endif
    });
    std::thread consumer([] {
        if (head.load() == 1 && slot[0] != 11)
            wrong = 1;
    });
    producer.join();
    consumer.join();
    return wrong;
}
