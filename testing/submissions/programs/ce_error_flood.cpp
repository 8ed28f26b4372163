#define TWO(x) x x
#define MANY(x) TWO(TWO(TWO(TWO(TWO(TWO(TWO(TWO(TWO(TWO(x))))))))))
int main() {
    MANY(undeclared_name_that_is_rather_long = another_undeclared_name_that_is_long_too;)
    MANY({ int x = "text"; })
}
