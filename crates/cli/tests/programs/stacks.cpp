// Races whose stacks are known: after an exception, in a function of a template, in a static library function that is inlined.
#include <stdexcept>
#include <thread>

#define APART __attribute__((noinline))

static int caught, in_template;

static APART void touch(int &what) { ++what; }

static APART void throws(int depth) {
    if (depth == 0) throw std::runtime_error("as planned");
    throws(depth - 1);
    touch(caught);
}

static APART void catches() {
    try {
        throws(4);
    } catch (const std::exception &) {
    }
    touch(caught);
}

template <typename T> struct Box {
    T held;
    APART void put(T value) {
        in_template += value;
        held = value;
    }
};

static void worker() {
    catches();
    Box<int> box{0};
    box.put(3);
}

int main() {
    std::thread thread(worker);
    caught++;
    in_template++;
    thread.join();
}
