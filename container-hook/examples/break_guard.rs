//! Breaks on purpose behind the guard: `break_guard panic|overflow|allocate|hang|abort|index`. Each way must end in exit 2.
//! It starts as the hook does, without std's own start.
#![no_main]

use std::hint::black_box;

use bashgate_hook::guard;

fn overflow(depth: u64) -> u64 {
    let block = black_box([depth; 512]);
    if depth == u64::MAX { 0 } else { overflow(depth + 1) + block.iter().sum::<u64>() }
}

#[expect(unsafe_code, reason = "as in the hook")]
#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    guard::arm();
    match std::env::args().nth(1).as_deref() {
        Some("panic") => {
            let nothing: Option<u8> = black_box(None);
            assert!(nothing.is_some(), "broken on purpose");
        }
        Some("overflow") => {
            black_box(overflow(0));
        }
        Some("allocate") => {
            let mut blocks: Vec<Vec<u8>> = Vec::new();
            loop {
                blocks.push(black_box(vec![1; 16 << 20]));
            }
        }
        Some("hang") => {
            guard::end_after(std::time::Duration::from_millis(200));
            loop {
                black_box(());
            }
        }
        Some("abort") => std::process::abort(),
        _ => {}
    }
    0
}
