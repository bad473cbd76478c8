//! Tokenizers and filters on texts of all kinds.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::budget::{Budget, Interrupt};

/// A list of strings.
fn list(words: &[&str]) -> DataValue {
    DataValue::List(words.iter().map(|word| DataValue::from(*word)).collect())
}

/// An analyzer of parts that are written as in scripts, such as `NGram 2 3 true`. A list is written `[a,b]`.
fn analyzer(tokenizer: &str, filters: &[&str]) -> Result<Analyzer, AnalyzerError> {
    fn value(text: &str) -> DataValue {
        match text {
            "true" | "false" => DataValue::from(text == "true"),
            "null" => DataValue::Null,
            _ if text.starts_with('[') => list(&text[1..text.len() - 1].split(',').collect::<Vec<_>>()),
            _ => text.parse::<i64>().map_or_else(|_| DataValue::from(text), DataValue::from),
        }
    }
    let named = |text: &str| -> (String, Vec<DataValue>) {
        let mut parts = text.split(' ');
        (parts.next().unwrap().to_string(), parts.map(value).collect())
    };
    let (name, args) = named(tokenizer);
    let filters: Vec<_> = filters.iter().map(|filter| named(filter)).collect();
    let filters: Vec<Named<'_>> = filters.iter().map(|(name, args)| (name.as_str(), args.as_slice())).collect();
    Analyzer::new((&name, &args), &filters)
}

fn words(analyzer: &Analyzer, text: &str) -> Vec<String> {
    let mut tokens = Tokens::default();
    analyzer.tokens(text, &mut tokens).unwrap();
    tokens.iter().map(|token| token.text.to_string()).collect()
}

#[test]
fn tokenizers() {
    let table: &[(&str, &str, &[&str])] = &[
        ("Raw", "exact phrase", &["exact phrase"]),
        ("Raw", "", &[]),
        ("Raw", " ", &[" "]),
        ("Simple", "It, is - ok! A1 b_2", &["It", "is", "ok", "A1", "b", "2"]),
        ("Simple", "", &[]),
        ("Simple", "...", &[]),
        ("Simple", "one", &["one"]),
        ("Simple", "Käse-Brötchen, naïve", &["Käse", "Brötchen", "naïve"]),
        ("Simple", "日本語 テキスト", &["日本語", "テキスト"]),
        ("Simple", "a\u{a0}b\u{2003}c🎉d", &["a", "b", "c", "d"]),
        ("Whitespace", "a-b c.d", &["a-b", "c.d"]),
        ("Whitespace", "  a\t\nb\r\u{c}c ", &["a", "b", "c"]),
        ("Whitespace", "a\u{a0}b c", &["a\u{a0}b", "c"]),
        ("NGram", "abc", &["a", "b", "c"]),
        ("NGram 2", "abcd", &["ab", "bc", "cd"]),
        ("NGram 2 3", "abcd", &["ab", "abc", "bc", "bcd", "cd"]),
        ("Ngram 2 3", "äöü", &["äö", "äöü", "öü"]),
        ("NGram 2 3 true", "abcd", &["ab", "abc"]),
        ("NGram 2 3 false", "abc", &["ab", "abc", "bc"]),
        ("NGram 3 5", "ab", &[]),
        ("NGram 1 9", "ab", &["a", "ab", "b"]),
        ("NGram 1 9 true", "", &[]),
        (
            "Unicode",
            "The quick (\"brown\") fox can't jump 32.3 feet",
            &["The", "quick", "brown", "fox", "can't", "jump", "32.3", "feet"],
        ),
        ("Unicode", "b_2 a-b", &["b_2", "a", "b"]),
        ("Unicode", "日本 テスト", &["日", "本", "テスト"]),
    ];
    for (tokenizer, text, expected) in table {
        assert_eq!(words(&analyzer(tokenizer, &[]).unwrap(), text), *expected, "{tokenizer} of {text:?}");
    }
}

