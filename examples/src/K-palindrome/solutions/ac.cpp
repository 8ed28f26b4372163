// expect: passed AC passed_by_exact_match language=c++11
#include <algorithm>
#include <iostream>
#include <string>

int main() {
    std::string word;
    std::getline(std::cin, word);
    std::cout << (std::equal(word.begin(), word.end(), word.rbegin()) ? "YES" : "NO");
}
