package vendors

import (
	"net/http"
)

// GitHub is the name by which Fail and the other faults know all calls of GitHub's API.
const GitHub = "github"

// GitHubPath is where GitHub's API is.
const GitHubPath = "/github"

// The demo repository, and its ref.
const (
	ShopOwner, ShopName = "ringi-demo", "shop"
	ShopRef             = "heads/main"
)

// newGitHub makes GitHub with a small repository, whose only test fails.
func newGitHub(v *Vendors) *GitHubServer {
	s, err := NewGitHub()
	if err != nil {
		panic(err) // the published excerpt is part of the binary, and the key needs nothing but randomness
	}
	s.Now = v.now
	s.Fault = func(_ string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		v.faults.apply(GitHub, w, r, do, func(w http.ResponseWriter, status int) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"message":"Server Error"}`)) // a failure means that the client has disconnected
		})
	}
	s.Add(ShopOwner, ShopName).Commit("main", "Sell things", map[string]File{
		"README.md":            {Content: "# Shop\n\n`python3 -m unittest` runs the tests.\n"},
		"shop/__init__.py":     {},
		"shop/price.py":        {Content: shopPrice},
		"shop/cart.py":         {Content: shopCart},
		"tests/__init__.py":    {},
		"tests/test_price.py":  {Content: shopTest},
		"tools/count_lines.sh": {Content: "#!/bin/sh\nwc -l shop/*.py\n", Mode: "100755"},
	}, v.now())
	return s
}

const shopPrice = `"""Prices, in yen."""

TAX_PERCENT = 10


def with_tax(price):
    """Return the price with tax, rounded down to a whole yen."""
    return price + price * TAX_PERCENT / 100
`

const shopCart = `"""A cart of goods."""

from shop.price import with_tax


def total(prices):
    return sum(with_tax(price) for price in prices)
`

const shopTest = `import unittest

from shop.price import with_tax


class PriceTest(unittest.TestCase):
    def test_whole_yen(self):
        self.assertEqual(with_tax(99), 108)


if __name__ == "__main__":
    unittest.main()
`
