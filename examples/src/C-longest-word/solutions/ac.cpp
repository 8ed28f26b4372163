// expect: passed AC passed_by_exact_match
#include <fstream>
#include <string>

int main() {
    std::ifstream in("input.txt");
    std::ofstream out("output.txt");
    std::string best, word;
    while (in >> word)
        if (word.size() > best.size()) best = word;
    out << best << "\n";
}
