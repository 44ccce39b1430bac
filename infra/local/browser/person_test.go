package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// moving is a button that moves away when the pointer goes down, as in a card when a line below it disappears, and
// another button that takes its place.
const moving = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>t</title>
<style>button { position: fixed; left: 20px; top: 20px; width: 90px; height: 40px }</style><button id="other">other</button><button id="meant">meant</button>
<script>
const said = [], moves = () => { meant.style.top = "150px"; };
for (const b of document.querySelectorAll("button")) b.onclick = () => said.push(b.id);
%s
</script>`

func TestAPressThatThePageMovedAwayFromIsDoneAgain(t *testing.T) {
	b := Start(t)
	for name, when := range map[string]string{
		"before the press": `const under = document.elementFromPoint.bind(document);
			document.elementFromPoint = (x, y) => { const el = under(x, y); document.elementFromPoint = under; moves(); return el; };`,
		"during the press": `meant.addEventListener("pointerdown", moves);`,
		"drawn anew during the press": `meant.addEventListener("pointerdown", () => {
			const fresh = meant.cloneNode(true); fresh.onclick = meant.onclick; meant.replaceWith(fresh);
		});`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprintf(w, moving, when)
		}))
		t.Cleanup(server.Close)
		for hand, phone := range map[string]bool{"with a finger": true, "with the mouse": false} {
			t.Run(name+", "+hand, func(t *testing.T) {
				p := b.Open(t, server.URL, Window{Width: 400, Height: 300, Phone: phone})
				p.Press("#meant")
				p.Until(`said.filter((id) => id === "meant").length === 1`)
			})
		}
	}
}
