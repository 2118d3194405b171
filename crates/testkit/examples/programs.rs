//! Prints the source of random programs: `programs FIRST COUNT`.
use reweave_testkit::program::{c_binary, draw};

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let (first, count) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(1));
    let programs: Vec<_> = (first..first + count).map(|seed| draw(seed, None)).collect();
    print!("{}", c_binary(&programs));
}
