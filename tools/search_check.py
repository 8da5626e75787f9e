"""Checks that the site's search finds the right page first: `make search-check`, after `make docs`.

The ranking is that of the theme's search worker: every word may go on, titles weigh more, a page's own text more
than a section's, and the more of the words the more.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from lunr.builder import Builder
from lunr.query import Query
from lunr.stop_word_filter import stop_word_filter

SITE = Path(__file__).parents[1] / "site"
WANTED = {
    "choose epsilon": "how-to/choose_epsilon.html",
    "what is differential privacy": "explanation/what_differential_privacy_promises.html",
    "global sensitivity": "reference/glossary.html",
    "utility function": "reference/glossary.html",
    "randomized response": "reference/glossary.html",
    "user-level privacy": "how-to/user_level_privacy.html",
}
FIELDS = {"title": 1e3, "text": 1.0}


def main() -> int:
    """Search for every phrase, and say what was found first; fail if another page was wanted."""
    site = Path(sys.argv[1]) if sys.argv[1:] else SITE
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    sections = {entry["location"]: entry for entry in index["docs"]}
    find = search(sections, re.compile(index["config"]["separator"]))
    wrong = 0
    for phrase, page in WANTED.items():
        first = find(phrase)
        wrong += first[0] != page
        print(f"{'right' if first[0] == page else 'WRONG'}  {phrase}: {', '.join(first[:3])}")
    return wrong


def search(sections: dict[str, Any], separator: re.Pattern[str]) -> Any:
    """Return the function that finds pages for a phrase, the best first."""
    builder = Builder()
    builder.b(0)
    builder.pipeline.add(stop_word_filter)
    builder.ref("location")
    for field, boost in FIELDS.items():
        builder.field(field, boost=boost)
    for entry in sections.values():
        builder.add(plain(entry, separator), {"boost": entry.get("boost", 1)})
    index = builder.build()

    def find(phrase: str) -> list[str]:
        words = [w for w in separator.split(phrase.lower()) if w and stop_word_filter(w)]
        query = index.create_query()
        for word in words:
            query.term(word, wildcard=Query.WILDCARD_TRAILING)
        found = index.query(query)
        ranked = sorted(found, key=lambda hit: -score(hit, words))
        return list(dict.fromkeys(hit["ref"].partition("#")[0] for hit in ranked))

    return find


def plain(entry: dict[str, Any], separator: re.Pattern[str]) -> dict[str, str]:
    """Return a section without its markup, its words apart."""
    texts = {key: re.sub(r"<[^>]+>", "", str(entry[key])) for key in FIELDS}
    return {"location": entry["location"]} | {
        key: separator.sub(" ", text) for key, text in texts.items()
    }


def score(hit: dict[str, Any], words: list[str]) -> float:
    """Return the score of a hit: more for a whole page, and for more of the words."""
    matched = set(hit["match_data"].metadata)
    share = sum(any(term.startswith(word) for term in matched) for word in words) / len(words)
    return float(hit["score"]) * (1 + (("#" not in hit["ref"]) + share) ** 2)


if __name__ == "__main__":
    sys.exit(main())