#[test]
#[cfg(feature = "text-chinese")]
fn chinese() {
    let table: &[(&str, &str, &[&str])] = &[
        ("Cangjie", "我们中出了一个叛徒", &["我们", "中", "出", "了", "一个", "叛徒"]),
        ("Cangjie default true", "他来到了网易杭研大厦", &["他", "来到", "了", "网易", "杭研", "大厦"]),
        ("Cangjie default false", "他来到了网易杭研大厦", &["他", "来到", "了", "网易", "杭", "研", "大厦"]),
        ("Cangjie search", "南京市长江大桥", &["南京", "京市", "南京市", "长江", "大桥", "长江大桥"]),
        ("Cangjie unicode", "中文 a，b", &["中", "文", "a", "b"]),
        ("Cangjie", "中文，hello world！", &["中文", "hello", "world"]),
        ("Cangjie all", "中文", &["中", "中文", "文"]),
    ];
    for (tokenizer, text, expected) in table {
        assert_eq!(words(&analyzer(tokenizer, &[]).unwrap(), text), *expected, "{tokenizer} of {text:?}");
    }
}

#[test]
#[cfg(not(feature = "text-chinese"))]
fn chinese() {
    let error = analyzer("Cangjie", &[]).unwrap_err();
    assert_eq!(error.to_string(), "the tokenizer 'Cangjie' is not in this build");
}

#[test]
fn filters() {
    let table: &[(&[&str], &str, &[&str])] = &[
        (&["Lowercase"], "Loud NOISE", &["loud", "noise"]),
        (&["LowerCase"], "ÄRGER Straße İ", &["ärger", "straße", "i\u{307}"]),
        (&["Lowercase"], "ΟΔΟΣ ΣΑΣ", &["οδος", "σας"]),
        (&["AlphaNumOnly"], "abc a_b é x1 中", &["abc", "x1"]),
        (&["AsciiFolding"], "passé café", &["passe", "cafe"]),
        (&["RemoveLong 4"], "a ab abc abcd éé", &["a", "ab", "abc"]),
        (&["RemoveLong 1"], "a", &[]),
        (&["Stemmer english"], "running runs walking homes", &["run", "run", "walk", "home"]),
        (&["Stemmer German"], "häuser laufen", &["haus", "lauf"]),
        (&["Lowercase", "Stopwords en"], "The house of Cards", &["house", "cards"]),
        (&["Stopwords EN"], "The the", &["The"]),
        (&["Stopwords [foo,bar]"], "foo Foo bar baz", &["Foo", "baz"]),
        (&["Lowercase", "Stemmer english", "Stopwords en"], "Running quickly", &["quick"]),
        (
            &["SplitCompoundWords [dampf,schiff,fahrt]"],
            "dampfschifffahrt dampfer schiff",
            &["dampf", "schiff", "fahrt", "dampfer", "schiff"],
        ),
        // The longest part that leaves what can be divided.
        (&["SplitCompoundWords [ab,abc,cd,d]"], "abcd abcdx", &["abc", "d", "abcdx"]),
        (&["SplitCompoundWords [ab,abc,cd]"], "abcd abc ab", &["ab", "cd", "abc", "ab"]),
        (&["SplitCompoundWords [straßen,bahn,ö]"], "straßenbahn öö", &["straßen", "bahn", "ö", "ö"]),
        (&["Lowercase", "SplitCompoundWords [haus,tür]", "Stopwords [tür]"], "HausTür", &["haus"]),
        (&["Stemmer english", "Stemmer english"], "generalizations", &["general"]),
    ];
    for (filters, text, expected) in table {
        assert_eq!(words(&analyzer("Whitespace", filters).unwrap(), text), *expected, "{filters:?} of {text:?}");
    }
}

