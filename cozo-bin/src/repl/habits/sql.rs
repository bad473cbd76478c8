//! Statements of SQL about one table, in CozoScript.

mod condition;
mod text;

use cozo::expr::aggregations::AGGREGATIONS;

use super::Written;
use super::catalog::{Catalog, Relation, add};
use condition::Condition;
use text::{Clauses, items, within_brackets};

/// How a statement is written here.
pub fn written(statement: &str, catalog: &Catalog<'_>) -> Written {
    let statement = &text::without_comments(statement);
    let words: Vec<String> = statement.split_whitespace().take(3).map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (exact, pattern) = match words.as_slice() {
        ["insert" | "replace", ..] => {
            (insert(statement, catalog), "?[COLUMN, ...] <- [[VALUE, ...], ...] :put RELATION {COLUMN, ...}")
        }
        ["delete", ..] => (
            delete(statement, catalog),
            "?[KEY, ...] := *RELATION{KEY, ..., COLUMN, ...}, CONDITION :rm RELATION {KEY, ...}",
        ),
        ["update", ..] => (
            update(statement, catalog),
            "?[KEY, COLUMN] := *RELATION{KEY, COLUMN: old}, CONDITION, COLUMN = old + 1 :update RELATION {KEY, COLUMN}",
        ),
        ["create", "table", ..] => (create_table(statement), ":create RELATION {KEY: TYPE, ... => COLUMN: TYPE, ...}"),
        ["create", ..] => (create_index(statement, catalog), "::index create RELATION:INDEX {COLUMN, ...}"),
        ["drop", "table", ..] => (drop_table(statement, catalog), "::remove RELATION"),
        ["drop", ..] => (None, "::index drop RELATION:INDEX"),
        ["alter", ..] => (None, "::columns RELATION add {COLUMN: TYPE default VALUE}, or drop, rename, retype, key"),
        ["explain", ..] => (None, "::explain { ?[COLUMN, ...] := *RELATION{COLUMN, ...}, CONDITION }"),
        _ => (
            select(statement, catalog),
            "?[COLUMN, ...] := *RELATION{COLUMN, ...}, *OTHER{COLUMN, ...}, CONDITION :order COLUMN :limit N\n\
             # A variable that stands in two places joins them; rules of one name are a union.",
        ),
    };
    Written { exact, pattern }
}

fn select(statement: &str, catalog: &Catalog<'_>) -> Option<String> {
    let clauses = Clauses::of(statement, &["select", "from", "where", "group by", "order by", "limit", "offset"])?;
    let table = Table::of(clauses.get("from")?, catalog)?;
    let mut bound = vec![];
    let mut head = vec![];
    let selected = clauses.get("select")?;
    // Answers are sets: no row comes twice.
    let is_distinct = selected.get(..9).is_some_and(|word| word.eq_ignore_ascii_case("distinct "));
    for item in items(if is_distinct { &selected[9..] } else { selected }) {
        match item.as_str() {
            "*" => {
                let relation = table.relation.as_ref()?;
                relation.columns.iter().for_each(|column| add(&mut bound, column));
                head.extend(relation.columns.iter().cloned());
            }
            item => head.push(table.head_item(item, &mut bound)?),
        }
    }
    // What groups and sorts is an output here.
    for clause in ["group by", "order by"] {
        for key in clauses.get(clause).map(items).unwrap_or_default() {
            let item = table.head_item(key.split_whitespace().next()?, &mut bound)?;
            add(&mut head, &item);
        }
    }
    // Rows of a relation are counted, and not the distinct values among them.
    if let Some(relation) = table.relation.as_ref().filter(|_| head.iter().any(|item| item.contains('('))) {
        relation.keys.iter().for_each(|key| add(&mut bound, key));
    }
    let condition = condition(&clauses, &table)?;
    condition.iter().for_each(|condition| condition.names.iter().for_each(|name| add(&mut bound, name)));
    let mut script = format!("?[{}] := {}{}", head.join(", "), table.atom(&bound), text_of(condition.as_ref()));
    if let Some(order) = clauses.get("order by") {
        let keys: Vec<String> = items(order).iter().map(|key| table.order_key(key)).collect::<Option<_>>()?;
        script.push_str(&format!("\n:order {}", keys.join(", ")));
    }
    for clause in ["limit", "offset"] {
        if let Some(number) = clauses.get(clause) {
            script.push_str(&format!("\n:{clause} {}", number.parse::<u64>().ok()?));
        }
    }
    Some(script)
}

/// `, CONDITION`, or nothing.
fn text_of(condition: Option<&Condition>) -> String {
    condition.map_or(String::new(), |condition| format!(", {}", condition.text))
}

