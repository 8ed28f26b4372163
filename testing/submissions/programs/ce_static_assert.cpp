static_assert(sizeof(int) == 3, "an int of three bytes");
int main() {}
