//! What is no message of the protocol is answered as JSON-RPC 2.0 says (section 5.1), which the library passes over: -32700 for what is
//! no JSON, -32600 for JSON that is no message. Over standard input and output all lines come through here.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinHandle;

use super::MAX_MESSAGE_BYTES;

/// How much may stand between this and the library, in bytes.
const BETWEEN: usize = 64 * 1024;

/// What a text is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Text {
    /// A message of the protocol.
    Message,
    /// None, and this is the answer to it.
    Fault(Value),
    /// A notice that is none: nobody answers it, and nobody is handed it.
    Nothing,
}

/// Looks at a text.
pub(super) fn look_at(text: &[u8]) -> Text {
    if serde_json::from_slice::<ClientJsonRpcMessage>(text).is_ok() {
        return Text::Message;
    }
    let Ok(value) = serde_json::from_slice::<Value>(text) else {
        return Text::Fault(fault(&Value::Null, ErrorCode::PARSE_ERROR, "this is no JSON"));
    };
    let id = value.get("id").filter(|id| id.is_string() || id.is_number());
    // A notice is never answered.
    if value.get("id").is_none() && value.get("method").is_some_and(Value::is_string) {
        return Text::Nothing;
    }
    let why = "this is no message of the protocol";
    Text::Fault(fault(id.unwrap_or(&Value::Null), ErrorCode::INVALID_REQUEST, why))
}

/// The answer to a message that is longer than any may be.
pub(super) fn too_long() -> Value {
    let why = format!("a message has at most {MAX_MESSAGE_BYTES} bytes");
    fault(&Value::Null, ErrorCode::INVALID_REQUEST, &why)
}

fn fault(id: &Value, code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": message}})
}

/// A line of a client's.
enum Line {
    Whole(Vec<u8>),
    /// It was longer than any may be; nothing of it was kept.
    TooLong,
}

/// The next line, if there is one.
async fn next(input: &mut BufReader<impl AsyncRead + Unpin>) -> Option<Line> {
    let (mut line, mut is_long, mut read) = (Vec::new(), false, false);
    loop {
        // Who reads no more of a client is as if it had closed.
        let some = input.fill_buf().await.unwrap_or_default();
        if some.is_empty() {
            break;
        }
        read = true;
        let end = some.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(some.len(), |end| end + 1);
        let part = some.get(..end.unwrap_or(taken)).unwrap_or_default();
        is_long |= line.len() + part.len() > MAX_MESSAGE_BYTES;
        if is_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        input.consume(taken);
        if end.is_some() {
            break;
        }
    }
    read.then_some(if is_long { Line::TooLong } else { Line::Whole(line) })
}

/// Stands between a client's two streams and the library, which gets messages alone. The task ends when the library's side is closed
/// and everything is written.
pub(super) fn between(
    input: impl AsyncRead + Unpin + Send + 'static,
    mut output: impl AsyncWrite + Unpin + Send + 'static,
) -> ((DuplexStream, DuplexStream), JoinHandle<()>) {
    let (mut to_library, read) = tokio::io::duplex(BETWEEN);
    let (write, from_library) = tokio::io::duplex(BETWEEN);
    let (faults, mut said) = mpsc::channel::<Value>(16);
    tokio::spawn(async move {
        let mut input = BufReader::new(input);
        while let Some(line) = next(&mut input).await {
            let fault = match &line {
                Line::Whole(line) if line.trim_ascii().is_empty() => continue,
                Line::Whole(line) => match look_at(line) {
                    Text::Message => None,
                    Text::Fault(fault) => Some(fault),
                    Text::Nothing => continue,
                },
                Line::TooLong => Some(too_long()),
            };
            let went_on = match (line, fault) {
                // Who does not read his answers does not keep his end from being seen: of more than fit nothing is said.
                (_, Some(fault)) => !matches!(faults.try_send(fault), Err(TrySendError::Closed(_))),
                (Line::Whole(mut line), None) => {
                    line.push(b'\n');
                    to_library.write_all(&line).await.is_ok()
                }
                (Line::TooLong, None) => true,
            };
            if !went_on {
                return;
            }
        }
    });
    let writing = tokio::spawn(async move {
        let mut from_library = BufReader::new(from_library);
        let (mut line, mut no_more) = (Vec::new(), false);
        loop {
            // A line is only ever written whole.
            let written = tokio::select! {
                read = from_library.read_until(b'\n', &mut line) => {
                    if !matches!(read, Ok(1..)) {
                        return;
                    }
                    std::mem::take(&mut line)
                }
                fault = said.recv(), if !no_more => {
                    let Some(fault) = fault else {
                        no_more = true;
                        continue;
                    };
                    format!("{fault}\n").into_bytes()
                }
            };
            if output.write_all(&written).await.is_err() || output.flush().await.is_err() {
                return;
            }
        }
    });
    ((read, write), writing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_has_the_codes_of_json_rpc() {
        let code = |text: &str| match look_at(text.as_bytes()) {
            Text::Fault(fault) => Some((fault["error"]["code"].clone(), fault["id"].clone())),
            Text::Message | Text::Nothing => None,
        };
        for text in
            ["x", "{", "", "\u{feff}{}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", &"[".repeat(200_000)]
        {
            assert_eq!(code(text), Some((json!(-32700), Value::Null)), "{}", text.chars().take(80).collect::<String>());
        }
        assert!(matches!(look_at(b"\xff\xfe"), Text::Fault(fault) if fault["error"]["code"] == -32700));
        for (text, id) in [
            ("[]", Value::Null),
            ("5", Value::Null),
            ("{}", Value::Null),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a")),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
        ] {
            assert_eq!(code(text), Some((json!(-32600), id)), "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"1.0","method":"notifications/no_such"}"#,
        ] {
            assert_eq!(code(text), None, "{text}");
        }
    }

    #[tokio::test]
    async fn lines_come_whole_and_in_their_order() {
        let (mut client, input) = tokio::io::duplex(64 << 20);
        let (output, answers) = tokio::io::duplex(1 << 20);
        let ((library, mut library_says), writing) = between(input, output);
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        client.write_all(b"nothing\n\n").await.unwrap();
        client.write_all(&vec![b'x'; MAX_MESSAGE_BYTES + 1]).await.unwrap();
        client.write_all(b"\n").await.unwrap();
        client.write_all(ping).await.unwrap();
        client.write_all(b"\n").await.unwrap();
        let mut library = BufReader::new(library);
        let mut line = Vec::new();
        library.read_until(b'\n', &mut line).await.unwrap();
        assert_eq!(line.trim_ascii(), ping);
        library_says.write_all(b"{\"half\":").await.unwrap();
        let mut answers = BufReader::new(answers).lines();
        for code in ["-32700", "-32600"] {
            let line = answers.next_line().await.unwrap().unwrap();
            assert!(line.contains(code), "{line}");
        }
        library_says.write_all(b"1}\n").await.unwrap();
        assert_eq!(answers.next_line().await.unwrap().unwrap(), "{\"half\":1}");
        drop(client);
        line.clear();
        assert_eq!(library.read_until(b'\n', &mut line).await.unwrap(), 0, "the client has closed");
        drop(library_says);
        writing.await.unwrap();
    }
}
