use std::io::Read;

fn deep(n: u64) -> u64 {
    if n == 0 { 0 } else { 1 + std::hint::black_box(deep(n - 1)) }
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let mut words = text.split_whitespace();
    match words.next().unwrap() {
        "hello" => println!("hello"),
        "sum" => println!("{}", words.skip(1).map(|w| w.parse::<i64>().unwrap()).sum::<i64>()),
        "crash" => std::process::abort(),
        "error" => { let none: Vec<u8> = Vec::new(); println!("{}", none[text.len()]); }
        "memory" => { let mut kept = Vec::new(); loop { kept.push(vec![1u8; 1 << 20]); } }
        "spin" => { let mut i = 0u64; loop { i = std::hint::black_box(i + 1); } }
        _ => println!("{}", deep(50000)),
    }
}
