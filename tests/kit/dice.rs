//! Numbers that look random, and that a failed run can repeat.

/// A small generator of numbers (splitmix64).
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// Starts from a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Starts from `BASHGATE_SEED`, else from the time, and says from which.
    pub fn thrown(what: &str) -> Self {
        let given = std::env::var("BASHGATE_SEED").ok();
        let seed = given.map_or_else(
            || u64::from(std::time::UNIX_EPOCH.elapsed().unwrap().subsec_nanos()),
            |text| text.parse().unwrap_or_else(|_| panic!("BASHGATE_SEED is `{text}`, which is no number")),
        );
        println!("{what}: BASHGATE_SEED={seed}");
        Self::new(seed)
    }

    /// A number below `sides`.
    pub fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap() % sides
    }

    /// True once in `sides` times.
    pub fn one_in(&mut self, sides: usize) -> bool {
        self.below(sides) == 0
    }

    /// One of these.
    pub fn pick<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.below(of.len())]
    }
}
