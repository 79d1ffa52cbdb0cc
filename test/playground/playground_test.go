package playground

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// maxEngine is the largest engine that a site is asked to serve, in bytes as gzip sends it.
const maxEngine = 10_000_000

// TestPage holds both builds of the page to the same: they have one engine.
//
//nolint:tparallel // one browser, whose tabs would wait for each other
func TestPage(t *testing.T) {
	t.Parallel()
	browser := newBrowser(t)
	program := build(t)
	served, static := serve(t, program), serveStatic(t)
	for _, build := range []struct{ name, address, says string }{
		{"served", served, "Your objects stay on this machine."},
		{"static", static, "Your objects stay in this page."},
	} {
		t.Run(build.name, func(t *testing.T) {
			t.Run("converts, and explains each value", func(t *testing.T) { converts(t, browser, build.address, build.says) })
			t.Run("an edit of either side, the way back, undo", func(t *testing.T) { edits(t, browser, build.address) })
			t.Run("findings in place", func(t *testing.T) { finds(t, browser, build.address) })
			t.Run("suggest, random object, laws, link", func(t *testing.T) { buttons(t, browser, build.address) })
			t.Run("bad input", func(t *testing.T) { badInput(t, browser, build.address) })
		})
	}
	t.Run("an evaluation that overruns is ended", func(t *testing.T) { overruns(t, browser, static) })
	t.Run("the keyboard reaches everything, and everything has a name", func(t *testing.T) { accessible(t, browser, served) })
	t.Run("images of the documentation", func(t *testing.T) { shoot(t, browser, served) })
	t.Run("a CRD of the command line alone", func(t *testing.T) {
		p := open(t, browser, serve(t, program, "--crd", "examples/enum/crd.yaml"), 1200, 800)
		p.has("#states", "Not converted")
		if empty := get[int](p, `[...document.querySelectorAll("select")].filter((e) => e.offsetParent && !e.value).length`); empty != 0 {
			t.Errorf("%d choices of nothing", empty)
		}
		p.has("#crd .yaml-key", "apiVersion")
	})
	t.Run("files of the command line", func(t *testing.T) {
		page := readFile(t, "docs", "how-to", "edit-rules.md")
		_, flags, _ := strings.Cut(page, "\n    bin/webhookd playground ")
		flags, _, _ = strings.Cut(flags, " --open\n")
		p := open(t, browser, serve(t, program, strings.Fields(flags)...), 1200, 800)
		p.has("#status", "No findings for ")
		p.has("#back", "the same object")
	})
	t.Run("the server answers the page only", func(t *testing.T) { guards(t, served) })
	t.Run("the engine is small enough", engineSize)
}

func converts(t *testing.T, browser *chromium, address, says string) {
	t.Helper()
	p := open(t, browser, address, 1440, 900)
	p.has("footer", says, "which browsers do not send")
	p.choose("object", "archive.v1")
	p.until(`document.getElementById("left-text").value.includes("name: archive")`)
	p.press("#right-tabs button") // the first of the others
	p.has("#right-tabs", "v1alpha1", "v1beta1")
	if got := p.value("right-text"); !strings.Contains(got, "source: https://files.example.com/widget.tar.gz") {
		t.Errorf("the object does not become one of v1alpha1:\n%s", got)
	}
	if got := p.classes(); got["copied"] != 2 || got["moved"] != 1 || got["kept"] != 1 {
		t.Errorf("what became of the values: %v", got)
	}
	p.has("#fields", ".spec.source.archive.checksum", "kept in an annotation", "rule 7", "no place in v1alpha1")
	p.has("#back", "Way back v1alpha1 → v1: the same object.")
	p.has("#right-note", "bytes kept")
	p.until(`document.querySelectorAll("#lines path").length === 4`)
	p.until(`document.querySelectorAll("#left .mark.kept").length === 1 && document.querySelectorAll("#right .mark.kept").length === 1`)
	before := len(p.requested())
	p.replace("left-text", "size: 1", "size: 77")
	if got := p.value("right-text"); !strings.Contains(got, "size: 77") {
		t.Errorf("an edit does not reach the other side:\n%s", got)
	}
	if strings.HasPrefix(says, "Your objects stay in this page") && len(p.requested()) != before {
		t.Errorf("the static page sends something: %q", p.requested()[before:])
	}
	// From a key to the result, with the pause of the page.
	if ms := get[string](p, `document.body.dataset.milliseconds`); len(ms) > 4 {
		t.Errorf("%s ms from input to result", ms)
	} else {
		t.Logf("%s ms from input to result", ms)
	}
}

