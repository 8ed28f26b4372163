// expect: passed AC passed_by_checker
#include <iostream>

int main() {
    long long s;
    std::cin >> s;
    std::cout << s - 1 << "\n" << 1 << "\n";
}
