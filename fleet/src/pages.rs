//! Pages of records, by their bytes: whoever may add records is not to be trusted, and one page is never more than this machine can hold.

/// How long the records of a page are together, in bytes, but for the last one.
const MOST_BYTES: u64 = 32 << 20;
/// How long one may be at all, in bytes. A longer one is read without its body.
const MOST_BODY: u64 = 64 << 20;

/// A query of the first `most` records at most that fit `which`, in their order: these columns, and the body behind them; null where that is
/// too long. A page may be shorter than `most` though more follow: there are none where it is empty.
pub fn query(columns: &str, which: &str, order: &str, most: usize) -> String {
    format!(
        "SELECT {columns}, CASE WHEN octet_length(body) <= {MOST_BODY} THEN body END FROM (
             SELECT *, sum(octet_length(body)) OVER (ORDER BY {order}) - octet_length(body) AS before FROM (
                 SELECT {columns}, body FROM record WHERE {which} ORDER BY {order} LIMIT {most}
             ) AS several
         ) AS page WHERE before < {MOST_BYTES} ORDER BY {order}"
    )
}
