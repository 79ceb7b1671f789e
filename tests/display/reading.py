"""Reading a page as a browser does, and refusing what no page may have."""

from html.parser import HTMLParser

TAGS = {"div", "b", "p", "table", "thead", "tbody", "tr", "th", "td", "span", "code", "pre"}
ATTRIBUTES = {"style", "title", "scope"}


class Page(HTMLParser):
    """The texts and titles of a page, in order; every element is closed where it must be."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.texts: list[str] = []
        self.titles: list[str] = []
        self.cells = 0
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS
        names = [name for name, _ in attrs]
        assert set(names) <= ATTRIBUTES
        assert len(set(names)) == len(names)
        attributes = {name: value or "" for name, value in attrs}
        assert "url" not in attributes.get("style", "")
        self.titles += [attributes["title"]] if attributes.get("title") else []
        self.cells += tag == "td"
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    def handle_decl(self, decl):
        raise AssertionError(decl)

    def handle_pi(self, data):
        raise AssertionError(data)

    def unknown_decl(self, data):
        raise AssertionError(data)

    @property
    def text(self):
        return "".join(self.texts)
