// expect: failed WA failed_checker
#include <iostream>

int main() {
    long long s;
    std::cin >> s;
    std::cout << s / 2 << " " << s - s / 2 << "\n";  // 12 = 6 + 6
}
