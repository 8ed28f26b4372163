#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

int main() {
    std::string all((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
    std::istringstream words(all);
    long long n, sum = 0, x;
    words >> n;
    while (words >> x) sum += x;
    std::cout << sum << std::endl;
}
