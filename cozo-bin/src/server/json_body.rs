//! Responses of JSON: short ones in one piece, long ones in chunks, whose rows become text as the client takes them.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cozo::{NamedRows, ResultStream, ScriptAnswer};
use http_body::Frame;

use super::values::{write_json, write_list, write_name, write_seconds, write_value};

/// Many results are no longer than that.
const SHORT_BYTES: usize = 256;

/// About how many bytes a chunk has.
const CHUNK_BYTES: usize = 64 * 1024;

/// The text of a JSON value, to be made piece by piece.
#[derive(Default)]
pub struct JsonText {
    pieces: VecDeque<Piece>,
}

enum Piece {
    Text(Vec<u8>),
    /// Rows, separated by commas; whether none was written yet.
    Rows(std::vec::IntoIter<Vec<cozo::DataValue>>, bool),
    /// Rows of a result that memory does not hold; whether none was written yet.
    Stream(Box<ResultStream>, bool),
}

impl JsonText {
    /// The result of a script: its rows with `ok` and `took`, and `warnings` if there are any.
    pub fn of_result(answer: ScriptAnswer, warnings: &[String], took: Duration) -> Self {
        let mut json = JsonText::default();
        json.text().push(b'{');
        match answer {
            ScriptAnswer::Rows(rows) => json.push_fields(rows),
            ScriptAnswer::Stream(stream) => json.push_stream(stream),
        }
        let text = json.text();
        if !warnings.is_empty() {
            text.extend_from_slice(b",\"warnings\":");
            text.extend_from_slice(serde_json::json!(warnings).to_string().as_bytes());
        }
        text.extend_from_slice(b",\"ok\":true,\"took\":");
        write_seconds(text, took);
        text.push(b'}');
        json
    }

    /// `{headers, rows, next}`
    pub fn of_rows(rows: NamedRows) -> Self {
        let mut json = JsonText::default();
        json.push_rows(rows);
        json
    }

    /// `{"ok": true, "data": {name: rows, ...}}`
    pub fn of_relations(relations: BTreeMap<String, NamedRows>) -> Self {
        let mut json = JsonText::default();
        json.text().extend_from_slice(b"{\"ok\":true,\"data\":{");
        for (i, (name, rows)) in relations.into_iter().enumerate() {
            write_name(json.text(), i == 0, &name);
            json.push_rows(rows);
        }
        json.text().extend_from_slice(b"}}");
        json
    }

    /// Any other value.
    pub fn of_json(value: &serde_json::Value) -> Self {
        let mut json = JsonText::default();
        write_json(json.text(), value);
        json
    }

    /// `{"ok": true}`
    pub fn ok() -> Self {
        JsonText { pieces: [Piece::Text(b"{\"ok\":true}".to_vec())].into() }
    }

    /// The text at the end.
    fn text(&mut self) -> &mut Vec<u8> {
        if !matches!(self.pieces.back(), Some(Piece::Text(_))) {
            self.pieces.push_back(Piece::Text(Vec::with_capacity(SHORT_BYTES)));
        }
        match self.pieces.back_mut() {
            Some(Piece::Text(text)) => text,
            _ => unreachable!("a text was put there"),
        }
    }

    fn push_rows(&mut self, rows: NamedRows) {
        self.text().push(b'{');
        self.push_fields(rows);
        self.text().push(b'}');
    }

    fn push_fields(&mut self, rows: NamedRows) {
        let NamedRows { headers, rows, next } = rows;
        let text = self.text();
        text.extend_from_slice(b"\"headers\":");
        write_json(text, &headers);
        text.extend_from_slice(b",\"rows\":[");
        self.pieces.push_back(Piece::Rows(rows.into_iter(), true));
        self.text().extend_from_slice(b"],\"next\":");
        match next {
            Some(next) => self.push_rows(*next),
            None => self.text().extend_from_slice(b"null"),
        }
    }

    fn push_stream(&mut self, stream: ResultStream) {
        let text = self.text();
        text.extend_from_slice(b"\"headers\":");
        write_json(text, stream.headers());
        text.extend_from_slice(b",\"rows\":[");
        self.pieces.push_back(Piece::Stream(Box::new(stream), true));
        self.text().extend_from_slice(b"],\"next\":null");
    }

