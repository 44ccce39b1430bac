"""Answers programs and no web pages.

The rules are those of Guard of infra/local/lambda, which stands before every listener of the
stack's own: a Host that is not this machine's, another Origin, or a Sec-Fetch-Site
that says another place is answered 403. moto has nothing that is opened in a browser;
for a file that a signed link leads to, the listener before it has judged.
"""

import functools
import ipaddress
from urllib.parse import urlsplit

REFUSAL = b"web pages are not answered\n"


class Guard:
    def __init__(self, app):
        self.app = app
        self.own = functools.lru_cache(maxsize=256)(self.own)

    def __call__(self, environ, start_response):
        if self.foreign(environ):
            start_response("403 Forbidden", [("Content-Type", "text/plain")])
            return [REFUSAL]
        return self.app(environ, start_response)

    def foreign(self, environ):
        return self.refuses(environ.get("HTTP_HOST", ""), environ.get("HTTP_ORIGIN"),
            environ.get("HTTP_SEC_FETCH_SITE", "none"))

    def refuses(self, host, origin, site):
        return not self.own(host) or origin not in (None, "http://" + host) or site not in ("none", "same-origin")

    def own(self, host):
        try:
            name = urlsplit("//" + host).hostname or ""
        except ValueError:
            return False
        if name == "localhost":
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False
