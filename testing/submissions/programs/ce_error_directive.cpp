#error this is not going to work
int main() {}
