#include <iostream>
#include <sstream>
#include <string>

int main() {
    std::string line;
    long long sum = 0, x;
    std::getline(std::cin, line);  // the count
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        while (words >> x) sum += x;
    }
    std::cout << sum;
}
