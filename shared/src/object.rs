//! JSON objects and nothing else. What serde derives for a struct also reads an array with the fields in their order: a reply
//! `[false, "looks fine"]` would be an answer, and a call `["ls"]` a command.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// Something that is read from an object with its fields by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByName(PhantomData)).map(Self)
    }
}

struct ByName<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ByName<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Reads bytes that are one object.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice::<Object<T>>(bytes).map(|object| object.0)
}

/// For a field: an object.
pub(crate) fn required<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Object::<T>::deserialize(from).map(|object| object.0)
}

/// For a field: an object, null or nothing.
pub(crate) fn optional<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(Option::<Object<T>>::deserialize(from)?.map(|object| object.0))
}

/// For a field: objects.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(Vec::<Object<T>>::deserialize(from)?.into_iter().map(|object| object.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        x: bool,
    }

    #[derive(Debug, PartialEq, Eq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        a: bool,
        #[serde(default, deserialize_with = "optional")]
        b: Option<Inner>,
        #[serde(default, deserialize_with = "list")]
        c: Vec<Inner>,
    }

    #[test]
    fn only_objects_are_read() {
        for good in [r#"{"a":true}"#, r#" {"b":null,"a":true} "#, r#"{"a":true,"c":[]}"#] {
            assert_eq!(from_slice::<Outer>(good.as_bytes()).unwrap(), Outer { a: true, b: None, c: Vec::new() });
        }
        assert!(from_slice::<Outer>(br#"{"a":true,"b":{"x":true},"c":[{"x":false}]}"#).is_ok());
        for bad in [
            "[true]",
            "[true,null,[]]",
            r#"{"a":true,"b":[true]}"#,
            r#"{"a":true,"c":[[true]]}"#,
            r#"{"a":true,"c":{"x":true}}"#,
            r#"{"a":true,"a":true}"#,
            r#"{"a":true,"A":true}"#,
            r#"{"a":1}"#,
            r#"{"a":"true"}"#,
            r#"{"a":null}"#,
            r#"{"a":true}{"a":true}"#,
            r#"{"a":true},"#,
            r#"{"a":true,}"#,
            "{}",
            "null",
            "\"a\"",
            "",
            "\u{feff}{\"a\":true}",
            "{'a':true}",
            "{\"a\":true}\0",
        ] {
            assert!(from_slice::<Outer>(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
