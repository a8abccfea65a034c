//! The page's own files, which hold nothing of anybody.

/// A file and its type.
pub(super) type File = (&'static str, &'static str);

/// The file at a path.
pub(super) fn file(path: &str) -> Option<File> {
    Some(match path {
        "/" => ("text/html; charset=utf-8", include_str!("page.html")),
        "/page.css" => ("text/css; charset=utf-8", include_str!("page.css")),
        "/page.js" => ("text/javascript; charset=utf-8", include_str!("page.js")),
        "/charts.js" => ("text/javascript; charset=utf-8", include_str!("charts.js")),
        "/icon.svg" => ("image/svg+xml", include_str!("icon.svg")),
        _ => return None,
    })
}
