from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.report.formats.html_file import html_file, made_by, static_page


def test_a_page_without_a_script_may_load_nothing() -> None:
    page = static_page(title="a < b", style="p { margin: 0 }\n", body="<p>c</p>", made="d & e")
    assert page.startswith('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page
    assert "<title>a &lt; b</title>" in page
    assert "<h1>a &lt; b</h1>\n<p>c</p>\n" in page
    assert page.index(".small {") < page.index("p { margin: 0 }"), "its own style wins"
    assert "d &amp; e" in page
    assert "<script" not in page


def test_each_file_has_the_same_head() -> None:
    heads = [
        html_file(title="t", policy="p", style=style, body="b").partition("<style>")[0]
        for style in ("", "a {}")
    ]
    assert heads[0] == heads[1]
    assert '<meta name="referrer" content="no-referrer">' in heads[0]


def test_a_file_says_when_it_was_made() -> None:
    made = made_by("Compared", 1_795_000_000)
    assert made == f"Compared on 2026-11-18 11:06 UTC by tbslow {__version__}"
