#include <cstdio>
#include <string>
#include <iostream>

// Prints the bytes whose hexadecimal digits it reads.
int main() {
    std::string digits;
    std::cin >> digits;
    for (size_t i = 0; i + 1 < digits.size(); i += 2)
        putchar(std::stoi(digits.substr(i, 2), nullptr, 16));
}
