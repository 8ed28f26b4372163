package main

import (
	"bufio"
	"fmt"
	"os"
	"syscall"
)

func deep(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + deep(n-1)
}

func main() {
	in := bufio.NewReader(os.Stdin)
	var what string
	var kept [][]byte
	fmt.Fscan(in, &what)
	switch what {
	case "hello":
		fmt.Println("hello")
	case "sum":
		var n, x, sum int
		fmt.Fscan(in, &n)
		for ; n > 0; n-- {
			fmt.Fscan(in, &x)
			sum += x
		}
		fmt.Println(sum)
	case "crash":
		syscall.Exit(134)
	case "error":
		fmt.Println(kept[len(what)])
	case "memory":
		for {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = 1
			}
			kept = append(kept, b)
		}
	case "spin":
		for i := 0; ; i++ {
			what = what[:4]
		}
	case "deep":
		fmt.Println(deep(50000))
	}
}