#[test]
fn folding() {
    let table = [
        ("Ærøskøbing", "AEroskobing"),
        ("Straße ẞ", "Strasse SS"),
        ("Łódź Đà Þór ı ŋ", "Lodz Da THor i n"),
        ("ﬁﬂﬀ œuvre ĳ ǆ", "fiflff oeuvre ij dz"),
        ("Ｆｕｌｌ １２", "Full 12"),
        ("①² x₂ ℡ ™", "12 x2 TEL TM"),
        ("e\u{301}a\u{308}", "ea"),
        ("việt nam Ǽ", "viet nam AE"),
        ("don’t “quoted” – dash", "don't \"quoted\" - dash"),
        ("中文 日本語が 한국어", "中文 日本語が 한국어"),
        ("й Ёлка έ ж", "й Ёлка έ ж"),
        ("か\u{3099} и\u{306}", "か\u{3099} и\u{306}"),
        ("हिन्दी", "हिन्दी"),
        ("½ \u{a0} ´", "½ \u{a0} ´"),
        ("plain", "plain"),
    ];
    for (text, expected) in table {
        let mut folded = String::new();
        folding::fold(text, &mut folded);
        assert_eq!(folded, expected, "{text}");
    }
}

#[test]
fn the_table_of_letters_is_of_letters_that_need_it() {
    let mut seen = std::collections::HashSet::new();
    for (ascii, letters) in folding::LETTERS {
        assert!(ascii.is_ascii() && !ascii.is_empty());
        assert!(letters.chars().all(|letter| !letter.is_ascii() && seen.insert(letter)), "{letters}");
    }
}

#[test]
fn all_languages_have_stems_and_lists() {
    for (language, _) in stemming::LANGUAGES {
        assert!(analyzer("Simple", &[&format!("Stemmer {language}")]).is_ok(), "{language}");
        let upper = language.to_uppercase();
        assert!(analyzer("Simple", &[&format!("Stemmer {upper}")]).is_ok(), "{upper}");
    }
    assert_eq!(stop_words::available_languages().len(), 58);
    for language in stop_words::available_languages() {
        assert!(analyzer("Simple", &[&format!("Stopwords {language}")]).is_ok(), "{language}");
    }
}

/// A token: text, bounds, position.
type Place<'a> = (&'a str, usize, usize, usize);

