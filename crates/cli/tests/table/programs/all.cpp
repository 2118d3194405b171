// What C++ adds: exceptions, virtual calls, templates, lambdas, members.
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

struct Base {
    virtual ~Base() = default;
    virtual int value(int) const = 0;
    int (Base::*member)(int) const = &Base::value;
};
struct Derived : Base {
    int kept = 3;
    int value(int given) const override { return kept + given; }
};

std::mutex guard;
std::vector<int> numbers;
std::atomic<long> total;
thread_local std::string mine = "mine";

struct Cleaner {
    ~Cleaner() { total.fetch_add(1, std::memory_order_relaxed); }
};

int throws(int way) {
    if (way == 1) throw std::string("one");
    if (way == 2) throw 2;
    return way;
}

int catches(int way) noexcept(false) {
    Cleaner cleaner;
    try {
        return throws(way);
    } catch (const std::string &text) {
        return (int)text.size();
    } catch (int number) {
        if (number > 5) throw;
        return number;
    }
}

int calls(const Base &base, const std::function<int(int)> &function) {
    std::lock_guard<std::mutex> hold(guard);
    numbers.push_back(base.value(1) + (base.*base.member)(2));
    return function(numbers.back());
}

int uses() {
    Derived derived;
    std::map<std::string, int> names{{"a", 1}, {mine, 2}};
    int sum = 0;
    for (const auto &entry : names)
        sum += calls(derived, [&](int given) { return given + entry.second + (int)entry.first.size(); });
    return sum;
}
