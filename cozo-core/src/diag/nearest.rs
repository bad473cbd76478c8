//! The known word that was probably meant, for "did you mean".

/// The known word that differs least, if one is close.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let wanted = word.to_lowercase();
    let distances = known.iter().map(|candidate| (edit_distance(&wanted, &candidate.to_lowercase()), *candidate));
    let (distance, candidate) = distances.min()?;
    (distance <= candidate.len().div_ceil(4)).then_some(candidate)
}

/// Levenshtein's distance in characters. Words of more than 40 characters are far from every other.
fn edit_distance(a: &str, b: &str) -> usize {
    if a.len() > 40 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
