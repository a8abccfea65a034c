//! Writes what the fuzzers start from, the tables' examples, one file each. Usage: fuzz-seeds FOLDER

use bashgate_shared::programs::FAMILIES;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or_else(|| std::io::Error::other("usage: fuzz-seeds FOLDER"))?;
    let folder = std::path::PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    let rows = FAMILIES.iter().flat_map(|(_, rows)| rows.iter());
    for (number, example) in rows.flat_map(|row| row.safe.iter().chain(row.not_safe)).enumerate() {
        std::fs::write(folder.join(format!("example-{number}")), example)?;
    }
    Ok(())
}
