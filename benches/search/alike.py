"""Near-duplicates by datasketch, with the hash functions, thresholds and shingles of the bench.

Precision and recall are over all pairs of different texts, by the exact Jaccard similarity of the shingles, which is computed
here anew. `verified` leaves out what the share of equal hashes estimates to be less similar than the threshold.
"""

from collections import Counter, defaultdict

from figures import QUERIES, Figures, seconds
from texts import texts_of

THRESHOLDS = (0.5, 0.8)
PERMUTATIONS = 200
SHINGLE = 3


def shingles(text: str) -> set[bytes]:
    words = text.split(" ")
    return {" ".join(words[i : i + SHINGLE]).encode() for i in range(max(1, len(words) - SHINGLE + 1))}


def similarities(sets: list[set[bytes]]) -> dict[tuple[int, int], float]:
    """Of all pairs with a common shingle."""
    places = defaultdict(list)
    for k, texts in enumerate(sets):
        for shingle in texts:
            places[shingle].append(k)
    common = Counter((a, b) for texts in places.values() for a in texts for b in texts if a != b)
    return {(a, b): n / (len(sets[a]) + len(sets[b]) - n) for (a, b), n in common.items()}


def datasketch(figures: Figures, part: str) -> None:
    from datasketch import MinHash, MinHashLSH

    texts = texts_of(figures, part)
    similar = similarities([shingles(text) for text in texts])
    none = MinHash(num_perm=PERMUTATIONS)

    def hashed(text: str) -> MinHash:
        of = none.copy()
        of.update_batch(shingles(text))
        return of

    for threshold in THRESHOLDS:
        index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
        hashes: list[MinHash] = []

        def build() -> None:
            hashes.extend(hashed(text) for text in texts)
            with index.insertion_session() as session:
                for k, of in enumerate(hashes):
                    session.insert(k, of)

        def query(of: MinHash, least: float) -> list[int]:
            return [k for k in index.query(of) if least == 0 or of.jaccard(hashes[k]) >= least]

        figures.add(part, "datasketch", f"build {threshold}", seconds(build), "s")
        wanted = {pair for pair, similarity in similar.items() if similarity >= threshold}
        asked = list(reversed(texts))[:QUERIES]
        for name, least in (("", 0.0), (", verified", threshold)):
            test = f"{threshold}{name}"
            figures.micros(part, "datasketch", f"query {test}", lambda: [query(hashed(text), least) for text in asked])
            found = {(a, b) for a, of in enumerate(hashes) for b in query(of, least) if a != b}
            figures.add(part, "datasketch", f"precision {test}", 100 * len(found & wanted) / len(found), "%")
            figures.add(part, "datasketch", f"recall {test}", 100 * len(found & wanted) / len(wanted), "%")
