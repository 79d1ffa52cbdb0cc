package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// progressPause is the minimum time between two updates of the line on a terminal.
	progressPause = 100 * time.Millisecond
	// linePause is the time between two lines where no terminal can overwrite one.
	linePause = 10 * time.Second
	barWidth  = 30
)

// A progress says how much is done: on a terminal a line that is overwritten in place, with a bar
// if the total is known, elsewhere a line now and then.
type progress struct {
	out   io.Writer
	width int // columns of the terminal; 0 if there is none
	name  string
	begin time.Time
	last  time.Time
	shown bool // on a terminal
}

func newProgress(out io.Writer, name string) *progress {
	p := &progress{out: out, name: name, begin: time.Now()}
	if isTerminal(out) {
		p.width = widthOf(out)
	} else {
		p.last = p.begin
	}
	return p
}

// show says that so many are done, such as objects. A total of 0 is unknown. More is what else
// there is to say.
func (p *progress) show(done, total uint64, noun string, more ...string) {
	now := time.Now()
	pause := linePause
	if p.width > 0 {
		pause = progressPause
	}
	if now.Sub(p.last) < pause {
		return
	}
	p.last = now
	text, bar := count(done, noun), ""
	if total > 0 {
		done = min(done, total)
		text = fmt.Sprintf("%d of %s", done, count(total, noun))
		full := int(barWidth * done / total) //nolint:gosec // at most barWidth
		bar = "[" + strings.Repeat("#", full) + strings.Repeat(" ", barWidth-full) + "] "
	}
	more = append(more, now.Sub(p.begin).Round(time.Second).String())
	text += ", " + strings.Join(more, ", ")
	if p.width == 0 {
		fmt.Fprintf(p.out, "webhookd: %s: %s\n", p.name, text)
		return
	}
	p.shown = true
	fmt.Fprintf(p.out, "\r%s\x1b[K", cut(p.name+": "+bar+text, p.width-1))
}

// listed is show for the objects of a list. Left is how many are not done, or negative if unknown.
func (p *progress) listed(done int, left int64) {
	total := uint64(0)
	if left >= 0 {
		total = uint64(done) + uint64(left) //nolint:gosec // counts
	}
	p.show(uint64(done), total, "object", p.rate(uint64(done))) //nolint:gosec // counts
}

// step is show for one of a few steps, each of which may take long.
func (p *progress) step(done, total int, noun, name string) {
	if p.width > 0 {
		p.last = time.Time{}
	}
	p.show(uint64(done), uint64(total), noun, name) //nolint:gosec // counts
}

// rate returns how many objects were done in a second.
func (p *progress) rate(done uint64) string {
	return fmt.Sprintf("%.0f/s", float64(done)/max(time.Since(p.begin).Seconds(), 0.001))
}

// clear removes the line, so that the result replaces it.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// cut shortens a line that is wider than a terminal, which could not overwrite it.
func cut(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width || width < 1 {
		return line
	}
	return string(runes[:width-1]) + "…"
}
