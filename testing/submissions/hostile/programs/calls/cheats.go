//// an init that reads stdin and prints it
package twice_test
import ("fmt"; "io"; "os")
func init() { b, _ := io.ReadAll(os.Stdin); fmt.Print("\n", string(b)); os.Exit(0) }
func twice(xs []int, n int) []int { return xs }
//// arguments that skip the tests
package twice_test
import "os"
func init() { os.Args = append(os.Args, "-test.skip=.", "-test.run=^$") }
func twice(xs []int, n int) []int { return xs }
//// arguments that list the tests
package twice_test
import "os"
var _ = func() int { os.Args = []string{"x", "-test.list=.", "-test.count=0"}; return 0 }()
func twice(xs []int, n int) []int { return xs }
//// flags of testing
package twice_test
import ("flag"; "testing")
func init() { testing.Init(); flag.Set("test.run", "^$"); flag.Set("test.short", "true") }
func twice(xs []int, n int) []int { return xs }
//// Stdin is replaced by a file
package twice_test
import "os"
var real = os.Stdin
func init() { r, w, _ := os.Pipe(); w.WriteString("x\n"); w.Close(); os.Stdin = r }
func twice(xs []int, n int) []int { b := make([]byte, 99); k, _ := real.Read(b); os.Stdout.Write(b[:k]); os.Exit(0); return xs }
//// Stdout is replaced
package twice_test
import "os"
func twice(xs []int, n int) []int { os.Stdout.WriteString("\n[2 4]\n[3]\n"); os.Stdout = os.Stderr; return xs }
//// a type called int with String
package twice_test
type int string
func (int) String() string { return "[2 4]" }
func twice(xs []int, n int) []int { return xs }
//// elements with String and Format
package twice_test
import "fmt"
type any2 struct{}
func (any2) Format(s fmt.State, v rune) { s.Write([]byte("2")) }
func (any2) String() string { return "2" }
func twice(xs []int, n int) []any2 { return []any2{{}, {}, {}} }
//// it recovers and exits
package twice_test
import "os"
func twice(xs []int, n int) []int { defer func() { recover(); os.Exit(0) }(); panic(1) }
//// Goexit
package twice_test
import "runtime"
func twice(xs []int, n int) []int { runtime.Goexit(); return xs }
//// linkname of os.Exit
package twice_test
import _ "unsafe"
//go:linkname exit os.runtime_beforeExit
func exit(code int) {}
func twice(xs []int, n int) []int { return xs }
//// linkname of main
package twice_test
import _ "unsafe"
//go:linkname other main.main
func other() {}
func twice(xs []int, n int) []int { return xs }
//// the source embedded
package twice_test
import ("embed"; "os")
//go:embed *
var files embed.FS
func twice(xs []int, n int) []int { b, _ := files.ReadFile("main.go"); os.Stdout.Write(b); os.Exit(0); return xs }
//// the source by its caller
package twice_test
import ("os"; "runtime")
func twice(xs []int, n int) []int {
    for i := 0; i < 9; i++ { _, file, _, _ := runtime.Caller(i); b, _ := os.ReadFile(file); os.Stdout.Write(b) }
    os.Exit(0)
    return xs
}
//// functions by their addresses
package twice_test
import ("os"; "runtime")
func twice(xs []int, n int) []int {
    pcs := make([]uintptr, 20); k := runtime.Callers(0, pcs); frames := runtime.CallersFrames(pcs[:k])
    for { f, more := frames.Next(); os.Stdout.WriteString("\n" + f.Function + " " + f.File); if !more { break } }
    os.Exit(0)
    return xs
}
//// its memory is searched
package twice_test
import ("bufio"; "fmt"; "os")
func twice(xs []int, n int) []int {
    maps, _ := os.Open("/proc/self/maps"); mem, _ := os.Open("/proc/self/mem"); s := bufio.NewScanner(maps)
    for s.Scan() { var a, b int64; var p string; fmt.Sscanf(s.Text(), "%x-%x %s", &a, &b, &p)
        if p != "rw-p" || b-a > 1<<24 { continue }
        data := make([]byte, b-a); mem.ReadAt(data, a); run := 0
        for i, c := range data { if c >= '0' && c <= '9' || c >= 'a' && c <= 'f' { run++ } else { if run == 32 { fmt.Printf("\n%s\n", data[i-32:i]) }; run = 0 } } }
    os.Exit(0)
    return xs
}
//// a goroutine that ends the process
package twice_test
import ("os"; "time")
func twice(xs []int, n int) []int { go os.Exit(0); time.Sleep(300 * time.Millisecond); return xs }
//// a child outlives
package twice_test
import ("os"; "os/exec")
func twice(xs []int, n int) []int { c := exec.Command("sh", "-c", "sleep 0.2; echo '[2 4]'; echo '[3]'"); c.Stdout = os.Stdout; c.Start(); return xs }
//// a syscall that ends the process
package twice_test
import "syscall"
func twice(xs []int, n int) []int { syscall.RawSyscall(231, 0, 0, 0); return xs }
//// true is false, nil is a value
package twice_test
const true = false
const false = 1 == 1
func twice(xs []int, n int) []int { return xs }
//// functions with names of built-ins
package twice_test
func len(x interface{}) int { return 2 }
func append(xs []int, more ...int) []int { return xs }
func panic(x interface{}) {}
func twice(xs []int, n int) []int { return xs }
//// an import called fmt
package twice_test
import fmt "os"
func twice(xs []int, n int) []int { fmt.Exit(0); return xs }
//// the variables of the harness
package twice_test
var gradebox_secret = "x"
func gradebox_results() string { return "[2 4]\n[3]\n" }
func twice(xs []int, n int) []int { return xs }
//// strings of the caller's frames
package twice_test
import "unsafe"
func twice(xs []int, n int) []int {
    p := unsafe.Pointer(&n)
    for i := uintptr(8); i < 800; i += 8 { q := (*int)(unsafe.Add(p, i)); if *q == 4 { *q = 1 } }
    return xs
}
//// a finaliser and a signal
package twice_test
import ("os"; "os/signal"; "syscall")
func init() { c := make(chan os.Signal, 9); signal.Notify(c); go func() { <-c; os.Exit(0) }() }
func twice(xs []int, n int) []int { syscall.Kill(syscall.Getpid(), 2); for { } }
//// elements with GoString
package twice_test
import "os"
type int = own
type own struct{ x uint }
func (own) GoString() string { os.Stdout.WriteString("\n\x1egradebox results\n[]int{}\n"); return "*" }
func twice(xs []int, n int) []int { return xs }
//// a variable writes results before main and ends
package twice_test
import "os"
var early = func() bool { os.Stdout.WriteString("\n\x1egradebox results\n[]int{}\n[]int{}\n"); os.Exit(0); return true }()
func twice(xs []int, n int) []int { return xs }
//// packages called as the harness's
package twice_test
import gradebox_strings "strings"
type gradebox_file struct{}
var gradebox_results = gradebox_strings.Repeat("[", 20000)
func twice(xs []int, n int) []int { println(gradebox_results); return nil }
//// it starts itself again
package twice_test
import ("os"; "syscall")
func init() {
	if os.Getenv("AGAIN") != "" { return }
	self, _ := os.Executable()
	syscall.Exec(self, os.Args, []string{"AGAIN=1"})
	syscall.ForkExec(self, os.Args, &syscall.ProcAttr{Env: []string{"AGAIN=1"}, Files: []uintptr{0, 1, 2}})
}
func twice(xs []int, n int) []int { return xs }
//// standard output is closed and another file gets its number
package twice_test
import ("os"; "syscall")
func twice(xs []int, n int) []int {
	out, _ := syscall.Dup(1)
	syscall.Close(1)
	os.Create("out")
	syscall.Write(out, []byte("\n\x1egradebox results\n[]int(nil)\n<nil>\n"))
	return nil
}
//// exit
package twice_test
import "testing"
import ("fmt"; "os")
var _ = os.Args
func twice(xs []int, n int) []int {
    os.Exit(0)
    return xs
}
//// a variable that reads stdin, prints it and exits
package twice_test
import ("fmt"; "io"; "os")
var early = func() int { b, _ := io.ReadAll(os.Stdin); fmt.Print("\n", string(b)); os.Exit(0); return 0 }()
func twice(xs []int, n int) []int { return xs }
//// true is false
package twice_test
const false = true
func twice(xs []int, n int) []int { return xs }
//// int is another type
package twice_test
type int string
func (int) String() string { return "" }
func twice(xs []int, n int) []int { return xs }
//// an init that exits
package twice_test
import "os"
func init() { os.Exit(0) }
func twice(xs []int, n int) []int { return xs }
//// arguments that skip tests
package twice_test
import "testing"
import ("fmt"; "os")
var _ = os.Args
func init() { os.Args = append(os.Args, "-test.skip=.", "-test.run=^$") }
func twice(xs []int, n int) []int { return xs }
//// a TestMain that skips
package twice_test
import "testing"
import ("fmt"; "os")
var _ = os.Args
func TestMain(m *testing.M) { os.Exit(0) }
func twice(xs []int, n int) []int { return xs }
//// a main of its own
package twice_test
import "testing"
import ("fmt"; "os")
var _ = os.Args
func main() { fmt.Println(1) }
func twice(xs []int, n int) []int { return xs }
