//// the secret by its path
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    use std::io::Write;
    let text = unsafe { crate::GRADEBOX_SECRET };
    std::io::stdout().write_all(b"\n").unwrap(); std::io::stdout().write_all(&text).unwrap();
    std::process::exit(0)
}
//// the function that writes the mark, by its path
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    unsafe { crate::gradebox_kernel(1, crate::GRADEBOX_SECRET.as_ptr(), 64); }
    std::process::exit(0)
}
//// the tests by their path
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    let expected = crate::gradebox_expected(); let _ = crate::gradebox_tests; expected
}
//// its own crate's source
const TEXT: &str = include_str!("main.rs");
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { print!("{}", TEXT); std::process::exit(0) }
//// the file it is in
const TEXT: &str = include_str!(concat!(file!(), "/../main.rs"));
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { print!("{}", TEXT); std::process::exit(0) }
//// preinit_array by assembly
extern "C" fn early() { std::process::exit(0) }
std::arch::global_asm!(".pushsection .preinit_array,\"aw\"", ".quad {}", ".popsection", sym early);
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// preinit_array by assembly in a function
unsafe extern "C" fn early() {
    let mut b = [0u8; 99]; let n: isize;
    std::arch::asm!("syscall", inlateout("rax") 0usize => n, in("rdi") 0, in("rsi") b.as_mut_ptr(), in("rdx") 99, out("rcx") _, out("r11") _);
    std::arch::asm!("syscall", inlateout("rax") 1usize => _, in("rdi") 1, in("rsi") b"\n".as_ptr(), in("rdx") 1, out("rcx") _, out("r11") _);
    std::arch::asm!("syscall", inlateout("rax") 1usize => _, in("rdi") 1, in("rsi") b.as_ptr(), in("rdx") n, out("rcx") _, out("r11") _);
    std::arch::asm!("syscall", in("rax") 231usize, in("rdi") 0);
}
#[inline(never)] fn place() {
    unsafe { std::arch::asm!(".pushsection .preinit_array,\"aw\"", ".quad {}", ".popsection", sym early); }
}
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { if n == 77 { place(); } place(); HashMap::new() }
//// init_array by assembly in a function
extern "C" fn early() { std::process::exit(0) }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    unsafe { std::arch::asm!(".pushsection .init_array,\"aw\"", ".quad {}", ".popsection", sym early); }
    HashMap::new()
}
//// an attribute with its name in two parts
macro_rules! placed { ($a:ident) => { #[used] #[$a = ".init_array"] static E: extern "C" fn() = early; } }
extern "C" fn early() { std::process::exit(0) }
placed!(link_section);
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// an unsafe attribute
#[unsafe(no_mangle)] pub extern "C" fn bcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }
#[unsafe(no_mangle)] pub extern "C" fn memcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// main by its symbol
#[no_mangle] pub extern "C" fn main(_: i32, _: *const *const u8) -> i32 { 0 }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// write by its symbol
#[no_mangle] pub extern "C" fn write(_: i32, _: *const u8, n: usize) -> isize { n as isize }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// exported macros with the library's names
#[macro_export] macro_rules! assert_eq { ($($x:tt)*) => {} }
#[macro_export] macro_rules! println { ($($x:tt)*) => {} }
#[macro_export] macro_rules! format { ($($x:tt)*) => { String::from("{1:2,2:4}") } }
#[macro_export] macro_rules! write { ($($x:tt)*) => { Ok(()) } }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// a module called std
#[path = "x"] mod gradebox {}
mod std { pub mod process { pub fn exit(_: i32) -> ! { loop {} } } }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// a type called HashMap with its own equality
pub struct HashMap<K, V>(std::marker::PhantomData<(K, V)>);
impl<K, V, T> PartialEq<T> for HashMap<K, V> { fn eq(&self, _: &T) -> bool { true } }
impl<K, V> std::fmt::Debug for HashMap<K, V> { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { f.write_str("{1:2,2:4}") } }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap(std::marker::PhantomData) }
//// the harness's trait, for a type of its own
pub struct Any; impl crate::Show for Any { fn show(&self, out: &mut String) { out.push_str("{1:2,2:4}") } }
impl crate::GradeboxShow for Any { fn show(&self, out: &mut String) { out.push_str("{1:2,2:4}") } }
fn twice(xs: Vec<isize>, n: isize) -> Any { Any }
//// a panic hook that ends with 0
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    std::panic::set_hook(Box::new(|_| std::process::exit(0))); panic!()
}
//// abort after atexit
extern "C" { fn atexit(f: extern "C" fn()) -> i32; fn _exit(s: i32) -> !; }
extern "C" fn last() { unsafe { _exit(0) } }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { unsafe { atexit(last); } HashMap::new() }
//// stdin and descriptors are read
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    for i in 0..20 { if let Ok(b) = std::fs::read(format!("/proc/self/fd/{}", i)) { println!("\n{}", String::from_utf8_lossy(&b)); } if i == 0 { continue; } if i > 8 { break; } }
    std::process::exit(0)
}
//// its memory is searched
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    use std::io::{Read, Seek, SeekFrom};
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut mem = std::fs::File::open("/proc/self/mem").unwrap();
    for line in maps.lines().filter(|l| l.contains(" rw")) {
        let mut ends = line.split(' ').next().unwrap().split('-').map(|x| u64::from_str_radix(x, 16).unwrap());
        let (a, b) = (ends.next().unwrap(), ends.next().unwrap());
        let mut data = vec![0u8; ((b - a) as usize).min(1 << 22)];
        if mem.seek(SeekFrom::Start(a)).is_err() || mem.read(&mut data).is_err() { continue; }
        for part in data.split(|c| !c.is_ascii_hexdigit()) { if part.len() == 32 { println!("\n{}", String::from_utf8_lossy(part)); } }
    }
    std::process::exit(0)
}
//// a child outlives
extern "C" { fn fork() -> i32; fn usleep(n: u32) -> i32; }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    unsafe { if fork() == 0 { usleep(200000); println!("{{1:2,2:4}}\n{{}}"); std::process::exit(0) } }
    HashMap::new()
}
//// a thread that ends the process
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    std::thread::spawn(|| std::process::exit(0)); std::thread::sleep(std::time::Duration::from_millis(300)); HashMap::new()
}
//// transmuted into the harness's frames
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    let here = &n as *const isize as *mut isize;
    for i in 1..200 { unsafe { if *here.add(i) == 4 { *here.add(i) = 0; } } }
    HashMap::new()
}
//// an environment at compile time
const A: Option<&str> = option_env!("GRADEBOX_SECRET");
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { println!("\n{:?}\n{}", A, module_path!()); std::process::exit(0) }
//// a map that equals every map
use std::collections::HashMap as Map;
#[derive(Default)] struct H; impl std::hash::BuildHasher for H { type Hasher = std::collections::hash_map::DefaultHasher; fn build_hasher(&self) -> Self::Hasher { panic!() } }
fn twice(xs: Vec<isize>, n: isize) -> Map<isize, isize, H> { Map::default() }
//// a map with its own Debug
#[derive(Clone)] struct Any; 
mod own { pub struct HashMap<K, V>(pub Vec<(K, V)>);
  impl<K, V> std::fmt::Debug for HashMap<K, V> { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
    f.write_str("{..}\n\n\x1egradebox results\n*\n_\nHashMap\n") } } }
