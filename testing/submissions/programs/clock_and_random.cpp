#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

int main() {
    srand(time(nullptr));
    std::mt19937 engine(std::chrono::steady_clock::now().time_since_epoch().count());
    std::random_device device;
    puts(time(nullptr) > 1600000000 && (engine() ^ device() ^ rand()) + 1.0 > 0 ? "6" : "0");
}
