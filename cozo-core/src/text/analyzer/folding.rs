//! ASCII folding: Latin letters with accents, ligatures and letters like them, as ASCII.
//!
//! Most letters are folded by their compatibility decomposition without its combining marks: `é` is `e` and an accent, `ﬁ` is `f` and
//! `i`, `Ａ` is a wide `A`. Letters that have none, such as `ø`, stand in a table. A character that is no Latin letter stays as it is
//! with its marks, so that `й` and `が` remain different from `и` and `か`.

use std::sync::LazyLock;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// Adds the folded form of a word to a text.
pub(super) fn fold(word: &str, text: &mut String) {
    if word.is_ascii() {
        return text.push_str(word);
    }
    // A combining mark is dropped if it follows a Latin letter.
    let mut after_latin = false;
    for character in word.chars() {
        if character.is_ascii() {
            text.push(character);
            after_latin = true;
        } else if is_combining_mark(character) {
            if !after_latin {
                text.push(character);
            }
        } else {
            let start = text.len();
            after_latin = fold_character(character, text);
            if !after_latin {
                text.truncate(start);
                text.push(character);
            }
        }
    }
}

/// Adds the folded form of a character. Returns false if there is none, and may have added a part of it.
fn fold_character(character: char, text: &mut String) -> bool {
    let mut is_latin = true;
    decompose_compatible(character, |part| {
        if part == ' ' {
            // Spaces of other widths, and accents without a letter, are no letters.
            is_latin = false;
        } else if part.is_ascii() {
            text.push(part);
        } else if let Some(letters) = TABLE.get(&part) {
            text.push_str(letters);
        } else {
            is_latin &= is_combining_mark(part);
        }
    });
    is_latin
}

static TABLE: LazyLock<HashMap<char, &str, FxBuildHasher>> = LazyLock::new(|| {
    LETTERS.iter().flat_map(|(ascii, letters)| letters.chars().map(|letter| (letter, *ascii))).collect()
});