func edits(t *testing.T, browser *chromium, address string) {
	t.Helper()
	p := open(t, browser, address, 1440, 900)
	p.choose("object", "git.v1")
	p.press("#right-tabs button")
	p.replace("left-text", "size: 3", "size: 4")
	// The other side: what was right is now the object, and left is what it becomes.
	p.replace("right-text", "colour: teal", "colour: pink")
	if got := p.value("left-text"); !strings.Contains(got, "color: pink") || !strings.Contains(got, "revision: v1.2.0") {
		t.Errorf("an edit on the right does not come back, or loses what was kept:\n%s", got)
	}
	p.has("#back", "Way back v1 → v1alpha1: the same object.")
	p.has("#steps", "v1 edited", "v1alpha1 edited")
	p.click("#undo")
	if got := p.value("left-text"); !strings.Contains(got, "color: teal") || !strings.Contains(got, "size: 4") {
		t.Errorf("undo does not return to the step before:\n%s", got)
	}
	p.click("#undo")
	if got := p.value("left-text"); !strings.Contains(got, "size: 3") {
		t.Errorf("the second undo does not either:\n%s", got)
	}
	p.click("#redo")
	p.click("#redo")
	if got := p.value("right-text"); !strings.Contains(got, "colour: pink") {
		t.Errorf("redo:\n%s", got)
	}
	// Another version on the left.
	p.click("#undo")
	p.click("#left-tabs button:nth-child(2)")
	if got := p.value("left-text"); !strings.Contains(got, "apiVersion: shop.example.com/v1beta1") {
		t.Errorf("the object is not shown at v1beta1:\n%s", got)
	}
	// What a rule drops.
	p.choose("gallery", "labels")
	p.choose("object", "dropped.v1alpha1")
	p.has("#back", "but for what rules drop", ".spec.wikiPage")
	p.has("#fields", "✕ dropped", "the server is gone")
}

func finds(t *testing.T, browser *chromium, address string) {
	t.Helper()
	p := open(t, browser, address, 1440, 900)
	p.replace("rules-text", "hub: .spec.color}", "hub: .spec.colr}")
	p.has("#rules-findings", "error, line 13", "no-such-field", "did you mean")
	p.has("#rules-count", "finding")
	p.until(`document.querySelector("#rules .mark.error") && document.querySelector("#rules .badge.error")`)
	p.has("#states", "Not valid", "1 error for")
	p.has("#back", "webhookd serves no rules with errors")
	if said := p.text("#objects"); strings.Contains(said, "✓") || strings.Contains(said, "same object") {
		t.Errorf("the result of rules with errors looks right: %s", said)
	}
	if coloured := get[int](p, `[...document.querySelectorAll("#objects :is(.colours, .marks, .badges, #lines, table)")].filter((e) =>
		getComputedStyle(e).filter !== "grayscale(1)").length`); coloured > 0 {
		t.Errorf("the result of rules with errors has colours in %d places", coloured)
	}
	p.run(chromedp.KeyEvent("\ue9f8"), chromedp.Evaluate(`dispatchEvent(new KeyboardEvent("keydown", { key: "F8" }))`, nil))
	p.until(`document.activeElement.id === "rules-text" && document.activeElement.value.slice(document.activeElement.selectionStart).startsWith("    - {spoke: .spec.colour")`)
	p.replace("rules-text", ".spec.colr}", ".spec.color}")
	p.has("#rules-count", "no findings")
	p.has("#states", "Converted")
	p.has("#back", "✓")
}

func buttons(t *testing.T, browser *chromium, address string) {
	t.Helper()
	p := open(t, browser, address, 1440, 900)
	p.write("rules-text", "")
	p.has("#rules-findings", "no Conversion in the text", "writes a first draft")
	p.click("#suggest")
	p.until(`document.getElementById("rules-text").value.includes("kind: Conversion")`)
	p.settled(`document.querySelectorAll("#fields tbody tr").length > 0`)
	p.choose("gallery", "crontab-rules")
	p.click("#random")
	p.settled(`document.getElementById("steps").innerText.includes("random object") && document.querySelectorAll("#fields tbody tr").length > 0`)
	p.click("#laws")
	p.has("#laws-result", "All laws hold on 100 random objects", "seed 1")
	object, rules := p.value("left-text"), p.value("rules-text")
	p.run(chromedp.Evaluate(`document.getElementById("link").click()`, nil))
	p.until(`location.hash.startsWith("#s=")`)
	link := get[string](p, `location.href`)
	again := open(t, browser, link, 1440, 900)
	if again.value("left-text") != object || again.value("rules-text") != rules {
		t.Error("the link does not hold everything")
	}
	for _, request := range again.requested() {
		if strings.Contains(request, "s=") && !strings.Contains(request, "#") {
			t.Errorf("what the link holds is sent: %s", request)
		}
	}
	cut := open(t, browser, link[:len(link)-40], 1440, 900)
	cut.has("#alert", "The link cannot be read")
}

