//! The names that are certainly set at one point of a walk.

use std::collections::HashSet;

/// Variables that are certainly set, and functions (`name()`) that are certainly defined. What is noted behind a [`Mark`] is
/// forgotten at once by going back to it, so that a branch costs what stands in it and not what stands before it.
#[derive(Debug, Default)]
pub(super) struct Bound {
    names: HashSet<String>,
    /// In the order in which they came.
    order: Vec<String>,
}

/// What was set at some point. Marks are gone back to in the reverse of the order in which they were made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(usize);

impl Bound {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(super) fn insert(&mut self, name: String) {
        if self.names.insert(name.clone()) {
            self.order.push(name);
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.order.len())
    }

    /// Forgets what came behind a mark.
    pub(super) fn back_to(&mut self, mark: Mark) {
        for name in self.order.drain(mark.0.min(self.order.len())..) {
            self.names.remove(&name);
        }
    }

    /// As [`back_to`](Self::back_to), but for one name.
    pub(super) fn back_to_keeping(&mut self, mark: Mark, kept: Option<&str>) {
        let kept = kept.filter(|name| self.contains(name)).map(str::to_owned);
        self.back_to(mark);
        self.extend(kept);
    }
}

impl Extend<String> for Bound {
    fn extend<T: IntoIterator<Item = String>>(&mut self, names: T) {
        names.into_iter().for_each(|name| self.insert(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_back_forgets_what_came_later_and_nothing_else() {
        let mut bound = Bound::default();
        bound.insert("a".to_owned());
        let outer = bound.mark();
        bound.extend(["b".to_owned(), "a".to_owned()]);
        let inner = bound.mark();
        bound.insert("c".to_owned());
        bound.back_to_keeping(inner, Some("c"));
        assert!(["a", "b", "c"].iter().all(|name| bound.contains(name)));
        bound.back_to_keeping(inner, Some("d"));
        assert!(!bound.contains("c") && !bound.contains("d") && bound.contains("b"));
        bound.back_to(outer);
        assert!(bound.contains("a") && !bound.contains("b"));
    }
}
