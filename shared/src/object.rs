//! JSON objects and nothing else. What serde derives for a struct also reads an array with the fields in their order: a reply
//! `[false, "looks fine"]` would be an answer, and a call `["ls"]` a command.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

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

/// A value of any kind in which no object has a field twice: another reader might take the other one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Once(pub Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldsOnce).map(Self)
    }
}

struct FieldsOnce;

impl<'de> Visitor<'de> for FieldsOnce {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Once(value)) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some((name, Once(value))) = map.next_entry::<String, Once>()? {
            if fields.insert(name.clone(), value).is_some() {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
        }
        Ok(Value::Object(fields))
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
    fn a_field_stands_once_however_deep() {
        let whole = r#"{"a":[1,-2,2.5,"x",null,true,{"b":{"c":1}}]}"#;
        assert_eq!(from_slice::<Once>(whole.as_bytes()).unwrap().0, serde_json::from_str::<Value>(whole).unwrap());
        for twice in [r#"{"a":1,"a":1}"#, r#"{"x":[{"a":1,"b":2,"\u0061":3}]}"#] {
            assert!(serde_json::from_str::<Once>(twice).is_err(), "{twice}");
        }
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