/// Positions count what filters drop, and offsets are those of the text.
#[test]
fn places_of_tokens() {
    let table: &[(&str, &[&str], &str, &[Place<'_>])] = &[
        ("Simple", &[], "go dog go", &[("go", 0, 2, 0), ("dog", 3, 6, 1), ("go", 7, 9, 2)]),
        ("Simple", &["Lowercase", "Stopwords [b]"], "Ä B c", &[("ä", 0, 2, 0), ("c", 5, 6, 2)]),
        ("NGram 1 2", &[], "aé", &[("a", 0, 1, 0), ("aé", 0, 3, 0), ("é", 1, 3, 0)]),
        (
            "Simple",
            &["SplitCompoundWords [ab,cd]"],
            "x abcd y",
            &[("x", 0, 1, 0), ("ab", 2, 6, 1), ("cd", 2, 6, 1), ("y", 7, 8, 2)],
        ),
        ("Unicode", &["AsciiFolding"], "Æ b", &[("AE", 0, 2, 0), ("b", 3, 4, 1)]),
    ];
    for (tokenizer, filters, text, expected) in table {
        let mut tokens = Tokens::default();
        analyzer(tokenizer, filters).unwrap().tokens(text, &mut tokens).unwrap();
        let found: Vec<_> = tokens.iter().map(|token| (token.text, token.from, token.to, token.position)).collect();
        assert_eq!(found, *expected, "{tokenizer} {filters:?} of {text:?}");
    }
}

#[test]
fn prefixes_are_changed_and_not_dropped() {
    let table: &[(&[&str], &str, &[&str])] = &[
        (&["Lowercase", "Stopwords en"], "The", &["the"]),
        (&["Lowercase", "Stopwords en"], "the Quick The", &["quick", "the"]),
        (&["Lowercase", "RemoveLong 3", "AsciiFolding"], "Càfé", &["cafe"]),
        (&["SplitCompoundWords [ab,c]"], "abc abc", &["ab", "c", "abc"]),
        (&[], "", &[]),
    ];
    for (filters, text, expected) in table {
        let mut tokens = Tokens::default();
        analyzer("Simple", filters).unwrap().tokens_of_prefix(text, &mut tokens).unwrap();
        let found: Vec<_> = tokens.iter().map(|token| token.text).collect();
        assert_eq!(found, *expected, "{filters:?} of {text:?}");
    }
}

#[test]
fn errors_say_what_is_accepted() {
    use miette::Diagnostic;
    let table: &[(&str, &[&str], &str, &str)] = &[
        ("Simpel", &[], "there is no tokenizer 'Simpel'", "did you mean 'Simple'?"),
        ("raw", &[], "there is no tokenizer 'raw'", "did you mean 'Raw'?"),
        (
            "Lindera",
            &[],
            "there is no tokenizer 'Lindera'",
            "there are Raw, Simple, Whitespace, NGram, Cangjie, Unicode",
        ),
        ("Simple", &["lowercase"], "there is no token filter 'lowercase'", "did you mean 'Lowercase'?"),
        (
            "Simple",
            &["Nonsense"],
            "there is no token filter 'Nonsense'",
            "there are Lowercase, AlphaNumOnly, AsciiFolding, RemoveLong, SplitCompoundWords, Stemmer, Stopwords",
        ),
        ("Simple 1", &[], "tokenizer 'Simple': it takes no argument, and has 1", "it is written Simple"),
        (
            "NGram 0",
            &[],
            "tokenizer 'NGram': the argument 'min' is an Int of at least 1, not 0",
            "it is written NGram(min = 1, max = min, prefix_only = false)",
        ),
        (
            "Ngram 3 2",
            &[],
            "tokenizer 'NGram': the argument 'max' is an Int of at least 3, not 2",
            "it is written NGram(min = 1, max = min, prefix_only = false)",
        ),
        (
            "NGram 1 2 3",
            &[],
            "tokenizer 'NGram': the argument 'prefix_only' is a Bool, not 3",
            "it is written NGram(min = 1, max = min, prefix_only = false)",
        ),
        (
            "NGram 1 2 true 4",
            &[],
            "tokenizer 'NGram': it takes 3 arguments at most, and has 4",
            "it is written NGram(min = 1, max = min, prefix_only = false)",
        ),
        (
            "Simple",
            &["RemoveLong"],
            "token filter 'RemoveLong': the argument 'bytes' is missing, which is an Int of at least 1",
            "it is written RemoveLong(bytes)",
        ),
        (
            "Simple",
            &["Stemmer englich"],
            "token filter 'Stemmer': there is no stemmer for the language 'englich'",
            "did you mean 'english'?",
        ),
        (
            "Simple",
            &["Stemmer 1"],
            "token filter 'Stemmer': the argument 'language' is a String, not 1",
            "it is written Stemmer(language)",
        ),
        (
            "Simple",
            &["Stopwords"],
            "token filter 'Stopwords': the argument 'language or words' is missing, which is a language or a list of \
             Strings",
            "it is written Stopwords(language or [word ...])",
        ),
        (
            "Simple",
            &["SplitCompoundWords a"],
            "token filter 'SplitCompoundWords': the argument 'words' is a list of Strings, not \"a\"",
            "it is written SplitCompoundWords([word ...])",
        ),
    ];
    for (tokenizer, filters, message, help) in table {
        let error = analyzer(tokenizer, filters).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.help().unwrap().to_string().as_str()), (*message, *help));
    }
    let error = analyzer("Simple", &["Stopwords xx"]).unwrap_err();
    assert!(error.to_string().contains("no list of stop words for the language 'xx'"), "{error}");
    let numbers = [DataValue::List(vec![1.into()])];
    let error = Analyzer::new(("Simple", &[]), &[("Stopwords", &numbers)]).unwrap_err();
    assert!(error.to_string().contains("has Strings, not 1"), "{error}");
}

