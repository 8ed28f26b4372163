#include <iostream>

int main() {
    for (int i = 0; i < 20000; i++) std::cout << i << std::endl;
}
