int elsewhere();
int main() { return elsewhere(); }
