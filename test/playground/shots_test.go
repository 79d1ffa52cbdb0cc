package playground

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "rewrite the images of the documentation")

// shoot checks the look of the page at several sizes, and with -update writes the images of the
// documentation.
func shoot(t *testing.T, browser *chromium, address string) {
	t.Helper()
	for _, shot := range []struct {
		name          string
		width, height int64
		scheme        string
	}{
		{"playground-light", 1440, 900, "light"},
		{"playground-dark", 1440, 900, "dark"},
		{"playground-narrow", 390, 900, "light"},
	} {
		p := open(t, browser, address, shot.width, shot.height)
		p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: shot.scheme}}))
		p.choose("object", "git.v1")
		p.press("#right-tabs button")
		p.settled(`document.querySelectorAll("#fields tbody tr").length > 3`)
		if wide := get[int](p, `document.documentElement.scrollWidth`); wide > int(shot.width) {
			t.Errorf("%s: the page is %d wide and scrolls sideways", shot.name, wide)
		}
		if !get[bool](p, `{ const top = (id) => document.getElementById(id).getBoundingClientRect().top; top("rules-pane") <= top("panes"); }`) {
			t.Errorf("%s: rules are below their result", shot.name)
		}
		var image []byte
		p.run(chromedp.CaptureScreenshot(&image))
		if decoded, err := png.Decode(bytes.NewReader(image)); err != nil || decoded.Bounds().Dx() != int(shot.width) {
			t.Errorf("%s: not an image of the page: %v", shot.name, err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join("..", "..", "docs", "images", shot.name+".png"), image, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
