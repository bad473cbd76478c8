"""The argument of exceptions: an error as a dict, whose text is a report for the terminal."""


class Description(dict):
    """An error as a dict with `message`, `code`, `help`, `display` and `labels`; `str` of it is a report without colours."""

    def __init__(self, described, script=None):
        super().__init__(described)
        self.script = script

    def __str__(self):
        code = f" ({self['code']})" if self.get("code") else ""
        lines = [(self.get("message") or "") + code, *self.marked_lines()]
        for related in self.get("related") or []:
            lines.append("  " + related.get("message", ""))
        lines += ["because: " + cause for cause in self.get("causes") or []]
        if self.get("help"):
            lines.append("help: " + self["help"])
        return "\n".join(lines)

    def __reduce__(self):
        # Another process gets a plain dict: it need not have this class.
        return dict, (dict(self),)

    def marked_lines(self):
        """The line of the script for each label, with a mark below what it labels. Spans count bytes."""
        script = (self.script or "").encode()
        for label in self.get("labels") or [] if script else []:
            offset, length = label["span"]["offset"], label["span"]["length"]
            begin, end = script.rfind(b"\n", 0, offset) + 1, script.find(b"\n", offset)
            end = len(script) if end < 0 else end
            if offset > len(script) or end - begin > 4096:
                continue
            number = str(script.count(b"\n", 0, begin) + 1)
            before = script[begin:offset].decode(errors="replace")
            marked = script[offset : min(offset + length, end)].decode(errors="replace")
            blank = "".join("\t" if letter == "\t" else " " for letter in before)
            text = label.get("label")
            yield f"{number} | " + script[begin:end].decode(errors="replace").rstrip("\r")
            yield " " * len(number) + " | " + blank + "^" * max(len(marked), 1) + (" " + text if text else "")
