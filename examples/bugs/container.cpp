// A stack of numbers that two threads push to.
// bug: race race global stack+72
#include <mutex>
#include <thread>

class Stack {
public:
    void push(int item) {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock);
#endif
#ifdef HALF
        {
            std::lock_guard<std::mutex> guard(lock);
            items[size] = item;
        }
#else
        items[size] = item;
#endif
        size = size + 1;
    }
    int count() const { return size; }

private:
    std::mutex lock;
    int items[8] = {};
    int size = 0;
};

static Stack stack;

int main() {
    std::thread first([] { stack.push(1); });
    std::thread second([] { stack.push(2); });
    first.join();
    second.join();
    return stack.count() == 2 ? 0 : 1;
}
