// expect: failed CE compile_error
#include <iostream>

int main() {
    std::cin >> n;
    std::cout << n << "\n";
}
