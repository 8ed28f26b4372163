#include <fstream>
#include <iostream>

int main() {
    std::ifstream in("/dev/stdin");
    long long n = 0, sum = 0, x;
    in >> n;
    while (n-- > 0) in >> x, sum += x;
    std::cout << sum << "\n";
}