func accessible(t *testing.T, browser *chromium, address string) {
	t.Helper()
	p := open(t, browser, address, 1440, 900)
	unnamed := get[[]string](p, `[...document.querySelectorAll("button, select, textarea, nav, section, table")].filter((e) =>
		!(e.ariaLabel || e.innerText?.trim() || e.labels?.length || e.title)).map((e) => e.outerHTML.slice(0, 80))`)
	if len(unnamed) > 0 {
		t.Errorf("without a name for a screen reader: %q", unnamed)
	}
	if roles := get[int](p, `document.querySelectorAll("[role=status][aria-live], [role=alert]").length`); roles != 2 {
		t.Errorf("%d live regions", roles)
	}
	// Tab leaves an editor, and reaches the buttons.
	seen := map[string]bool{}
	for range 30 {
		p.run(chromedp.KeyEvent("\t"))
		seen[get[string](p, `document.activeElement.id || document.activeElement.className`)] = true
	}
	for _, id := range []string{"skip", "gallery", "object", "suggest", "random", "laws", "link", "theme", "rules-text", "crd-text", "left-text", "right-text"} {
		if !seen[id] {
			t.Errorf("Tab does not reach %s", id)
		}
	}
	// A key instead of a button.
	p.after(func() {
		p.run(input.DispatchKeyEvent(input.KeyDown).WithModifiers(input.ModifierAlt).WithKey("l").WithCode("KeyL"))
	})
	p.has("#laws-result", "All laws hold")
	p.run(chromedp.Evaluate(`document.getElementById("theme").click()`, nil))
	if got := get[string](p, `getComputedStyle(document.documentElement).colorScheme`); got != "dark" {
		t.Errorf("the theme is %s", got)
	}
	for range 2 { // light, and back to automatic: the page remembers it
		p.run(chromedp.Evaluate(`document.getElementById("theme").click()`, nil))
	}
	// Text is readable in both themes: a contrast of 4.5 at least (WCAG 2, 1.4.3).
	for _, theme := range []string{"dark", "light"} {
		low := get[[]string](p, `{
			document.documentElement.dataset.theme = "`+theme+`";
			const rgb = (c) => { const x = document.createElement("canvas").getContext("2d"); x.fillStyle = c; x.fillRect(0, 0, 1, 1); return [...x.getImageData(0, 0, 1, 1).data]; };
			const light = (c) => { const [r, g, b] = rgb(c).slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
			const probe = document.body.appendChild(document.createElement("div"));
			const colour = (name) => { probe.style.color = "var(--" + name + ")"; return getComputedStyle(probe).color; };
			const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
			["text", "soft", "accent", "error", "warning", "note", "copied", "moved", "computed", "kept", "restored", "dropped", "added", "key", "string", "literal"]
				.map((n) => [n, ratio(colour(n), colour("pane"))]).filter(([, r]) => r < 4.5).map(String);
		}`)
		if len(low) > 0 {
			t.Errorf("too little contrast in the %s theme: %q", theme, low)
		}
	}
}

// engineSize checks what a visitor of the static page loads.
func engineSize(t *testing.T) {
	text := readFile(t, "dist", "playground", "engine.wasm")
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d with gzip", len(text), packed.Len())
	if packed.Len() > maxEngine {
		t.Errorf("the engine has %d bytes with gzip, more than %d", packed.Len(), maxEngine)
	}
}

// guards checks what keeps other sites in the same browser away.
func guards(t *testing.T, address string) {
	t.Helper()
	for _, test := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"the page", func(*http.Request) {}, http.StatusOK},
		{"without the token", func(r *http.Request) { r.URL.Path = "/" }, http.StatusForbidden},
		{"with another token", func(r *http.Request) { r.URL.Path = "/ABCDEFGHIJKLMNOPQRSTUVWXYZ/" }, http.StatusForbidden},
		{"by a name of another site", func(r *http.Request) { r.Host = "evil.example.com" }, http.StatusMisdirectedRequest},
		{"from another site", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example.com") }, http.StatusForbidden},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		test.change(request)
		response, err := new(http.Client).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != test.status {
			t.Errorf("%s: %s", test.name, response.Status)
		}
		if got := response.Header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%s: CORS: %s", test.name, got)
		}
		if got := response.Header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || !strings.Contains(got, "connect-src 'self'") {
			t.Errorf("%s: policy: %s", test.name, got)
		}
	}
}
