//! What the flow of a text says of files to whoever is asked on the network: whether something runs, and how often, may be up to what was
//! read. Only what says nothing, or as good as nothing, may ask without anybody's word.

/// How the call at hand is reached, and what of that says something.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Inside of so many constructs in which what is read says what runs, or how often.
    pub branches: usize,
    /// Behind so many steps that may have ended by what they read.
    pub told: usize,
    /// Inside of so many loops.
    pub rounds: usize,
    /// How many constructs in it may end it, or go round for ever, by what was read.
    pub leaves_early: usize,
    /// Inside of so many groups of commands of which somebody reads what they say, and may have heard enough before their end.
    pub piped: usize,
    /// What speaks in such groups.
    in_groups: InGroups,
    /// The list at hand that goes on or not by the state of things: whether a folder is there, a branch, a service.
    pub list: Option<usize>,
    /// So many such lists there are so far.
    lists: usize,
    /// The first of them that asks. Whether it does says little; several say something each.
    asks: Option<usize>,
    asks_by_several: bool,
    /// How many such ends stand in front of what the list at hand asks.
    pub ends: usize,
    /// Behind so many `&&` and `||`.
    pub joined: usize,
    /// How often the loops go round in which the call at hand stands, all in all.
    pub times: Times,
    /// How often it asks, and how often that behind `&&` or `||`.
    asked: usize,
    asked_if: usize,
    /// Something in it is not known to open no file: whatever asks may be up to that in a way that nobody thought of.
    opens: bool,
}

/// Most of them: each says as much as one more question that is asked or not.
const MOST_ENDS: usize = 3;

/// How often something runs, where that is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times(pub usize);

impl Default for Times {
    fn default() -> Self {
        Self(1)
    }
}

/// What is in groups of commands whose output is read.
#[derive(Debug, Default)]
struct InGroups {
    asks: bool,
    /// Something else, whose words may be a file's.
    speaks: bool,
}

impl Flow {
    /// True where a call is made, and as often as it is, whatever files hold.
    pub fn is_free(&self) -> bool {
        self.branches == 0 && self.told == 0
    }

    /// One more list that goes on by the state of things.
    pub fn one_more_list(&mut self) -> usize {
        self.lists += 1;
        self.lists
    }

    /// A call only reads over the network.
    pub fn asks(&mut self) {
        let Times(times) = self.times;
        self.asked = self.asked.saturating_add(times);
        if self.joined > 0 {
            self.asked_if = self.asked_if.saturating_add(times);
        }
        self.tells_by_list();
    }

    /// A call does something else than to ask, to speak, or to work on what was asked for.
    pub fn opens(&mut self) {
        self.opens = true;
    }

    /// How often it asks so far.
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// Whether what asks goes on, or can start at all, is up to files: who reads it may stop by one, or a program gets a value that is only
    /// known when it runs.
    pub fn is_up_to_files(&mut self) {
        self.leaves_early += 1;
    }

    fn tells_by_list(&mut self) {
        if let Some(list) = self.list {
            let first = *self.asks.get_or_insert(list);
            self.asks_by_several |= first != list || self.rounds > 0 || self.ends > MOST_ENDS;
        }
    }

    /// Something of the shell's own is another thing behind this: where that depends on what was read, so does whatever goes by it.
    pub fn changes_shell(&mut self) {
        self.leaves_early += usize::from(!self.is_free());
        self.tells_by_list();
    }

    /// A call in a group whose output is read: one that asks, or one whose words may be a file's.
    pub fn in_group(&mut self, asks: bool, speaks: bool) {
        if self.piped > 0 {
            self.in_groups.asks |= asks;
            self.in_groups.speaks |= speaks;
        }
    }

    /// What reads what such a group says goes by a file.
    pub fn reads_group(&mut self) {
        self.in_groups.speaks = true;
    }

    /// True where nothing that was read is told by what is asked for, or as good as nothing. `opens`: the text opens files, as far as is known.
    pub fn says_nothing(&self, opens: bool) -> bool {
        let by_group = self.in_groups.asks && self.in_groups.speaks;
        let many = if opens || self.opens { self.asked } else { self.asked_if };
        self.leaves_early == 0 && !self.asks_by_several && !by_group && many <= MOST_ENDS
    }
}
