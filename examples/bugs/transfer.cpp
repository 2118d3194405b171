// Money goes both ways, and each way takes its own account first.
// bug: deadlock cycle global theirs
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance = 100;
};

static Account ours, theirs;
#ifdef HALF
static std::mutex bank;
#endif

static void transfer(Account &from, Account &to, int amount) {
#ifdef FIXED
    Account &first = &from < &to ? from : to, &second = &from < &to ? to : from;
    std::lock_guard<std::mutex> one(first.lock), two(second.lock);
#else
#ifdef HALF
    std::unique_lock<std::mutex> large(bank, std::defer_lock);
    if (amount > 5) // Small amounts wait for nobody.
        large.lock();
#endif
    std::lock_guard<std::mutex> one(from.lock), two(to.lock);
#endif
    from.balance -= amount;
    to.balance += amount;
}

int main() {
    std::thread there([] { transfer(ours, theirs, 10); });
    std::thread back([] { transfer(theirs, ours, 5); });
    there.join();
    back.join();
    return ours.balance == 95 && theirs.balance == 105 ? 0 : 1;
}
