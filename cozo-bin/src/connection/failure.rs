//! An error that a server tells of in JSON, with the lines of the script that it is about.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use miette::{Diagnostic, LabeledSpan, SourceCode};
use serde_json::Value;

/// An error of a server.
#[derive(Debug)]
pub struct Failure {
    message: Message,
    code: Option<String>,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    script: String,
}

/// A message with those that say why.
#[derive(Debug)]
struct Message {
    text: String,
    cause: Option<Box<Message>>,
}

impl Failure {
    /// From the JSON of an error about a script.
    pub fn of_json(json: &Value, script: &str) -> Self {
        let text = |key: &str| json[key].as_str().map(str::to_string);
        let causes = json["causes"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let cause = causes.rev().fold(None, |cause, text| Some(Box::new(Message { text: text.to_string(), cause })));
        let labels = json["labels"].as_array().into_iter().flatten().filter_map(|json| label(json, script));
        Failure {
            message: Message { text: text("message").unwrap_or_else(|| "the server failed".to_string()), cause },
            code: text("code"),
            help: text("help"),
            labels: labels.collect(),
            script: script.to_string(),
        }
    }
}

/// A label, if its place is one in the script.
fn label(json: &Value, script: &str) -> Option<LabeledSpan> {
    let number = |key: &str| json["span"][key].as_u64().and_then(|number| usize::try_from(number).ok());
    let (offset, length) = (number("offset")?, number("length")?);
    script.get(offset..offset.checked_add(length)?)?;
    Some(LabeledSpan::new(json["label"].as_str().map(str::to_string), offset, length))
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.message.source()
    }
}

impl Diagnostic for Failure {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.code.as_ref().map(|code| Box::new(code) as Box<dyn Display>)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.labels.is_empty())
            .then(|| Box::new(self.labels.iter().cloned()) as Box<dyn Iterator<Item = LabeledSpan>>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.script)
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Message {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_outside_of_the_script_are_left_out() {
        let labels = |offset: u64, length: u64| {
            let json =
                json!({"message": "m", "labels": [{"label": "here", "span": {"offset": offset, "length": length}}]});
            Failure::of_json(&json, "é?").labels.len()
        };
        assert_eq!([labels(0, 2), labels(2, 1), labels(3, 0)], [1, 1, 1]);
        assert_eq!([labels(1, 1), labels(2, 5), labels(9, 0), labels(u64::MAX, 1)], [0, 0, 0, 0]);
    }

    #[test]
    fn causes_are_kept_in_order() {
        let report = miette::Report::new(Failure::of_json(&json!({"message": "a", "causes": ["b", "c"]}), ""));
        assert_eq!(report.chain().map(ToString::to_string).collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}
