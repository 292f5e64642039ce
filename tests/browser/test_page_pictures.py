"""Each panel and state of the page looks as in its kept picture.

    pytest tests/browser/test_page_pictures.py --make-pictures

makes the pictures anew (look at each before you commit it). Where one differs, the picture as it
is now and one with the differences in red lie in test-output/browser/pictures.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect, Page

pytestmark = pytest.mark.browser

KEPT = Path(__file__).parent / "pictures"
DRAWN_BY = KEPT / "drawn_by.json"
"""Major version of the Chromium, and how wide its font is: others draw letters otherwise."""
MAKE = "pytest tests/browser/test_page_pictures.py --make-pictures"
STORY, SHORT, WORKERS, TRACED = "vit/run-07", "vit/run-08", "two-workers", "traced"
NAMED = '<b>bold</b> & "quoted" \u05e8\u05d9\u05e6\u05d4'


@dataclass(frozen=True)
class Scene:
    """The page opened somewhere, and what is taken of it."""

    name: str
    pictures: dict[str, str]
    """Name of a kept picture -> selector; it holds all that the selector finds."""
    run: str = STORY
    width: int = 1440
    scheme: str = "light"
    address: str = ""
    """Further parts of it."""
    broken: dict[str, Any] = field(default_factory=dict)
    """Route -> what the server answers instead; None: it does not."""
    act: Callable[[Page], None] | None = None


def _show_table(page: Page) -> None:
    page.get_by_role("button", name="As table").click()
    page.get_by_role("region", name="Timeline as a table").wait_for()


def _point(page: Page) -> None:
    plot = page.locator("sd-timeline .plot")
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 100)
    page.locator("sd-timeline .tip").get_by_text("Input pipeline").wait_for()


def _open_picker(page: Page) -> None:
    page.keyboard.press("r")
    page.get_by_role("dialog", name="Choose a run").locator("tbody tr").nth(5).wait_for()


def _order_runs(page: Page) -> None:
    page.locator("svg.pace").nth(4).wait_for()
    page.get_by_role("button", name="Lost").click()


def _open_unexplained(page: Page) -> None:
    page.locator("#card-unexplained > summary").click()
    page.locator("#card-unexplained .body").wait_for()


def _choose_time(page: Page) -> None:
    page.get_by_role("button", name="Time", exact=True).click()
    _show_table(page)


def _act_on_the_story(page: Page) -> None:
    _open_unexplained(page)
    _point(page)


def _open_capture(page: Page) -> None:
    page.locator("#traces tbody tr").nth(1).wait_for()


SELECTED = "selection=800-839"
COMPARED = "compare=vit%2Frun-06"
ABOVE = ".bar-top, .banner, #verdict"
SCENES = [
    Scene(
        "story",
        {
            "verdict": ABOVE,
            "causes": "#causes",
            "timeline": "#timeline",
            "changed": "#changed",
            "retraces": "#retraces",
            "warm-up-and-memory": "#warmup, #memory",
            "compare": "#compare",
            "signals": "#signals",
        },
        address=f"{SELECTED}&{COMPARED}",
        act=_act_on_the_story,
    ),
    Scene("time", {"timeline-time": "sd-timeline", "timeline-table": "#timeline .scroll"},
          act=_choose_time),
    Scene("traces", {"traces": "#traces"}, TRACED, act=_open_capture),
    Scene("workers", {"workers": "#causes, #workers"}, WORKERS),
    Scene("dark", {"dark": f"{ABOVE}, #causes, #timeline"}, scheme="dark", address=SELECTED),
    Scene("all runs", {"all-runs": ".all-runs"}, run="", act=_order_runs,
          address="pick=vit%2Frun-07"),
    Scene("narrow", {"narrow": f"{ABOVE}, #causes, #timeline"}, width=1024),
    Scene("narrow dark", {"narrow-dark": "#changed, #signals"}, width=1024, scheme="dark",
          address=f"{SELECTED}&{COMPARED}"),
    Scene("healthy", {"healthy": "#verdict, #causes"}, "vit/run-06"),
    Scene("not enough steps", {"not-enough-steps": f"{ABOVE}, #causes"}, SHORT),
    Scene("chunks missing", {"chunks-missing": ABOVE, "timeline-gap": "sd-timeline"}, "gap"),
    Scene("no data", {"no-data": ".bar-top, main"}, "",
          broken={"runs": {"runs": [], "other_runs": 3}}),
    Scene("no such run", {"no-such-run": "main"}, "deleted"),
    Scene("broken", {"server-gone": ABOVE, "panel-failed": "#retraces"}, address=SELECTED,
          broken={"captures": None, "retraces": 500}),
    Scene("picker", {"picker": ".bar-top, .pop"}, act=_open_picker),
    Scene("hostile name", {"hostile-name": ABOVE}, NAMED, width=1024),
]  # fmt: skip


@pytest.fixture(scope="module")
def making(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--make-pictures", default=False))


@pytest.fixture(scope="module")
def drawing(browser: Browser, making: bool) -> Browser:
    """The browser, if it draws as the one that drew the kept pictures."""
    drawn_by = _drawn_by(browser)
    if making:
        DRAWN_BY.write_text(json.dumps(drawn_by) + "\n")
    elif (kept := json.loads(DRAWN_BY.read_text())) != drawn_by:
        pytest.skip(f"the pictures were drawn by {kept}, this is {drawn_by}; anew: {MAKE}")
    return browser


@pytest.fixture(scope="module")
def answers(making: bool) -> dict[str, Any]:
    from browser import picture_story

    if making:
        picture_story.write_answers()
    return picture_story.read_answers()


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_the_page_looks_as_it_should(
    drawing: Browser, answers: dict[str, Any], pictures: Path, scene: Scene, making: bool
) -> None:
    from browser import picture_compare

    folder = pictures / "pictures"
    folder.mkdir(exist_ok=True)
    _take(drawing, answers, scene, folder)
    wrong = []
    for name in scene.pictures:
        taken, kept = folder / f"{name}.png", KEPT / f"{name}.png"
        if making:
            picture_compare.keep(taken, kept)
        marked = folder / f"{name}-differences.png"
        found = picture_compare.difference(taken, kept, marked)
        if found is not None:
            wrong.append(f"{taken}: {found}; see {marked}")
    assert not wrong, f"{wrong}; where they are right: {MAKE}"


def test_what_the_pictures_show_has_the_form_of_what_the_server_sends(
    answers: dict[str, Any],
) -> None:
    """Else the pictures would be of a page that nobody sees any more."""
    from browser.picture_story import make_answers

    fresh = make_answers()
    assert {route: _keys(bodies) for route, bodies in answers.items()} == {
        route: _keys(bodies) for route, bodies in fresh.items()
    }, f"make the answers anew: {MAKE}"


def test_the_kept_pictures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in KEPT.iterdir()}
    assert sum(sizes.values()) < 1_500_000, sizes
    assert {path.stem for path in KEPT.glob("*.png")} == {
        name for scene in SCENES for name in scene.pictures
    }


def _take(browser: Browser, answers: dict[str, Any], scene: Scene, folder: Path) -> None:
    from urllib.parse import quote

    from browser.picture_stage import answers_of, settle, staged

    given = answers_of(answers)

    def answer(route: str, query: dict[str, str]) -> Any:
        return scene.broken[route] if route in scene.broken else given(route, query)

    parts = [f"run={quote(scene.run, safe='')}"] if scene.run else []
    address = "&".join([*parts, *([scene.address] if scene.address else [])])
    with staged(browser, answer, width=scene.width, scheme=scene.scheme, hash_=address) as page:
        if scene.act is not None:
            scene.act(page)
        settle(page)
        for name, what in scene.pictures.items():
            page.screenshot(
                path=folder / f"{name}.png", clip=_around(page, what), animations="disabled"
            )


def _around(page: Page, what: str) -> FloatRect:
    """The smallest rectangle that holds all that a selector finds."""
    boxes = [box for one in page.locator(what).all() if (box := one.bounding_box())]
    left, top = min(box["x"] for box in boxes), min(box["y"] for box in boxes)
    right = max(box["x"] + box["width"] for box in boxes)
    bottom = max(box["y"] + box["height"] for box in boxes)
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def _drawn_by(browser: Browser) -> dict[str, Any]:
    page = browser.new_page()
    width = page.evaluate(
        "() => { const context = document.createElement('canvas').getContext('2d');"
        " context.font = '20px \"DejaVu Sans\"';"
        " return Math.round(context.measureText('48 min 3 s of 2 h 35 min lost (31%)').width); }"
    )
    page.close()
    return {"chromium": int(browser.version.split(".")[0]), "probe_pixels": width}


def _keys(value: Any) -> Any:
    """The form of a body: the keys of objects, the form of a list's first item."""
    if isinstance(value, dict):
        return {key: _keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_keys(value[0])] if value else []
    return None