/// The condition of a statement, if it has one; nothing if it is not easy.
fn condition(clauses: &Clauses<'_>, table: &Table) -> Option<Option<Condition>> {
    clauses.get("where").map_or(Some(None), |text| Condition::of(text, table).map(Some))
}

fn insert(statement: &str, catalog: &Catalog<'_>) -> Option<String> {
    let clauses = Clauses::of(statement, &["into", "values"])?;
    let target = clauses.get("into")?;
    let (name, columns) = match target.split_once('(') {
        Some((name, columns)) => (name.trim(), items(columns.trim_end().strip_suffix(')')?)),
        None => (target, catalog.relation(target)?.columns),
    };
    let table = Table::of(name, catalog)?;
    let row = |row: &String| Some(format!("[{}]", text::lower_constants(&within_brackets(row)?)));
    let rows: Vec<String> = items(clauses.get("values")?).iter().map(row).collect::<Option<_>>()?;
    let columns = columns.join(", ");
    Some(format!("?[{columns}] <- [{}]\n:put {} {{{columns}}}", rows.join(", "), table.name()))
}

fn delete(statement: &str, catalog: &Catalog<'_>) -> Option<String> {
    let clauses = Clauses::of(statement, &["from", "where"])?;
    let table = Table::of(clauses.get("from")?, catalog)?;
    let keys = table.relation.as_ref()?.keys.clone();
    let condition = condition(&clauses, &table)?;
    let mut bound = keys.clone();
    condition.iter().for_each(|condition| condition.names.iter().for_each(|name| add(&mut bound, name)));
    let (atom, keys) = (table.atom(&bound), keys.join(", "));
    Some(format!("?[{keys}] := {atom}{}\n:rm {} {{{keys}}}", text_of(condition.as_ref()), table.name()))
}

fn update(statement: &str, catalog: &Catalog<'_>) -> Option<String> {
    let clauses = Clauses::of(statement, &["update", "set", "where"])?;
    let table = Table::of(clauses.get("update")?, catalog)?;
    let keys = table.relation.as_ref()?.keys.clone();
    let condition = condition(&clauses, &table)?;
    let set = items(clauses.get("set")?);
    let set: Vec<(&str, Condition)> = set
        .iter()
        .map(|assignment| {
            let (column, value) = assignment.split_once('=')?;
            Some((column.trim(), Condition::of(value, &table)?))
        })
        .collect::<Option<_>>()?;
    let mut bound = keys.clone();
    let values = set.iter().map(|(_, value)| value).chain(&condition);
    values.for_each(|value| value.names.iter().for_each(|name| add(&mut bound, name)));
    // What is set and read has two values.
    let is_old = |name: &str| set.iter().any(|(column, _)| *column == name);
    let bindings: Vec<String> =
        bound.iter().map(|name| if is_old(name) { format!("{name}: old_{name}") } else { name.clone() }).collect();
    let columns: Vec<&str> = keys.iter().map(String::as_str).chain(set.iter().map(|(column, _)| *column)).collect();
    let columns = columns.join(", ");
    let assigned = set.iter().map(|(column, value)| format!(", {column} = {}", value.with_old(&is_old)));
    let condition = condition.map_or(String::new(), |condition| format!(", {}", condition.with_old(&is_old)));
    let (name, assigned) = (table.name(), assigned.collect::<String>());
    Some(format!(
        "?[{columns}] := *{name}{{{}}}{condition}{assigned}\n:update {name} {{{columns}}}",
        bindings.join(", ")
    ))
}

fn create_table(statement: &str) -> Option<String> {
    let (before, body) = statement.split_once('(')?;
    let name = before.split_whitespace().next_back()?;
    let definitions = items(body.trim_end().strip_suffix(')')?);
    let mut keys = vec![];
    let mut columns: Vec<(String, String, bool)> = vec![];
    for definition in &definitions {
        let lower = definition.to_lowercase();
        if lower.starts_with("primary key") {
            keys = items(&within_brackets(definition)?);
        } else if ["foreign ", "unique ", "unique(", "constraint ", "check"].iter().all(|word| !lower.starts_with(word))
        {
            let (column, column_type) = definition.split_once(char::is_whitespace).unwrap_or((definition, ""));
            if lower.contains("primary key") {
                keys.push(column.to_string());
            }
            columns.push((column.to_string(), type_of(column_type).to_string(), lower.contains("not null")));
        }
    }
    if keys.is_empty() {
        keys.push(columns.first()?.0.clone());
    }
    let text = |is_key: bool| {
        let of_kind = columns.iter().filter(|(column, ..)| keys.contains(column) == is_key);
        let column = |(name, column_type, not_null): &(String, String, bool)| {
            format!("{name}: {column_type}{}", if is_key || *not_null { "" } else { "?" })
        };
        of_kind.map(column).collect::<Vec<_>>().join(", ")
    };
    let (keys, values) = (text(true), text(false));
    let arrow = if values.is_empty() { "" } else { " => " };
    Some(format!(":create {name} {{{keys}{arrow}{values}}}"))
}

