package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// moving is a button that goes away from where it was just seen, as a card does when a line below it goes, and another that takes its place.
const moving = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>t</title>
<style>button { position: fixed; left: 20px; top: 20px; width: 90px; height: 40px }</style><button id="other">other</button><button id="meant">meant</button>
<script>
const said = [], under = document.elementFromPoint.bind(document);
for (const b of document.querySelectorAll("button")) b.onclick = () => said.push(b.id);
document.elementFromPoint = (x, y) => { const el = under(x, y); document.elementFromPoint = under; meant.style.top = "150px"; return el; };
</script>`

func TestAPressThatThePageMovedAwayFromIsDoneAgain(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(moving))
	}))
	t.Cleanup(server.Close)
	b := Start(t)
	for name, phone := range map[string]bool{"with a finger": true, "with the mouse": false} {
		t.Run(name, func(t *testing.T) {
			p := b.Open(t, server.URL, Window{Width: 400, Height: 300, Phone: phone})
			p.Press("#meant")
			p.Until(`said.join() === "other,meant"`)
		})
	}
}
