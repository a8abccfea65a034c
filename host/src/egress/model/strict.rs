//! JSON that everybody reads in the same way: an object has each name once, also where letters of another size count for the same.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{FORMS, FREE, has};

/// Most values of one text: what is small may be many, and each takes more memory than its letters.
const MAX_VALUES: usize = 100_000;

/// Reads an object, and nothing behind it. An error for a name that stands twice in one object, at any depth.
pub(super) fn object(text: &[u8]) -> Result<Map<String, Value>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let left = Cell::new(MAX_VALUES);
    let value = Strict { left: &left, is_free: false, is_top: true }.deserialize(&mut reader)?;
    reader.end()?;
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(Error::custom("it is no object")),
    }
}

/// How many more values may be read, and whether they are text to everybody: there, letters of another size make another name.
#[derive(Clone, Copy)]
struct Strict<'l> {
    left: &'l Cell<usize>,
    is_free: bool,
    /// It is the question itself.
    is_top: bool,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        let left = self.left.get().checked_sub(1).ok_or_else(|| Error::custom("it holds too many values"))?;
        self.left.set(left);
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let (mut all, mut names) = (Map::new(), BTreeSet::new());
        while let Some(name) = entries.next_key::<String>()? {
            let lower = name.to_ascii_lowercase();
            let is_free = self.is_free || has(FORMS, &lower) || !self.is_top && has(FREE, &lower);
            if !names.insert(if self.is_free { name.clone() } else { lower }) {
                return Err(Error::custom("a name stands in one object twice"));
            }
            let value = entries.next_value_seed(Self { is_free, is_top: false, ..self })?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_once() {
        let text = r#"{"a": [1, -2, 0.5, "x", null, true, {"b": {}}], "c": {"b": 1}}"#;
        assert_eq!(Value::Object(object(text.as_bytes()).unwrap()), serde_json::from_str::<Value>(text).unwrap());
        for text in [
            r#"{"a": 1, "a": 2}"#,
            r#"{"a": 1, "A": 2}"#,
            r#"{"a": 1, "\u0061": 2}"#,
            r#"{"x": [{"a": {"b": 1, "b": 1}}]}"#,
            "[]",
            "1",
            "",
            "{} {}",
            "{\"a\": 1,}",
            "\u{feff}{}",
        ] {
            assert!(object(text.as_bytes()).is_err(), "{text}");
        }
        assert!(object(format!("{{\"a\": [{}1]}}", "1,".repeat(MAX_VALUES)).as_bytes()).is_err());
        assert!(object(format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes()).is_err());
    }
}