/// The type here of a type there.
fn type_of(sql: &str) -> &'static str {
    let word = sql.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    match word.as_str() {
        "int" | "integer" | "bigint" | "smallint" | "tinyint" | "serial" | "bigserial" | "int4" | "int8" => "Int",
        "real" | "float" | "double" | "numeric" | "decimal" => "Float",
        "bool" | "boolean" => "Bool",
        "blob" | "bytea" | "binary" | "varbinary" => "Bytes",
        "uuid" => "Uuid",
        "json" | "jsonb" => "Json",
        "" => "Any",
        _ => "String",
    }
}

fn create_index(statement: &str, catalog: &Catalog<'_>) -> Option<String> {
    let clauses = Clauses::of(statement, &["index", "on"])?;
    let (name, columns) = clauses.get("on")?.split_once('(')?;
    let table = Table::of(name, catalog)?;
    let columns = items(columns.trim_end().strip_suffix(')')?).join(", ");
    Some(format!("::index create {}:{} {{{columns}}}", table.name(), clauses.get("index")?))
}

fn drop_table(statement: &str, catalog: &Catalog<'_>) -> Option<String> {
    let table = Table::of(statement.split_whitespace().next_back()?, catalog)?;
    Some(format!("::remove {}", table.name()))
}

/// The table of a statement.
struct Table {
    name: String,
    /// Another name for it.
    alias: Option<String>,
    /// The relation, if it is there.
    relation: Option<Relation>,
}

impl Table {
    /// `name`, `name alias` or `name AS alias`.
    fn of(text: &str, catalog: &Catalog<'_>) -> Option<Self> {
        let (name, alias) = match text.split_whitespace().collect::<Vec<_>>().as_slice() {
            [name] => (*name, None),
            [name, alias] => (*name, Some(alias.to_string())),
            [name, as_word, alias] if as_word.eq_ignore_ascii_case("as") => (*name, Some(alias.to_string())),
            _ => return None,
        };
        let name = name.trim_matches(['"', '`']).to_string();
        Some(Table { alias, relation: catalog.relation(&name), name })
    }

    fn name(&self) -> &str {
        self.relation.as_ref().map_or(&self.name, |relation| &relation.name)
    }

    /// A column without the name of the table before it, as the relation spells it.
    fn column(&self, name: &str) -> Option<String> {
        let bare = match name.split_once('.') {
            Some((table, column)) => {
                let is_ours = table.eq_ignore_ascii_case(&self.name) || Some(table) == self.alias.as_deref();
                is_ours.then_some(column)?
            }
            None => name,
        };
        let is_name =
            bare.starts_with(|c: char| c.is_alphabetic()) && bare.chars().all(|c| c.is_alphanumeric() || c == '_');
        let known = self.relation.iter().flat_map(|relation| &relation.columns);
        let known = known.into_iter().find(|column| column.eq_ignore_ascii_case(bare));
        match &self.relation {
            Some(_) => known.cloned(),
            None => is_name.then(|| bare.to_string()),
        }
    }

    /// A selected column or aggregation, whose column is bound.
    fn head_item(&self, item: &str, bound: &mut Vec<String>) -> Option<String> {
        let lower = item.to_lowercase();
        let item = lower.find(" as ").map_or(item, |at| item[..at].trim_end());
        let Some((function, argument)) = item.split_once('(') else {
            let column = self.column(item)?;
            add(bound, &column);
            return Some(column);
        };
        let argument = argument.strip_suffix(')')?.trim();
        let function = match function.trim().to_lowercase().as_str() {
            "avg" => "mean".to_string(),
            "stddev" => "std_dev".to_string(),
            other => other.to_string(),
        };
        let column = match argument {
            "*" => self.relation.as_ref()?.keys.first()?.clone(),
            name => self.column(name)?,
        };
        add(bound, &column);
        AGGREGATIONS.iter().any(|known| known.name == function).then(|| format!("{function}({column})"))
    }

    fn order_key(&self, key: &str) -> Option<String> {
        let (name, direction) = key.split_once(char::is_whitespace).unwrap_or((key, ""));
        let sign = if direction.trim().eq_ignore_ascii_case("desc") { "-" } else { "" };
        Some(format!("{sign}{}", self.head_item(name, &mut vec![])?))
    }

    fn atom(&self, bound: &[String]) -> String {
        format!("*{}{{{}}}", self.name(), bound.join(", "))
    }
}