/// Letters and signs that have no decomposition to ASCII, by what they become.
pub(super) const LETTERS: &[(&str, &str)] = &[
    ("\"", "«»“”„‟″"),
    ("'", "ʻʼ‘’‚‛′‹›"),
    ("-", "‐‑‒–—⁻−"),
    ("A", "ƏȺᴀⱯ"),
    ("AA", "Ꜳ"),
    ("AE", "ÆǢǼᴁ"),
    ("AO", "Ꜵ"),
    ("AU", "Ꜷ"),
    ("AV", "ꜸꜺ"),
    ("AY", "Ꜽ"),
    ("B", "ƁƂɃʙꞖ"),
    ("C", "ƇȻᴄꜾꞒꟄ"),
    ("D", "ÐĐƉƊƋᴅꝹꟇ"),
    ("E", "ƎƐɆᴇⱻꞫ"),
    ("ET", "Ꝫ"),
    ("F", "ƑꜰꝻꞘ"),
    ("G", "ƓǤɢʛꝽꝾꞠꞬꟐ"),
    ("H", "ĦʜⱧꞍꞪ"),
    ("HV", "Ƕ"),
    ("I", "ƗɪꞮ"),
    ("IS", "Ꝭ"),
    ("J", "ɈᴊꞲ"),
    ("K", "ƘᴋⱩꝀꝂꝄꞢꞰ"),
    ("L", "ĿŁȽʟᴌⱠⱢꝈꞀꞭ"),
    ("LL", "Ỻ"),
    ("M", "ƜᴍⱮꟺ"),
    ("N", "ŊƝȠɴᴎꞐꞤ"),
    ("O", "ØƆƟǾᴏꝊꝌ"),
    ("OE", "Œɶ"),
    ("OI", "Ƣ"),
    ("OO", "Ꝏ"),
    ("OU", "Ȣᴕ"),
    ("P", "ƤᴘⱣꝐꝒꝔ"),
    ("Q", "ꝖꝘꞯ"),
    ("R", "ɌʀʁᴙᴚⱤꞂꞦꭆ"),
    ("S", "ⱾꜱꞄꞨꟅꟉ"),
    ("SS", "ẞ"),
    ("T", "ŦƬƮȾᴛꞆꞱ"),
    ("TH", "Þ"),
    ("TZ", "Ꜩ"),
    ("U", "ᴜꞸ"),
    ("V", "ƲɅᴠỼꝞ"),
    ("VY", "Ꝡ"),
    ("W", "ᴡⱲ"),
    ("Y", "ƳɎʏỾ"),
    ("Z", "ƵȤᴢⱫⱿꟆ"),
    ("a", "ɐəᶏẚⱥ"),
    ("aa", "ꜳ"),
    ("ae", "æǣǽᴂ"),
    ("ao", "ꜵ"),
    ("au", "ꜷ"),
    ("av", "ꜹꜻ"),
    ("ay", "ꜽ"),
    ("b", "ƀƃɓᵬᶀꞗ"),
    ("c", "ƈȼɕↄꜿꞓꞔ"),
    ("d", "ðđƌȡɖɗᵭᶁᶑꝺꟈ"),
    ("db", "ȸ"),
    ("dz", "ʣʥꭦ"),
    ("e", "ǝɇɘɛɜɝɞʚᴈᶒᶓᶔⱸꬲꬴ"),
    ("et", "ꝫ"),
    ("f", "ƒᵮᶂꝼꞙ"),
    ("g", "ǥɠɡᵷᵹᶃꝿꞡꟑꬶ"),
    ("h", "ħɥɦʮʯⱨꞕ"),
    ("hv", "ƕ"),
    ("i", "ıɨᴉᶖ"),
    ("is", "ꝭ"),
    ("j", "ȷɉɟʄʝ"),
    ("k", "ƙʞᶄⱪꝁꝃꝅꞣ"),
    ("l", "ŀłƚȴɫɬɭᶅⱡꝉꞁꞎꬷꬸꬹ"),
    ("ll", "ỻ"),
    ("ls", "ʪ"),
    ("lz", "ʫ"),
    ("m", "ɯɰɱᴟᵯᶆꬺ"),
    ("n", "ŋƞȵɲɳᵰᶇꞑꞥꬻ"),
    ("o", "øǿɔᴑᴒᴓᶗⱺꝋꝍꬽꬾꬿ"),
    ("oe", "œᴔꭀꭁꭂꭢ"),
    ("oi", "ƣ"),
    ("oo", "ꝏ"),
    ("ou", "ȣ"),
    ("p", "ƥᵱᵽᶈꝑꝓꝕ"),
    ("q", "ĸɋʠꝗꝙ"),
    ("qp", "ȹ"),
    ("r", "ɍɹɺɻɼɽɾɿᵲᵳᶉⱹꞃꞧꭉꭋꭌꭨ"),
    ("s", "ȿʂᵴᶊẜẝꞅꞩꟊ"),
    ("ss", "ß"),
    ("t", "ŧƫƭȶʇʈᵵⱦꞇ"),
    ("tc", "ʨ"),
    ("th", "þᵺ"),
    ("ts", "ʦꭧ"),
    ("tz", "ꜩ"),
    ("u", "ᴝᶙꞹꭎꭒ"),
    ("ue", "ᵫ"),
    ("ui", "ꭐꭑ"),
    ("um", "ꝸ"),
    ("uo", "ꭣ"),
    ("v", "ʋʌᶌỽⱱⱴꝟ"),
    ("vy", "ꝡ"),
    ("w", "ʍⱳ"),
    ("x", "ᶍꭖꭗꭘꭙ"),
    ("y", "ƴɏʎỿꭚ"),
    ("z", "ƶȥɀʐʑᵶᶎⱬ"),
];
