package call_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/call"
	"ringi/shared/runtime/expect"
)

// A stamp binds a command line: what could be typed into a program later is refused, and nothing else.
func TestInteractivePrograms(t *testing.T) {
	for line, want := range map[string]bool{
		"bash": true, "bash -i": true, "bash -l": true, "/bin/sh": true, "exec zsh": true, "sudo -u root bash": true,
		"sudo -i": true, "env X=1 bash": true, "X=1 bash": true, "cd /tmp && bash -li": true, "timeout 5 sh": true,
		"python3": true, "python3.12 -i x.py": true, "python -q": true, "node": true, "irb": true, "psql -h db": true,
		"ssh host": true, "ssh -p 22 -i key host": true, "ssh -t host 'bash'": true, "echo $((1<2))\nbash": true,
		"docker exec -it web sh": true, "kubectl exec -i pod -- ls": true, "docker attach web": true, "tmux": true,
		"su": true, "su - root": true, "mysql -u root db": true, "true; (bash)": true, "if true; then bash; fi": true,
		"bash -c 'ls'": false, "bash build.sh": false, "bash -x ./build.sh -i": false, "sh -lc 'make test'": false,
		"python3 -c 'print(1)'": false, "python3 -m pytest -i": false, "python3 x.py -i": false, "node x.js": false,
		"python3 - <<'EOF'\nbash\nEOF": false, "cat > a.md <<EOF\nbash\nssh host\nEOF\nls": false,
		"bash <<EOF\nls\nEOF": false, "curl https://x.example | sh": false, "bash < build.sh": false,
		"psql -c 'select 1'": false, "ssh host uptime": false, "ssh -p 22 host 'bash -c ls'": false,
		"docker exec web ls": false, "docker run -d web": false, "docker build -t web .": false,
		"git commit -m \"fix (bash)\"": false, "git commit -m 'run `bash`'": false,
		"echo bash": false, "perl -i -pe 's/a/b/' f": false, "sqlite3 a.db 'select 1'": false, "make": false,
		"sed -i s/a/b/ f; npm test": false, "python3 --version": false, "": false, "echo '": false, "redis-cli ping": false,
		"bash -c 'bash -i'": false, // what is quoted isn't read, but by those who stamp it
	} {
		refused := call.Unasked("Bash", map[string]any{"command": line})
		expect.That(t, strings.Contains(refused, "interactive") == want, "%q: want %t, not %q", line, want, refused)
	}
	for name, tt := range map[string]struct {
		tool    string
		members map[string]any
		want    bool
	}{
		"what types into one": {"write_stdin", map[string]any{"chars": "ls\n"}, true},
		"words":               {"shell", map[string]any{"command": []any{"bash", "-i"}}, true},
		"words of a command":  {"shell", map[string]any{"command": []any{"bash", "-lc", "ls"}}, false},
		"another argument":    {"exec_command", map[string]any{"cmd": "bash"}, true},
		"another tool":        {"Write", map[string]any{"content": "bash"}, false},
	} {
		expect.That(t, (call.Unasked(tt.tool, tt.members) != "") == tt.want, "%s", name)
	}
}