/// The number of tokens is known before they are made.
#[test]
fn n_grams_keep_to_the_budget() {
    let budget = Budget::new(Interrupt::default(), 0.0, 10 << 20);
    let _entered = budget.enter();
    let text = "a".repeat(100_000);
    let mut tokens = Tokens::default();
    assert!(analyzer("NGram 1 1000000", &[]).unwrap().tokens(&text, &mut tokens).is_err());
    assert!(analyzer("NGram 1 100000000 true", &[]).unwrap().tokens(&text, &mut tokens).is_ok());
    assert_eq!(tokens.len(), text.len());
    for _ in 0..100 {
        analyzer("Simple", &["Lowercase"]).unwrap().tokens(&text, &mut tokens).unwrap();
    }
}

/// A word of an index may be long. No filter takes more than a moment for it.
#[test]
fn long_words_are_left_alone() {
    let filters = ["Stemmer tamil", "SplitCompoundWords [க,கக,ககக]"];
    let text = "க".repeat(100_000);
    let start = std::time::Instant::now();
    assert_eq!(words(&analyzer("Raw", &filters).unwrap(), &text), [text]);
    assert!(start.elapsed().as_secs() < 5);
}

/// Random texts of all scripts, with what is special in some.
fn random_text(next: &mut impl FnMut(u32) -> u32) -> String {
    let special: Vec<char> =
        "aAbB  \t.-_'\"ßİıΣσςé\u{301}\u{308}か\u{3099}ﬁ½中文日本語한🎉👨\u{200d}👩\u{0}\u{a0}क\u{94d}'தமிழ்"
            .chars()
            .collect();
    let len = next(40);
    (0..len)
        .map(|_| match next(6) {
            0 => char::from_u32(next(0x3100)).unwrap_or('x'),
            1 => char::from_u32(next(0x11_0000)).unwrap_or('y'),
            2 => char::from_u32(0x61 + next(26)).unwrap_or('z'),
            _ => special[next(special.len() as u32) as usize],
        })
        .collect()
}

#[test]
fn any_text_has_tokens_at_places_of_it() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 32) as u32) % below
    };
    let mut tokenizers = vec!["Raw", "Simple", "Whitespace", "NGram 1 3", "NGram 2 4 true", "Unicode"];
    if cfg!(feature = "text-chinese") {
        tokenizers.extend(["Cangjie default true", "Cangjie all", "Cangjie search", "Cangjie unicode"]);
    }
    let filters: Vec<String> = ["Lowercase", "AsciiFolding", "SplitCompoundWords [a,ab,中]", "RemoveLong 9"]
        .map(str::to_string)
        .into_iter()
        .chain(stemming::LANGUAGES.map(|(language, _)| format!("Stemmer {language}")))
        .collect();
    let mut tokens = Tokens::default();
    for tokenizer in tokenizers {
        let plain = analyzer(tokenizer, &[]).unwrap();
        for round in 0..400 {
            let text = random_text(&mut next);
            plain.tokens(&text, &mut tokens).unwrap();
            assert!(tokens.iter().all(|token| &text[token.from..token.to] == token.text), "{tokenizer} of {text:?}");
            let filter = &filters[round % filters.len()];
            let other = &filters[next(filters.len() as u32) as usize];
            analyzer(tokenizer, &[filter, other]).unwrap().tokens(&text, &mut tokens).unwrap();
            let positions: Vec<usize> = tokens.iter().map(|token| token.position).collect();
            assert!(positions.is_sorted(), "{tokenizer} {filter} of {text:?}");
            assert!(tokens.iter().all(|token| text.get(token.from..token.to).is_some()), "{tokenizer} of {text:?}");
        }
    }
}
