"""The page of `cozo server` in a browser without a window, and what one does with it."""

import os

from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=30_000)


def start_chromium():
    """A browser with its driver; both are to be closed."""
    executable = os.environ.get("COZO_CHROMIUM", "")
    if not os.access(executable, os.X_OK):
        raise RuntimeError(
            f"COZO_CHROMIUM names no Chromium ('{executable}'): run the tests with cozo-lib-python/test.sh, which gets one, "
            "or have the variable name one"
        )
    driver = sync_playwright().start()
    return driver, driver.chromium.launch(executable_path=executable)


class Desk:
    """The page, opened, in a browser context of its own. It notes what must not happen."""

    def __init__(self, browser, address, **options):
        self.address = address
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(30_000)
        self.wrong = []
        self.page = self.open()

    def open(self):
        """Another tab with the page."""
        page = self.context.new_page()
        page.on("console", self.note_console)
        page.on("pageerror", lambda error: self.wrong.append(f"page error: {error}"))
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))
        page.on("request", self.note_request)
        page.goto(self.address)
        return page

    def note_console(self, message):
        # The browser itself reports responses that are errors, which is what tests ask for.
        if message.type in ("error", "warning") and "the server responded with a status of 40" not in message.text:
            self.wrong.append(f"console: {message.text}")

    def note_request(self, request):
        if not request.url.startswith((self.address + "/", "blob:" + self.address)):
            self.wrong.append(f"request elsewhere: {request.url}")

    def close(self):
        self.context.close()
        assert self.wrong == []

    def locate(self, selector, **options):
        return self.page.locator(selector, **options)

    def write(self, script):
        self.page.fill("#script", script)

    def run(self, script=None, button="#run"):
        """Runs a script with a button, and waits until it has ended."""
        if script is not None:
            self.write(script)
        self.page.click(button)
        self.settle()

    def settle(self):
        expect(self.locate("#stop")).to_be_disabled()

    def type(self, text):
        """Types at the end of the script."""
        self.page.focus("#script")
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text)

    def cells(self):
        """The texts of the rows in the document."""
        rows = self.locate(".result:visible tbody tr").all()
        return [row.locator("td.value").all_inner_texts() for row in rows]

    def suggestions(self):
        return self.locate(".suggestion-name").all_inner_texts()

    def tab(self, name):
        self.page.get_by_role("tab", name=name).click()

    def module(self, name, body, argument=None):
        """What a function body gives, which has the names of one of the page's modules in `it`."""
        return self.page.evaluate(
            f"async argument => {{ const it = await import('/page/{name}'); {body} }}", argument
        )
