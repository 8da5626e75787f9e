"""Checks that the site's search finds the right page first: `make search-check`, after `make docs`.

The ranking is that of the theme's search worker: every word may go on, titles weigh more, a page's own text more
than a section's, and the more of the words the more.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

SITE = Path(__file__).parents[1] / "site"
WANTED = {
    "explanation/faq.html": "random seed|is it slow|gdpr|reproducible|anonymous",
    "explanation/what_differential_privacy_promises.html": "what is differential privacy",
    "explanation/compared_with.html": "diffprivlib",
    "explanation/composition.html": "composition",
    "how-to/audit.html": "own mechanism",
    "how-to/operate.html": "backup",
    "how-to/choose_candidates_and_bounds.html": "candidates|bounds",
    "how-to/choose_epsilon.html": "choose epsilon|which epsilon|what epsilon should I use",
    "how-to/describe_your_data.html": "describe data",
    "how-to/groups.html": "group by",
    "how-to/i_made_a_mistake.html": "wrong bound|wrong column|refund|delete an answer",
    "how-to/ledger.html": "budget",
    "how-to/pictures.html": "jupyter|plot",
    "how-to/planning.html": "how accurate",
    "how-to/recipes.html": "machine learning|opendp",
    "how-to/reports.html": "pdf report",
    "how-to/user_level_privacy.html": "user-level privacy|several rows per person|user id",
    "how-to/which_function.html": "average|mean|count|sum|histogram|percentile",
    "reference/changelog.html": "changelog",
    "reference/index.html": "citation",
    "reference/glossary.html": "global sensitivity|utility function|randomized response",
    "reference/mechanisms/exponential.html": "exponential mechanism",
    "reference/tables.html": "excel|currency|nan|missing values|pandas|csv file",
    "reference/verbs/values.html": "median|most common value|top_k|top 10",
    "tutorials/your_table_in_five_minutes.html": "install|uninstall|getting started",
}
"""What beginners type, by the page that must come first."""

FIELDS = {"title": 1e3, "text": 1.0, "tags": 1e6}


def main() -> int:
    """Search for every phrase, and say what was found first; fail if another page was wanted."""
    site = Path(sys.argv[1]) if sys.argv[1:] else SITE
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    sections = {entry["location"]: entry for entry in index["docs"]}
    find = search(sections, re.compile(index["config"]["separator"]))
    wrong = 0
    for page, phrases in WANTED.items():
        for phrase in phrases.split("|"):
            first = find(phrase)
            right = first[:1] == [page]
            wrong += not right
            print(f"{'right' if right else 'WRONG'}  {phrase}: {', '.join(first[:3])}")
    return wrong


def search(sections: dict[str, Any], separator: re.Pattern[str]) -> Any:
    """Return the function that finds pages for a phrase, the best first."""
    from lunr.builder import Builder  # of the group docs
    from lunr.query import Query
    from lunr.stop_word_filter import stop_word_filter

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
    given = {**entry, "tags": " ".join(entry.get("tags", []))}
    texts = {key: re.sub(r"<[^>]+>", "", str(given[key])) for key in FIELDS}
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