    /// The next chunk; nothing at the end. Fails if the rows of a stream cannot be read: the client then sees that the response breaks off.
    fn chunk(&mut self) -> Result<Option<Vec<u8>>, std::io::Error> {
        let mut chunk = vec![];
        while chunk.len() < CHUNK_BYTES {
            let Some(piece) = self.pieces.pop_front() else { break };
            match piece {
                Piece::Text(text) if chunk.is_empty() => chunk = text,
                Piece::Text(text) => chunk.extend_from_slice(&text),
                Piece::Rows(mut rows, mut first) => {
                    while chunk.len() < CHUNK_BYTES {
                        let Some(row) = rows.next() else { break };
                        if !first {
                            chunk.push(b',');
                        }
                        first = false;
                        write_list(&mut chunk, &row, write_value);
                    }
                    if rows.len() > 0 {
                        self.pieces.push_front(Piece::Rows(rows, first));
                    }
                }
                Piece::Stream(mut stream, first) => {
                    let Some(rows) = stream.next_batch().map_err(|report| std::io::Error::other(report.to_string()))?
                    else {
                        continue;
                    };
                    for (nth, row) in rows.rows().enumerate() {
                        if !first || nth > 0 {
                            chunk.push(b',');
                        }
                        write_list(&mut chunk, &row, write_value);
                    }
                    self.pieces.push_front(Piece::Stream(stream, false));
                }
            }
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }

    /// The response; its first chunk is made now, on the thread of the caller.
    pub fn into_response(mut self) -> Response {
        let first = match self.chunk() {
            Ok(first) => first.unwrap_or_default(),
            Err(error) => return super::error::Failure::from(miette::Report::msg(error)).into_response(),
        };
        let body = match self.pieces.is_empty() {
            true => Body::from(first),
            false => {
                self.pieces.push_front(Piece::Text(first));
                Body::new(self)
            }
        };
        let mut response = Response::new(body);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

impl http_body::Body for JsonText {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        Poll::Ready(self.chunk().transpose().map(|chunk| chunk.map(|chunk| Frame::data(chunk.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use cozo::DataValue;
    use serde_json::{Value, json};

    use super::*;

    fn chunks(mut text: JsonText) -> (usize, Value) {
        let chunks: Vec<Vec<u8>> = std::iter::from_fn(|| text.chunk().expect("rows are in memory")).collect();
        (chunks.len(), serde_json::from_slice(&chunks.concat()).expect("it is JSON"))
    }

    fn rows(count: i64) -> NamedRows {
        NamedRows::new(vec!["n".to_string()], (0..count).map(|n| vec![DataValue::from(n)]).collect())
    }

    #[test]
    fn long_results_come_in_chunks_and_are_whole() {
        for count in [0, 1, 100, 50_000] {
            let mut result = rows(count);
            result.next = Some(Box::new(rows(2)));
            let expected = result.clone().into_json();
            let (number, mut json) =
                chunks(JsonText::of_result(ScriptAnswer::Rows(result), &[], Duration::from_millis(1500)));
            assert_eq!(number > 3, count == 50_000);
            let fields = json.as_object_mut().expect("it is an object");
            assert_eq!((fields.remove("ok"), fields.remove("took")), (Some(json!(true)), Some(json!(1.5))));
            assert_eq!(json, expected);
        }
    }

    #[test]
    fn relations_come_under_their_names() {
        let relations = [("a".to_string(), rows(1)), ("b".to_string(), rows(0))].into();
        let rows = |rows| json!({"headers": ["n"], "rows": rows, "next": null});
        assert_eq!(
            chunks(JsonText::of_relations(relations)).1,
            json!({"ok": true, "data": {"a": rows(json!([[0]])), "b": rows(json!([]))}})
        );
        assert_eq!(chunks(JsonText::of_relations(BTreeMap::new())).1, json!({"ok": true, "data": {}}));
    }
}
