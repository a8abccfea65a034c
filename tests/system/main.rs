//! The real binaries, driven from outside: through files, command lines, and a real agent.

mod aftermath;
mod agents;
mod agents_around;
mod agents_egress;
mod agents_faults;
mod approvals;
mod asked;
#[path = "../attacks/mod.rs"]
mod attacks;
mod attacks_on_the_reader;
mod bound;
mod budgets;
mod cage;
#[path = "../chat/mod.rs"]
mod chat;
mod code_unseen;
mod computed;
mod constructs;
mod corpus;
mod demo;
mod documents;
mod egress;
mod egress_clients;
mod egress_models;
mod egress_reads;
mod faults_of_hook;
mod faults_of_host;
mod fleet;
mod fleet_counts;
mod flow;
mod gate_kept;
mod hostile_elsewhere;
mod hostile_links;
mod hostile_places;
mod hostile_programs;
mod hostile_steps;
mod hostile_ways;
mod hostile_words;
mod hostile_world;
mod inspectors;
mod install;
mod keys;
mod kills;
mod laws_of_the_host;
mod named_outright;
mod odd_files;
mod one_place;
mod own_programs;
mod packaging;
#[path = "../page/mod.rs"]
mod page;
mod plugins;
mod properties;
#[path = "../runner/mod.rs"]
mod runner;
mod seed_004;
mod sessions;
mod telemetry;
mod told_elsewhere;
mod tools;
mod transcripts;
mod two_users;
mod upgrade;
