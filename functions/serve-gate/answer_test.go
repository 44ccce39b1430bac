package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// Who repeats a call that was asked for once more is told of the later one alone: its id, its state and what to do.
func TestARepeatedCallTellsOfTheLaterOne(t *testing.T) {
	w := opened(t, storetest.Start(t))
	_, first, _ := w.says("POST", "/calls", askBash)
	w.act(first.ID, circulation.SendBack, "金曜は避けてください")
	_, second, _ := w.says("POST", "/calls", strings.Replace(askBash, `"reason"`, `"again":"`+first.ID+`","reason"`, 1))
	says := func(status, then string) {
		t.Helper()
		for method, path := range map[string]string{"POST": "/calls", "GET": "/calls/" + first.ID} {
			_, is, text := w.says(method, path, map[string]string{"POST": askBash}[method])
			expect.That(t, is.ID == first.ID && is.Status == "refused" && is.Say == "This call ended with the status refused, "+
				"and the same was asked for once more as "+second.ID+", with the status "+status+": "+then, "%s", text)
		}
	}
	more := func(id string) string { return "again: " + id + ", or ringi_again: " + id + " in its description." }
	says("pending", "to learn its end, repeat exactly this call with "+more(first.ID))
	w.act(second.ID, circulation.Stamp, "")
	says("approved", "take "+second.ID+", and run it only if that says granted.")
	w.says("POST", "/calls/"+second.ID+"/take", takes("a"))
	says("granted", "only if the person you work for wants it once more, ask for it with "+more(second.ID))
}

// What the sentence of an ended call names is a field of the REST API or words in an argument, and either works.
func TestWhatIsSaidOfAnEndedCallWorks(t *testing.T) {
	w := opened(t, storetest.Start(t))
	_, first, _ := w.says("POST", "/calls", askBash)
	w.act(first.ID, circulation.SendBack, "金曜は避けてください")
	_, first, text := w.says("POST", "/calls", askBash)
	said := regexp.MustCompile(`ask for it with (again): ([\w-]+), or (ringi_again: ([\w-]+)) in its (description)\.$`).
		FindStringSubmatch(first.Say)
	expect.Must(t, said != nil, "%s", text)
	ids := map[string]bool{first.ID: true}
	for _, body := range []string{strings.Replace(askBash, `"reason"`, `"`+said[1]+`":"`+said[2]+`","reason"`, 1),
		strings.Replace(askBash, `"`+said[5]+`":"Deploys`, `"`+said[5]+`":"Deploys. `+said[3], 1)} {
		_, is, text := w.says("POST", "/calls", body)
		expect.That(t, is.Status == "pending" && is.ID != first.ID, "%s: %s", body, text)
		ids[is.ID] = true
	}
	expect.Is(t, len(ids), 2, "both name the same call")
	// A tool without words for people has the field alone.
	w.key.Tools = append(w.key.Tools, "Write")
	k := expect.Value(w.all.Key(t.Context(), w.key.TenantID, w.key.ID))(t)
	k.Tools = w.key.Tools
	expect.Value(w.all.SaveKey(t.Context(), k, pipelinetest.Member("U9"), w.now))(t)
	write := `{"tool":"Write","arguments":{"path":"a","description":"ringi_again: x"}}`
	_, a, _ := w.says("POST", "/calls", write)
	w.act(a.ID, circulation.SendBack, "no")
	_, a, text = w.says("POST", "/calls", write)
	expect.That(t, strings.HasSuffix(a.Say, "tell them that your program has to ask for it with again: "+a.ID+"."), "%s",
		text)
	_, is, text := w.says("POST", "/calls", strings.Replace(write, "{", `{"again":"`+a.ID+`",`, 1))
	expect.That(t, is.Status == "pending" && is.ID != a.ID, "%s", text)
	_, a, text = w.says("POST", "/calls", write)
	expect.That(t, strings.HasSuffix(a.Say, "your program has to repeat exactly this call with again: "+a.ID+"."), "%s", text)
}

// What a model behind the files for agents is told it can do: words in its own call, or tell its person, whose program
// says it.
func TestAModelBehindAFileCanDoWhatItIsTold(t *testing.T) {
	w := opened(t, storetest.Start(t))
	w.key.Tools = append(w.key.Tools, "pay")
	k := expect.Value(w.all.Key(t.Context(), w.key.TenantID, w.key.ID))(t)
	k.Tools = w.key.Tools
	expect.Value(w.all.SaveKey(t.Context(), k, pipelinetest.Member("U9"), w.now))(t)
	server := httptest.NewServer(w.http)
	defer server.Close()
	files := expect.Value(filepath.Abs("../../infra/gate"))(t)
	for name, program := range map[string][]string{
		"python3": {"-c", "import json, os, sys; sys.path.insert(0, sys.argv[1]); from ask import ask; a = sys.argv\n" +
			"print(ask(a[2], json.loads(a[3]), wait=0, again=a[4] or None))", files},
		"node": {"--input-type=module", "-e", "const [files, tool, args, again] = process.argv.slice(1);\n" +
			"const { ask } = await import(files + '/ask.mjs');\n" +
			"console.log(await ask(tool, JSON.parse(args), { wait: 0, again: again || undefined }));", files},
	} {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "" {
			t.Logf("%s is missing: %v", name, err)
			continue
		}
		asks := func(tool, arguments, again string) string {
			t.Helper()
			run := exec.CommandContext(t.Context(), name, append(program, tool, arguments, again)...)
			run.Env = append(os.Environ(), "RINGI_URL="+server.URL, "RINGI_KEY="+w.secret)
			text, err := run.CombinedOutput()
			expect.Must(t, err == nil, "%s: %v: %s", name, err, text)
			return string(text)
		}
		refuse := func(tool, arguments string) {
			_, a, _ := w.says("POST", "/calls", `{"tool":"`+tool+`","arguments":`+arguments+`}`)
			w.act(a.ID, circulation.SendBack, "no")
		}
		bash, pay := `{"command":"make `+name+`"}`, `{"to":"`+name+`"}`
		refuse("Bash", bash)
		said := regexp.MustCompile(`ringi_again: [\w-]+`).FindString(asks("Bash", bash, ""))
		is := asks("Bash", strings.Replace(bash, "{", `{"description":"`+said+`",`, 1), "")
		expect.That(t, said != "" && strings.Contains(is, "waits for people"), "%s: %q, %s", name, said, is)
		refuse("pay", pay)
		is = asks("pay", pay, "")
		of := regexp.MustCompile(`tell them that your program has to ask for it with again: ([\w-]+)\.`).FindStringSubmatch(is)
		expect.Must(t, of != nil, "%s: %s", name, is)
		is = asks("pay", pay, of[1])
		expect.That(t, strings.Contains(is, "waits for people"), "%s: %s", name, is)
	}
}
