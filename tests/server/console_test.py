"""The console in a browser, as those who use it see it.

Usage: console_test.py SHOP SERVER PICTURES CHECK

SHOP is samples/shop, SERVER support/console_server.cpp, PICTURES a folder for screenshots. Each
CHECK is a function below. Without Chromium everything is skipped, loudly.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import chromium  # noqa: E402
from page_checks import CONTRAST, CUT_WORDS, OVERFLOW, UNNAMED  # noqa: E402

SKIPPED = 77
SECTIONS = ("overview", "flows", "views", "workflows", "actors", "letters", "log")
LIVE = "document.getElementById('connection').dataset.state === 'live'"
TAB, ENTER, SPACE = ("Tab", 9), ("Enter", 13, "\r"), (" ", 32, " ")

# Graphs drawn from a seed, laid out: what is wrong with them.
MODULES = """(async () => {
  const {layOut} = await import('/console/layout.js');
  const {Rates} = await import('/console/series.js');
  const {compact, count, duration, rate} = await import('/console/format.js');
  const wrong = [];
  let state = 7;
  const random = (most) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * most);
  };
  const size = {width: 100, height: 40, gap: 10, span: 50};
  for (let round = 0; round < 300; ++round) {
    const names = Array.from({length: random(30)}, (_, index) => `n${index}`);
    const edges = [];
    for (let index = 0; index < names.length * 1.5; ++index) {
      const [a, b] = [random(names.length), random(names.length)].sort((one, other) => one - other);
      if (a !== b) edges.push({from: names[a], to: names[b]});
    }
    const {places, ways, width, height} = layOut(names, edges, size);
    const all = names.map((name) => places.get(name));
    all.forEach((one, index) => {
      if (one.x < 0 || one.y < -0.001 || one.x + size.width > width + 0.001 || one.y + size.height > height + 0.001) wrong.push(`${round}: out of the drawing`);
      for (const other of all.slice(index + 1)) {
        if (one.x === other.x && Math.abs(one.y - other.y) < size.height - 0.001) wrong.push(`${round}: two nodes overlap`);
      }
    });
    ways.forEach((way, index) => {
      const [begin, end] = [places.get(edges[index].from), places.get(edges[index].to)];
      const fits = way[0].x === begin.x + size.width && Math.abs(way[0].y - begin.y - size.height / 2) < 0.001
        && way.at(-1).x === end.x && Math.abs(way.at(-1).y - end.y - size.height / 2) < 0.001;
      if (!fits) wrong.push(`${round}: an edge does not meet its nodes`);
      if (way.some((point, at) => at > 0 && point.x <= way[at - 1].x)) wrong.push(`${round}: an edge goes back`);
    });
  }
  const rates = new Rates();
  const expect = (given, wanted) => { if (given !== wanted) wrong.push(`${given} is not ${wanted}`); };
  rates.take(10, [['a', 100]]);
  expect(rates.of('a'), null);
  rates.take(12, [['a', '300']]);
  expect(rates.of('a'), 100);
  rates.take(13, [['a', 5]]);  // another process
  expect(rates.of('a'), null);
  rates.take(14, [['a', 15]]);
  expect(rates.of('a'), 10);
  rates.take(15, []);
  expect(rates.of('a'), null);
  for (const [given, wanted] of [[count(1234567), '1,234,567'], [compact(9999), '9,999'], [compact(12345), '12.3 k'],
    [compact(1.5e6), '1.5 M'], [rate(null), '–'], [rate(0), '0'], [rate(3.14159), '3.1'], [duration(0), '0 ms'],
    [duration(0.0123), '12 ms'], [duration(75), '1 min 15 s'], [duration(7260), '2 h 1 min'], [duration(null), '–']]) expect(given, wanted);
  return wrong;
})()"""


def expect(condition, what, text=""):
    if not condition:
        raise chromium.Failure(f"{what}\n{text}")


class Program:
    """A child whose lines are read as they come, so that it never waits for us."""

    def __init__(self, *command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = []
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            with self.changed:
                self.lines.append(line.strip())
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def find(self, pattern, start=0):
        """The first match from line `start` on, once it is there."""
        with self.changed:
            def found():
                for line in self.lines[start:]:
                    match = re.search(pattern, line) if line is not None else None
                    if match or line is None:
                        return match or "ended"
                return None
            match = self.changed.wait_for(found, timeout=chromium.PATIENCE)
        expect(match and match != "ended", f"no line '{pattern}'", str(self.lines))
        return match[1] if match.groups() else match[0]

    def tell(self, order):
        """Waits until it is done."""
        start = len(self.lines)
        self.child.stdin.write(f"{order}\n")
        self.child.stdin.flush()
        self.find(f"^{order}$", start)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.stdin.close()
            self.child.send_signal(signal.SIGINT)
        self.child.wait()


class Bench:
    """What a check has: the programs, a browser, and a folder."""

    def __init__(self, shop, server, pictures, browser, folder):
        self.paths = {"shop": shop, "server": server}
        self.pictures = pictures
        self.browser = browser
        self.folder = folder

    def shop(self, *options):
        return Program(self.paths["shop"], "--directory", self.folder, *options)

    def server(self, *options):
        return Program(self.paths["server"], *options)

    def open(self, url, **options):
        page = self.browser.open(f"{url}/", **options)
        return page

    def picture(self, page, name, whole=False):
        page.screenshot(os.path.join(self.pictures, f"{name}.png"), whole)


def show(page, section):
    page.evaluate(f"location.hash = '#/{section}'")
    page.wait_for(f"document.getElementById('section-{section.split('/')[0]}').checkVisibility()")


def press(page, key, **options):
    page.press(*key, **options)


#: A log that is kept for seconds may be gone before a browser on a busy machine asks on. The page
#: begins anew then; the browser notes the answer all the same.
OVERTAKEN = "410 (Gone)"


def expect_no_complaints(page, allowed=()):
    allowed = (OVERTAKEN, *allowed)
    complaints = [text for text in page.complaints() if not any(part in text for part in allowed)]
    expect(not complaints, "the browser complains", "\n".join(complaints))


def live(bench):
    """The page shows figures that change, in every section, and asks nobody else."""
    with bench.shop("--port", "0") as shop:
        url = shop.find(r"gateway at (\S+)")
        page = bench.open(url)
        page.wait_for(LIVE)
        expect(page.evaluate("document.querySelector('h1').textContent") == "shop", "another name")
        value = "document.querySelector('.tile .value').textContent"
        page.wait_for(f"/[1-9]/.test({value})")
        first = page.evaluate(value)
        page.wait_for(f"{value} !== {json.dumps(first)}")
        # Rates on edges, and lines that are drawn.
        page.wait_for("[...document.querySelectorAll('#section-overview .edge-label')].some((label) => /[1-9].*\\/s/.test(label.textContent))")
        page.wait_for("document.querySelector('.sparkline .line').getAttribute('d')?.length > 40")
        expect(page.evaluate("document.querySelectorAll('#section-overview .node').length") == 9, "not nine nodes")
        show(page, "views")
        page.wait_for("document.querySelectorAll('#section-views tbody tr').length === 5")
        show(page, "views/revenue")
        page.wait_for("[...document.querySelectorAll('#section-views h3')].some((title) => title.textContent === 'revenue')")
        show(page, "actors")
        page.wait_for("document.querySelectorAll('#section-actors tbody tr').length > 20")
        page.evaluate("document.getElementById('actor-filter').focus()")
        page.type("customer 1")
        page.wait_for("document.querySelectorAll('#section-actors tbody tr').length === 7")
        show(page, "log")
        page.wait_for("/orders [+~]1/.test(document.querySelector('#section-log tbody').textContent)")
        page.go(page.evaluate("location.href"))
        page.wait_for("document.getElementById('section-log').checkVisibility()")
        expect_no_complaints(page)
        elsewhere = [where for where in page.requests() if not where.startswith(url)]
        expect(not elsewhere, "it asks somebody else", str(elsewhere))


def layout(bench):
    """Nothing stands out of the window, can hardly be read or has no name, narrow or wide, light or dark."""
    with bench.shop("--port", "0") as shop:
        page = bench.open(shop.find(r"gateway at (\S+)"))
        page.wait_for(LIVE)
        for section in SECTIONS:
            show(page, section)
            # A shop has no dead letters; everything else has something to show.
            shown = ".panel" if section == "letters" else ":is(tbody tr, .node)"
            page.wait_for(f"[...document.querySelectorAll('#section-{section} {shown}')].some((element) => element.checkVisibility())")
            for width, theme in ((360, "light"), (360, "dark"), (800, "dark"), (1440, "light"), (1440, "dark")):
                page.resize(width, 900)
                page.set_theme(theme)
                page.wait_for(f"innerWidth === {width} && matchMedia('(prefers-color-scheme: {theme})').matches")
                where = f"{section}, {width} px, {theme}"
                expect(page.evaluate("document.documentElement.scrollWidth") <= width, f"{where}: it scrolls to the side",
                       str(page.evaluate(OVERFLOW)))
                expect(not page.evaluate(OVERFLOW), f"{where}: it stands out", str(page.evaluate(OVERFLOW)))
                expect(not page.evaluate(CUT_WORDS), f"{where}: words are cut", str(page.evaluate(CUT_WORDS)))
                expect(not page.evaluate(CONTRAST), f"{where}: hard to read", "\n".join(page.evaluate(CONTRAST)))
                bench.picture(page, f"{section}_{width}_{theme}", whole=True)
            expect(not page.evaluate(UNNAMED), f"{section}: without a name", "\n".join(page.evaluate(UNNAMED)))
        # Who has chosen a theme gets that, whatever the system says.
        ground = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(ground)
        page.evaluate("document.getElementById('theme').click()")
        page.wait_for(f"{ground} !== {json.dumps(dark)}")
        page.evaluate("document.getElementById('theme').click()")
        page.set_theme("light")
        page.wait_for(f"{ground} === {json.dumps(dark)}")
        expect_no_complaints(page)


def keyboard(bench):
    """All sections are reached, tables sorted and the content found without a mouse."""
    with bench.shop("--port", "0") as shop:
        page = bench.open(shop.find(r"gateway at (\S+)"))
        page.wait_for(LIVE)
        focus = "(document.activeElement.id || document.activeElement.textContent)"
        seen = []
        while page.evaluate(focus) != "to-log" and len(seen) < 30:
            press(page, TAB)
            seen.append(page.evaluate(focus))
        expect(seen[0] == "skip", "the first is not the link to the content", str(seen))
        expect([f"to-{section}" for section in SECTIONS] == [one for one in seen if one.startswith("to-")],
               "sections are missing", str(seen))
        for section in SECTIONS:
            page.evaluate(f"document.getElementById('to-{section}').focus()")
            press(page, ENTER)
            page.wait_for(f"document.getElementById('section-{section}').checkVisibility()")
            page.wait_for(f"document.activeElement.id === 'heading-{section}'")
            expect(page.evaluate(f"document.getElementById('to-{section}').getAttribute('aria-current')") == "page",
                   f"{section} is not said to be the current one")
        show(page, "actors")
        page.wait_for("document.querySelectorAll('#section-actors tbody tr').length > 20")
        page.evaluate("document.querySelector('#section-actors thead button').focus()")
        press(page, ENTER)
        names = "[...document.querySelectorAll('#section-actors tbody th')].map((cell) => cell.textContent)"
        page.wait_for("document.querySelector('#section-actors th').getAttribute('aria-sort') === 'ascending'")
        shown = [name for name in page.evaluate(names) if not name.startswith("#")]
        in_order = page.evaluate(f"{json.dumps(shown)}.sort((one, other) => one.localeCompare(other))")
        expect(len(set(shown)) > 3 and shown == in_order, "it is not sorted", str(shown))
        # Focus survives what comes from the server.
        before = page.evaluate("document.getElementById('facts').textContent")
        page.wait_for(f"document.getElementById('facts').textContent !== {json.dumps(before)}")
        expect(page.evaluate("document.activeElement.closest('thead') !== null"), "the focus is lost")
        expect_no_complaints(page)


def restart(bench):
    """A server that is killed is noticed, and so is the next one; the page is not loaded again."""
    with bench.shop("--port", "0") as shop:
        url = shop.find(r"gateway at (\S+)")
        page = bench.open(url)
        page.wait_for(LIVE)
        page.evaluate("window.marked = true")
        shop.child.kill()
        shop.child.wait()
        page.wait_for("/connection lost, trying again/.test(document.getElementById('connection').textContent)")
        bench.picture(page, "connection_lost")
    with bench.shop("--port", url.rpartition(":")[2]) as shop:
        shop.find(r"gateway at (\S+)")
        page.wait_for(LIVE)
        expect(page.evaluate("window.marked"), "the page was loaded again")
        value = "document.querySelector('.tile .value').textContent"
        page.wait_for(f"/[1-9]/.test({value})")
        expect_no_complaints(page, ("net::ERR_",))


def press_action(page, action):
    """A button of the quarantine, and then the one that confirms it, by key."""
    page.wait_for(f"document.querySelector('.cards [data-action={action}]')")
    page.evaluate(f"document.querySelector('.cards [data-action={action}]').focus()")
    press(page, ENTER)
    page.wait_for("document.getElementById('confirm').open")
    page.evaluate("document.getElementById('confirm-yes').focus()")
    press(page, ENTER)
    page.wait_for("!document.getElementById('confirm').open")


def quarantine(bench):
    """A view that stands still is shown with its reason, and goes on when somebody presses resume."""
    with bench.server() as server:
        page = bench.open(server.find(r"url (\S+)"))
        page.wait_for(LIVE)
        page.wait_for("/All is well/.test(document.querySelector('.concerns').textContent)")
        server.tell("break")
        page.wait_for("document.querySelector('.concerns [data-tone=bad] a')")
        bench.picture(page, "attention")
        page.evaluate("document.querySelector('.concerns [data-tone=bad] a').click()")
        page.wait_for("/no rate of today|invalid value/.test(document.querySelector('.cards .error')?.textContent)")
        page.resize(1440, 1000)
        bench.picture(page, "quarantine")
        # Who changes their mind changes nothing.
        page.evaluate("document.querySelector('.cards [data-action=rebuild]').click()")
        page.wait_for("document.getElementById('confirm').open")
        bench.picture(page, "confirm")
        press(page, ("Escape", 27))
        page.wait_for("!document.getElementById('confirm').open")
        server.tell("repair")
        press_action(page, "resume")
        page.wait_for("/resume was accepted/.test(document.getElementById('said').textContent)")
        page.wait_for("document.querySelectorAll('.cards li').length === 0")
        page.wait_for("[...document.querySelectorAll('#section-views tbody .badge')].every((badge) => badge.textContent === 'live')")
        # Names are text.
        show(page, "flows")
        page.wait_for("[...document.querySelectorAll('#section-flows tbody th')].some((cell) => cell.textContent.startsWith('<img'))")
        expect(page.evaluate("document.querySelectorAll('main img').length") == 0, "a name became an element")
        show(page, "letters")
        page.wait_for("/Every message was handled/.test(document.getElementById('section-letters').textContent)")
        server.tell("letter")
        page.wait_for("/drain/.test(document.querySelector('#section-letters tbody').textContent)")
        bench.picture(page, "letters")
        expect_no_complaints(page)


def backfill(bench):
    """A view that takes the rows that were there before it shows how far it is."""
    with bench.server() as server:
        page = bench.open(server.find(r"url (\S+)"))
        page.wait_for(LIVE)
        show(page, "views")
        server.tell("fill")
        page.wait_for("/[1-9]00 (of about|rows so far)/.test(document.querySelector('#section-views .progress:not([hidden]) small')?.textContent)")
        bench.picture(page, "backfill")
        server.tell("release")
        page.wait_for("[...document.querySelectorAll('#section-views tbody tr')].some((row) => /slow.*live/.test(row.textContent))")
        expect(page.evaluate("document.querySelectorAll('#section-views .progress:not([hidden])').length") == 0, "the bar stays")
        expect_no_complaints(page)


def workflow(bench):
    """A workflow is found in the list, and shown as a graph and on a timeline that go on with it."""
    with bench.server() as server:
        page = bench.open(server.find(r"url (\S+)"))
        page.wait_for(LIVE)
        show(page, "workflows")
        page.wait_for("/nightly report.*(blocked|running)/.test(document.querySelector('#section-workflows').textContent)")
        bench.picture(page, "workflows")
        page.evaluate("[...document.querySelectorAll('#section-workflows a')].find((link) => /workflows\\/(?!execution)./.test(link.hash)).click()")
        states = """Object.fromEntries([...document.querySelectorAll('#section-workflows .node')].filter((node) => node.checkVisibility())
          .map((node) => [node.querySelector('.line-0').textContent, node.querySelector('.line-1').textContent]))"""
        page.wait_for(f"Object.keys({states}).length === 5")
        expect(page.evaluate(states) == {"collect": "completed", "clean": "waiting", "price": "waiting",
                                         "join": "waiting children", "publish": "waiting children"},
               "other states", str(page.evaluate(states)))
        # Each edge goes from the left to the right.
        ways = page.evaluate("""[...document.querySelectorAll('#section-workflows .edge')].map((edge) =>
          [edge.getPointAtLength(0).x, edge.getPointAtLength(1e6).x])""")
        expect(len(ways) == 5 and all(begin < end for begin, end in ways), "edges go back", str(ways))
        page.wait_for("document.querySelectorAll('#section-workflows .bar[data-tone=ok] .ran[width]').length === 1")
        for _ in range(2):
            server.tell("work")
        page.wait_for(f"{states}.join === 'waiting' && {states}.price === 'completed'")
        bench.picture(page, "workflow")
        for width, theme in ((360, "dark"), (360, "light"), (1440, "dark")):
            page.resize(width, 900)
            page.set_theme(theme)
            page.wait_for(f"innerWidth === {width} && matchMedia('(prefers-color-scheme: {theme})').matches")
            expect(page.evaluate("document.documentElement.scrollWidth") <= width, f"{width} px: it scrolls to the side")
            expect(not page.evaluate(CONTRAST), f"{width} px, {theme}: hard to read", "\n".join(page.evaluate(CONTRAST)))
            bench.picture(page, f"workflow_{width}_{theme}", whole=True)
        expect(not page.evaluate(UNNAMED), "without a name", "\n".join(page.evaluate(UNNAMED)))
        expect_no_complaints(page)


def execution(bench):
    """A checkout of the shop is found among those that are done, and its journal tells what was done when."""
    with bench.shop("--port", "0") as shop:
        page = bench.open(shop.find(r"gateway at (\S+)"))
        page.wait_for(LIVE)
        show(page, "workflows")
        page.evaluate("""(() => {
          const choice = document.getElementById('execution-state');
          choice.value = 'completed';
          choice.dispatchEvent(new Event('change'));
          return true;
        })()""")
        link = """[...document.querySelectorAll('#section-workflows tr')].find((row) => /checkout.*completed/.test(row.textContent))
          ?.querySelector('a')"""
        page.wait_for(f"{link} !== undefined")
        page.evaluate(f"{link}.click()")
        entries = """[...document.querySelectorAll('#section-workflows tbody tr')].filter((row) => row.querySelector('.bar') && row.checkVisibility())
          .map((row) => row.cells[0].textContent)"""
        page.wait_for(f"{entries}.length > 0")
        found = page.evaluate(entries)
        expect(found == ["charge", "offer", "offer", "offer", "1 of 3", "ship"], "another journal", str(found))
        # Each entry begins where the one before it ended.
        bars = page.evaluate("""[...document.querySelectorAll('#section-workflows .bar .ran')].filter((bar) => bar.checkVisibility())
          .map((bar) => Number(bar.getAttribute('x')))""")
        expect(bars == sorted(bars) and bars[0] == 0, "not in order", str(bars))
        for width, theme in ((360, "light"), (360, "dark"), (1440, "light")):
            page.resize(width, 900)
            page.set_theme(theme)
            page.wait_for(f"innerWidth === {width} && matchMedia('(prefers-color-scheme: {theme})').matches")
            expect(not page.evaluate(OVERFLOW), f"{width} px: it stands out", str(page.evaluate(OVERFLOW)))
            expect(not page.evaluate(CUT_WORDS), f"{width} px: words are cut", str(page.evaluate(CUT_WORDS)))
            expect(not page.evaluate(CONTRAST), f"{width} px, {theme}: hard to read", "\n".join(page.evaluate(CONTRAST)))
            bench.picture(page, f"execution_{width}_{theme}", whole=True)
        expect(not page.evaluate(UNNAMED), "without a name", "\n".join(page.evaluate(UNNAMED)))
        page.evaluate("[...document.querySelectorAll('#section-workflows a')].find((link) => link.textContent === 'All executions').click()")
        page.wait_for("document.getElementById('execution-state').checkVisibility()")
        expect_no_complaints(page)


def modules(bench):
    """Graphs of any shape are laid out without overlaps, and figures written as they should be."""
    with bench.server() as server:
        page = bench.open(server.find(r"url (\S+)"))
        page.wait_for(LIVE)
        wrong = page.evaluate(MODULES, awaits=True)
        expect(not wrong, "wrong", "\n".join(wrong[:20]))


def give_token(page, text):
    page.wait_for("document.getElementById('sign-in').open")
    page.evaluate("document.getElementById('token').focus()")
    page.type(text)
    press(page, ENTER)
    page.wait_for("!document.getElementById('sign-in').open || document.getElementById('token').value === ''")


def tokens(bench):
    """Who needs a token is asked for one; it is kept in the tab, and decides what may be done."""
    with bench.server("--tokens") as server:
        url = server.find(r"url (\S+)")
        reader, operator = server.find(r"token (reader\S+)"), server.find(r"token (operator\S+)")
        page = bench.open(url)
        page.wait_for("document.getElementById('sign-in').open")
        bench.picture(page, "sign_in")
        give_token(page, "reader.wrong")
        page.wait_for("/not accepted/.test(document.getElementById('sign-in-text').textContent)")
        give_token(page, reader)
        page.wait_for(LIVE)
        page.go(f"{url}/")
        page.wait_for(LIVE)
        expect(not page.evaluate("document.getElementById('sign-in').open"), "it asks again")
        expect(page.evaluate("Object.keys(localStorage).every((key) => !localStorage[key].includes('.'))"), "it is kept for longer")
        server.tell("break")
        server.tell("repair")
        show(page, "views")
        press_action(page, "resume")
        page.wait_for("/refused.*role operate/.test(document.getElementById('said').textContent)")
        page.evaluate("document.getElementById('forget').click()")
        give_token(page, operator)
        page.wait_for(LIVE)
        press_action(page, "resume")
        page.wait_for("document.querySelectorAll('.cards li').length === 0")
        expect_no_complaints(page, ("401", "403"))


def follow(bench):
    """A page keeps the rows of a view by what docs/gateway.md says, also when it was cut off."""
    with bench.server("--tokens") as server:
        url, reader = server.find(r"url (\S+)"), server.find(r"token (reader\S+)")
        page = bench.open(url)
        page.wait_for("document.getElementById('sign-in').open")
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "support", "follow.js"), encoding="utf-8") as file:
            page.evaluate(f"{file.read()}\n window.follow = follow; true")
        page.evaluate("""(() => {
          window.sockets = [];
          window.resume = null;
          window.WebSocket = class extends WebSocket {
            constructor(address, protocols) {
              super(resume ? address.replace(/resume=.*/, `resume=${resume}`) : address, protocols);
              sockets.push(this);
            }
          };
          return true;
        })()""")
        address = url.replace("http", "ws", 1) + "/api/v1/tables/orders"
        page.evaluate(f"window.rows = follow('{address}', '{reader}', (row) => row.id); true")
        page.wait_for("rows.size === 2000 && rows.get(2000).cents === 20000")
        server.tell("break")
        page.wait_for("rows.size === 2001")
        # Cut off, and then with a token that is refused: it is not tried for ever.
        for missed, resume in ((1, "null"), (2, "'w2.1.999.1'")):
            page.evaluate(f"window.resume = {resume}; sockets.at(-1).close(); true")
            server.tell("break")
            page.wait_for(f"rows.size === {2001 + missed}")
        expect(page.evaluate("sockets.some((socket) => socket.url.endsWith('resume=w2.1.999.1'))"), "no refusal")


def picture(bench):
    """No test: makes docs/console.png."""
    with bench.shop("--port", "0") as shop:
        page = bench.open(shop.find(r"gateway at (\S+)"), width=1240, height=790)
        page.wait_for(LIVE)
        # Until there is something to see in the lines.
        page.wait_for("document.querySelector('.sparkline .line').getAttribute('d')?.split('L').length > 42")
        bench.picture(page, "console")


CHECKS = {check.__name__: check for check in (live, layout, keyboard, restart, quarantine, backfill, workflow, execution, modules, tokens, follow, picture)}


def main():
    shop, server, pictures, check = sys.argv[1:]
    if chromium.program() is None:
        print("SKIPPED: there is no Chromium: scripts/install_dependencies.sh installs it")
        return SKIPPED
    os.makedirs(pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium.Browser() as browser:
        try:
            CHECKS[check](Bench(shop, server, pictures, browser, folder))
        except chromium.Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
