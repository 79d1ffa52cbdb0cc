package playground

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "rewrite the image of the documentation")

// shoot checks the look of the page at several sizes, and with -update writes the image that the
// documentation has.
func shoot(t *testing.T, browser *chromium, address string) {
	t.Helper()
	for _, shot := range []struct {
		width, height int64
		scheme, image string
	}{
		{1440, 900, "light", "playground-light.png"},
		{1280, 900, "dark", ""},
		{390, 900, "light", ""},
	} {
		p := open(t, browser, address, shot.width, shot.height)
		p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: shot.scheme}}))
		p.choose("object", "git.v1")
		p.press("#right-tabs button")
		p.settled(`document.querySelectorAll("#fields tbody tr").length > 3`)
		if wide := get[int](p, `document.documentElement.scrollWidth`); wide > int(shot.width) {
			t.Errorf("at %d pixels the page is %d wide and scrolls sideways", shot.width, wide)
		}
		if !get[bool](p, `{ const top = (id) => document.getElementById(id).getBoundingClientRect().top; top("rules-pane") <= top("panes"); }`) {
			t.Errorf("at %d pixels rules are below their result", shot.width)
		}
		if *update && shot.image != "" {
			var image []byte
			p.run(chromedp.CaptureScreenshot(&image))
			if err := os.WriteFile(filepath.Join("..", "..", "docs", "images", shot.image), image, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
