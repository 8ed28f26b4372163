// expect: unsupported SK unsupported_interactive
#include <iostream>
#include <string>

int main() {
    int low = 1, high = 1000;
    std::string answer;
    while (answer != "equal") {
        int guess = (low + high) / 2;
        std::cout << guess << std::endl;
        if (!(std::cin >> answer)) return 1;
        (answer == "less" ? high : low) = guess + (answer == "less" ? -1 : 1);
    }
}
