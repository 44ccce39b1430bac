package sandbox_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringi/infra/local/browser"
	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// moving is a button that moves away when the pointer goes down, as in a card when a line below it disappears, and
// another button that takes its place.
const moving = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>t</title>
<style>button { position: fixed; left: 20px; top: 20px; width: 90px; height: 40px }</style>
<button id="other">other</button><button id="meant">meant</button>
<script>
const said = [], moves = () => { meant.style.top = "150px"; };
for (const b of document.querySelectorAll("button")) b.onclick = () => said.push(b.id);
%s
</script>`

func TestAPressThatThePageMovedAwayFromIsDoneAgain(t *testing.T) {
	b := browser.Start(t)
	for name, when := range map[string]string{
		"before the press": `const under = document.elementFromPoint.bind(document);
			document.elementFromPoint = (x, y) => {
				const el = under(x, y);
				document.elementFromPoint = under; moves(); return el;
			};`,
		"during the press": `meant.addEventListener("pointerdown", moves);`,
		"drawn anew during the press": `meant.addEventListener("pointerdown", () => {
			const fresh = meant.cloneNode(true); fresh.onclick = meant.onclick; meant.replaceWith(fresh);
		});`,
	} {
		server := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprintf(w, moving, when)
		}))
		for hand, phone := range map[string]bool{"with a finger": true, "with the mouse": false} {
			t.Run(name+", "+hand, func(t *testing.T) {
				p := b.Open(t, server.URL, browser.Window{Width: 400, Height: 300, Phone: phone})
				p.Press("#meant")
				p.Until(`said.filter((id) => id === "meant").length === 1`)
			})
		}
	}
}

// The page has a field without a label and text with too little contrast. The browser must ask for it in English.
func TestWhatKeepsPeopleOutIsFound(t *testing.T) {
	asked := make(chan string, 8)
	server := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Accept-Language")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>t</title><style>:root{color-scheme:light ` +
			`dark}p{background:#fff;color:#eee}</style><main><h1>h</h1><input><p>pale</p></main>`))
	}))
	p := browser.Start(t).Open(t, server.URL, browser.Window{Width: 400, Height: 300, Dark: true, Language: "en"})
	found, looked := p.Violations(t)
	if !looked {
		t.Skip(process.ErrNode)
	}
	var rules []string
	for _, f := range found {
		rules = append(rules, f.Rule)
	}
	slices.Sort(rules)
	expect.That(t, slices.Equal(rules, []string{"color-contrast", "label"}), "axe found %q", rules)
	expect.Is(t, <-asked, "en", "the page was asked for in")
	p.Until(`navigator.language === "en" && matchMedia("(prefers-color-scheme: dark)").matches`)
}

// legible is the least contrast of text that the Web Content Accessibility Guidelines ask for at level AA.
const legible = 4.5

// TestColorsOfTextAreLegible: in each theme of the console and the sandbox, a color is legible on its soft one, as a
// chip or a badge has it, and on the backgrounds of the page. No page has every state of every chip for axe to find.
func TestColorsOfTextAreLegible(t *testing.T) {
	root := regexp.MustCompile(`(?s):root \{(.*?)\}`)
	color := regexp.MustCompile(`(--[\w-]+): (?:light-dark\()?(#[0-9a-f]+)(?:, (#[0-9a-f]+)\))?;`)
	for _, path := range []string{"../../../functions/serve-console/web/ui/console.css", "ui/style.css"} {
		css := string(expect.Value(os.ReadFile(path))(t))
		themes := root.FindAllStringSubmatch(css, -1)
		known := map[string]string{}
		for i := range 2 { // the dark theme replaces colors of the light one: in a second list, or beside them
			for _, c := range color.FindAllStringSubmatch(themes[min(i, len(themes)-1)][1], -1) {
				known[c[1]] = c[2]
				if i == 1 && c[3] != "" {
					known[c[1]] = c[3]
				}
			}
			pairs := 0
			for _, name := range []string{"--good", "--bad", "--wait", "--calm", "--mention", "--ink", "--ink-2", "--link"} {
				for _, on := range []string{name + "-soft", "--bg", "--raised", "--bg-raised", "--soft", "--bg-soft",
					"--bg-hover"} {
					if known[name] == "" || known[on] == "" {
						continue
					}
					pairs++
					got := contrast(t, known[name], known[on])
					expect.That(t, got >= legible, "%s, theme %d: %s on %s has a contrast of %.2f", path, i, name, on, got)
				}
			}
			expect.That(t, pairs > 15, "%s, theme %d: %d pairs", path, i, pairs)
		}
	}
}

// contrast is the ratio of two colors' luminances by the guidelines' formula.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, color string) (sum float64) {
	t.Helper()
	hex := strings.TrimPrefix(color, "#")
	if len(hex) == 3 {
		hex = fmt.Sprintf("%c%c%c%c%c%c", hex[0], hex[0], hex[1], hex[1], hex[2], hex[2])
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n := float64(expect.Value(strconv.ParseUint(hex[2*i:2*i+2], 16, 8))(t)) / 255
		if n <= 0.04045 {
			n /= 12.92
		} else {
			n = math.Pow((n+0.055)/1.055, 2.4)
		}
		sum += weight * n
	}
	return sum
}