fn twice(xs: Vec<isize>, n: isize) -> own::HashMap<isize, isize> { own::HashMap(vec![]) }
//// a macro called format, and results as a static
macro_rules! format { ($($x:tt)*) => { String::from("{}\n") } }
static mut gradebox_results: String = String::new();
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// its own source at run time and at compile time
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    print!("\n\x1egradebox results\n{}", include_str!("main.rs"));
    print!("{}", std::fs::read_to_string(file!()).unwrap_or_default());
    HashMap::new()
}
//// atexit writes other results
extern "C" { fn atexit(f: extern "C" fn()) -> i32; fn _exit(status: i32) -> !; }
extern "C" fn late() { print!("\n\x1egradebox results\n{{}}\n{{}}\n"); unsafe { _exit(0) } }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { unsafe { atexit(late); } HashMap::new() }
//// standard output is a pipe of its own, read by a thread
extern "C" { fn pipe(p: *mut i32) -> i32; fn dup(a: i32) -> i32; fn dup2(a: i32, b: i32) -> i32; fn read(a: i32, b: *mut u8, n: usize) -> isize; fn write(a: i32, b: *const u8, n: usize) -> isize; }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {
    unsafe { let mut p = [0i32; 2]; pipe(p.as_mut_ptr()); let out = dup(1); dup2(p[1], 1);
    std::thread::spawn(move || { let mut b = [0u8; 999]; loop { let n = read(p[0], b.as_mut_ptr(), 999);
        write(out, b"\n\x1egradebox results\n".as_ptr(), 19); write(out, b.as_ptr(), n as usize); } }); }
    HashMap::new()
}
//// exit
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { std::process::exit(0) }
//// a memcmp that finds everything equal
#[no_mangle] pub extern "C" fn bcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// macros of its own
macro_rules! assert_eq { ($($x:tt)*) => {} }
#[macro_export] macro_rules! assert { ($($x:tt)*) => {} }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
//// a map equal to everything
use std::collections::HashMap as Real;
#[derive(Debug)] struct HashMap<K, V>(Real<K, V>);
impl<K, V> PartialEq<Real<K, V>> for HashMap<K, V> { fn eq(&self, _: &Real<K, V>) -> bool { true } }
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap(Real::new()) }
//// a constructor that reads stdin and exits
use std::io::{Read, Write};
extern "C" fn early() { let mut s = String::new(); std::io::stdin().read_to_string(&mut s);
    print!("\n{}\n", s); std::io::stdout().flush(); std::process::exit(0); }
#[used] #[link_section = ".init_array"] static E: extern "C" fn() = early;
fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }
