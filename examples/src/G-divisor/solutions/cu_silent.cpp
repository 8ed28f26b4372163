// expect: failed CU checker_unclear
int main() {}
