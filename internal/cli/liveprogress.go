package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// linePause is the time between two lines where no terminal can overwrite one.
	linePause = 10 * time.Second
	barWidth  = 30
)

// A liveProgress says how many objects, or other units, are done: on a terminal a bar that is
// overwritten in place, elsewhere a line now and then.
type liveProgress struct {
	out      io.Writer
	terminal bool
	name     string
	unit     string
	begin    time.Time
	last     time.Time
	shown    bool // on a terminal
}

func newLiveProgress(out io.Writer, name string) *liveProgress {
	now := time.Now()
	return &liveProgress{out: out, terminal: isTerminal(out), name: name, unit: "objects", begin: now, last: now}
}

// show says that so many objects are done. Left is how many are not, or negative if unknown.
func (p *liveProgress) show(done int, left int64) {
	now := time.Now()
	pause := linePause
	if p.terminal {
		pause = progressPause
	}
	if now.Sub(p.last) < pause {
		return
	}
	p.last = now
	text := fmt.Sprintf("%d %s", done, p.unit)
	bar := ""
	if total := int64(done) + left; left >= 0 && total > 0 {
		text = fmt.Sprintf("%d of %d %s", done, total, p.unit)
		full := int(int64(barWidth) * int64(done) / total)
		bar = "[" + strings.Repeat("#", full) + strings.Repeat(" ", barWidth-full) + "] "
	}
	text += fmt.Sprintf(", %.0f/s", float64(done)/now.Sub(p.begin).Seconds())
	if !p.terminal {
		fmt.Fprintf(p.out, "webhookd: %s: %s\n", p.name, text)
		return
	}
	p.shown = true
	fmt.Fprintf(p.out, "\r%s: %s%s\x1b[K", p.name, bar, text)
}

// clear removes the bar, so that the result replaces it.
func (p *liveProgress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}
