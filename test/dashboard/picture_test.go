package dashboard_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "rewrite the image of the documentation")

const (
	pageWidth = 1280
	// maxPicture is how large the image may be, in bytes.
	maxPicture = 300 << 10
)

// picture writes an image of a page to the documentation. It needs Chromium.
func picture(t *testing.T, page []byte, name string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page) // the browser notices
	}))
	t.Cleanup(server.Close)
	small := fewColors(t, screenshot(t, server.URL))
	if len(small) > maxPicture {
		t.Errorf("the image has %d bytes, more than %d", len(small), maxPicture)
	}
	if err := os.WriteFile(filepath.Join(root(), "docs", "images", name), small, 0o644); err != nil {
		t.Fatal(err)
	}
}

// screenshot returns the whole page as PNG. Nothing on it may be wider than its panel.
func screenshot(t *testing.T, url string) []byte {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Fatal("no Chromium: apt-get install chromium")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	allocator, end := chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(program), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true))
	defer end()
	browser, endBrowser := chromedp.NewContext(allocator)
	defer endBrowser()
	var shot []byte
	var cut []string
	const best = 100 // of the quality: PNG
	if err := chromedp.Run(browser, chromedp.EmulateViewport(pageWidth, 800), chromedp.Navigate(url),
		chromedp.Evaluate(`[...document.querySelectorAll("section, li, td")].filter((e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight).map((e) => e.innerText)`, &cut),
		chromedp.FullScreenshot(&shot, best)); err != nil {
		t.Fatal(err)
	}
	if len(cut) > 0 {
		t.Errorf("cut off on the page: %q", cut)
	}
	if err := chromedp.Cancel(browser); err != nil {
		t.Error(err)
	}
	return shot
}

// fewColors returns an image with at most 256 colors, which takes a third of the bytes.
func fewColors(t *testing.T, text []byte) []byte {
	t.Helper()
	from, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	size := from.Bounds()
	count := map[color.Color]int{}
	for y := range size.Dy() {
		for x := range size.Dx() {
			count[from.At(x, y)]++
		}
	}
	to := image.NewPaletted(size, palette(count))
	nearest := make(map[color.Color]uint8, len(count))
	for c := range count {
		nearest[c] = uint8(to.Palette.Index(c))
	}
	for y := range size.Dy() {
		for x := range size.Dx() {
			to.SetColorIndex(x, y, nearest[from.At(x, y)])
		}
	}
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&small, to); err != nil {
		t.Fatal(err)
	}
	return small.Bytes()
}

// palette returns the most frequent colors that differ enough from each other.
func palette(count map[color.Color]int) color.Palette {
	const most, enough = 256, 6 << 8 // of 256 << 8
	differ := func(a, b color.Color) bool {
		r, g, b1, _ := a.RGBA()
		s, h, c, _ := b.RGBA()
		apart := func(x, y uint32) bool { return max(x, y)-min(x, y) > enough }
		return apart(r, s) || apart(g, h) || apart(b1, c)
	}
	var chosen color.Palette
	for _, c := range slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) }) {
		if len(chosen) < most && !slices.ContainsFunc(chosen, func(other color.Color) bool { return !differ(c, other) }) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}
